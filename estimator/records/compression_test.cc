#include "estimator/records/compression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "estimator/base/testing/status_matchers.h"

namespace estimator {
namespace {

using ::testing::HasSubstr;

std::string Text() {
  std::string text;
  for (int i = 0; i < 300000; ++i) text.push_back(static_cast<char>('a' + int64_t{i} * i % 23));
  return text;
}

TEST(Compression, ComesBackAsItWas) {
  for (const Compression kind : {Compression::kNone, Compression::kGzip, Compression::kZlib}) {
    for (const std::string& text : {std::string(), std::string("x"), Text()}) {
      const std::string packed = Compress(text, kind, 1).value();
      EXPECT_EQ(Decompress(packed, kind, "f").value(), text);
      EXPECT_EQ(LooksLikeGzip(packed), kind == Compression::kGzip);
    }
  }
}

TEST(Compression, SeveralGzipMembersAreOneFile) {
  const std::string packed =
      Compress("one ", Compression::kGzip).value() + Compress("two", Compression::kGzip).value();
  EXPECT_EQ(Decompress(packed, Compression::kGzip, "f").value(), "one two");
}

TEST(Compression, TruncatedAndCorruptDataIsDataLoss) {
  const std::string packed = Compress(Text(), Compression::kGzip).value();
  const absl::Status cut =
      Decompress(packed.substr(0, packed.size() / 2), Compression::kGzip, "file.gz").status();
  EXPECT_THAT(cut,
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("file.gz: GZIP data is truncated")));
  std::string damaged = packed;
  damaged[packed.size() - 8] = static_cast<char>(damaged[packed.size() - 8] ^ 1);  // its crc
  const absl::Status corrupt = Decompress(damaged, Compression::kGzip, "file.gz").status();
  EXPECT_THAT(corrupt, ErrorHas("file.gz: GZIP data is corrupt near byte"));
  EXPECT_FALSE(Compress("x", Compression::kZlib, 10).ok());
}

}  // namespace
}  // namespace estimator
