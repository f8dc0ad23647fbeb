#include "estimator/records/byte_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"

namespace estimator {
namespace {

using ::testing::HasSubstr;

class ByteStreamTest : public testing::TestWithParam<Compression> {
 protected:
  ByteStreamTest() : path_(dir_.File("bytes")) {
    for (int i = 0; i < 700000; ++i) text_.push_back(static_cast<char>(i * 7 % 251));
    EST_EXPECT_OK(WriteFileAtomically(path_, Compress(text_, GetParam(), 1).value()));
  }
  std::string Read(ByteStream& stream, size_t n) {
    std::string out(n, '\0');
    out.resize(stream.Read(n, out.data()).value());
    return out;
  }
  TempDir dir_;
  std::string path_, text_;
};

TEST_P(ByteStreamTest, ReadsInPiecesOfAnySize) {
  const auto stream = ByteStream::Open(path_, GetParam()).value();
  std::string all;
  for (const size_t n : {1u, 100u, 300000u, 5u, 262144u, 400000u, 9u}) all += Read(*stream, n);
  EXPECT_TRUE(all == text_);
  EXPECT_EQ(stream->offset(), static_cast<int64_t>(text_.size()));
}

TEST_P(ByteStreamTest, AppendsInPiecesOfAnySize) {
  const auto stream = ByteStream::Open(path_, GetParam()).value();
  std::string all = "before";
  for (const size_t n : {1u, 100u, 300000u, 5u, 262144u, 0u}) {
    EXPECT_EQ(stream->Append(n, &all).value(), n);
  }
  EXPECT_TRUE(Read(*stream, 9) == text_.substr(all.size() - 6, 9));
  EST_ASSERT_OK(stream->Seek(static_cast<int64_t>(all.size() - 6)));
  EXPECT_EQ(stream->Append(400000, &all).value(), text_.size() - 562250);
  EXPECT_TRUE(all == "before" + text_);
  EXPECT_EQ(stream->Append(1, &all).value(), 0u);
}

TEST_P(ByteStreamTest, SeeksForwardsAndBack) {
  const auto stream = ByteStream::Open(path_, GetParam()).value();
  for (const size_t offset : {600000u, 10u, 11u, 300000u, 0u, 700000u}) {
    EST_ASSERT_OK(stream->Seek(static_cast<int64_t>(offset)));
    EXPECT_EQ(Read(*stream, 20), text_.substr(offset, 20));
  }
  EXPECT_THAT(stream->Seek(700001), StatusIs(absl::StatusCode::kOutOfRange));
}

INSTANTIATE_TEST_SUITE_P(EveryCompression, ByteStreamTest,
                         testing::Values(Compression::kNone, Compression::kGzip,
                                         Compression::kZlib));

TEST(ByteStream, TruncatedGzipIsDataLoss) {
  const TempDir dir;
  const std::string packed = Compress(std::string(1000, 'x'), Compression::kGzip).value();
  EST_ASSERT_OK(WriteFileAtomically(dir.File("f"), packed.substr(0, packed.size() - 3)));
  const auto stream = ByteStream::Open(dir.File("f"), Compression::kGzip).value();
  std::string out(2000, '\0');
  const absl::Status status = stream->Read(2000, out.data()).status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kDataLoss, HasSubstr(dir.File("f"))));
}

}  // namespace
}  // namespace estimator
