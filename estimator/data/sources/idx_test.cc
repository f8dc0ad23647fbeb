#include "estimator/data/sources/idx.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "estimator/array/compare.h"
#include "estimator/base/fault_injection.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/records/compression.h"

namespace estimator {
namespace {

using ::testing::HasSubstr;

Array Images() {
  Array images(DType::kUint8, {3, 2, 2});
  for (int i = 0; i < 12; ++i) images.data<uint8_t>()[i] = static_cast<uint8_t>(20 * i);
  return images;
}

TEST(Idx, ReadsTheBytesOfTheFormat) {
  const TempDir dir;
  const std::string path = dir.File("labels");
  const std::string bytes("\0\0\x0b\x01\0\0\0\x02\x01\x02\xff\xff", 12);
  EST_ASSERT_OK(WriteFileAtomically(path, bytes));
  EXPECT_EQ(Compare(ReadIdx(path).value(), Array::Of<int16_t>({2}, {0x0102, -1})).report, "");
}

TEST(Idx, ReadsWhatItWrites) {
  const TempDir dir;
  const std::string path = dir.File("x");
  for (const Array& array : {Images(), Array::Of<float>({2, 1}, {1.5f, -2.0f}),
                             Array::Of<double>({1}, {0.1}), Array::Of<int32_t>({2}, {1, -70000})}) {
    EST_ASSERT_OK(WriteIdx(path, array));
    EXPECT_TRUE(SameBits(ReadIdx(path).value(), array)) << array.TypeString();
  }
  EXPECT_THAT(WriteIdx(path, Array(DType::kInt64, {1})), ErrorHas("IDX cannot hold i64 [1]"));
}

// A fixed bug: all of a small file of gigabytes of zeros was decompressed before it was refused.
TEST(Idx, ACompressedFileIsReadOnlyAsFarAsItsHeaderSays) {
  std::string bytes("\0\0\x08\x01\0\0\0\2ab", 10);
  bytes.resize(size_t{64} << 20);
  const std::string packed = Compress(bytes, Compression::kGzip).value();
  const absl::Status error = ParseIdx(packed, "f.gz").status();
  EXPECT_THAT(error, ErrorHas("f.gz: too long: its header says u8 [2]: expected 2 bytes of data"));
  // Decompress stops within the piece that reaches the limit.
  EXPECT_LT(Decompress(packed, Compression::kGzip, "f", 11).value().size(), size_t{4} << 20);
  const std::string huge("\0\0\x08\x02\xff\xff\xff\xff\xff\xff\xff\xff", 12);
  EXPECT_THAT(ParseIdx(Compress(huge, Compression::kGzip).value(), "f.gz"),
              ErrorHas("compressed bytes cannot hold"));
}

TEST(Idx, ReadsGzip) {
  const TempDir dir;
  const std::string path = dir.File("images");
  EST_ASSERT_OK(WriteIdx(path, Images()));
  const std::string plain = ReadFile(path).value();
  const std::string packed = Compress(plain, Compression::kGzip).value();
  EST_ASSERT_OK(WriteFileAtomically(path, packed));
  EXPECT_TRUE(SameBits(ReadIdx(path).value(), Images()));
  for (const size_t cut : {size_t{2}, size_t{11}, packed.size() - 1}) {
    EST_ASSERT_OK(WriteFileAtomically(path, packed.substr(0, cut)));
    const absl::Status status = ReadIdx(path).status();
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kDataLoss, HasSubstr(path)));
    EXPECT_THAT(status, ErrorHas("truncated"));
  }
}

TEST(Idx, ReadsAFileThatIsLargerThanItsLargestHeader) {
  const TempDir dir;
  const std::string path = dir.File("large");
  Array large(DType::kInt32, {1000, 3});
  for (int i = 0; i < 3000; ++i) large.data<int32_t>()[i] = 70000 * i;
  EST_ASSERT_OK(WriteIdx(path, large));
  EXPECT_TRUE(SameBits(ReadIdx(path).value(), large));
}

TEST(Idx, AFileThatIsCutWhileItIsReadIsTruncated) {
  const TempDir dir;
  const std::string path = dir.File("cut");
  EST_ASSERT_OK(WriteIdx(path, Array(DType::kUint8, {5000})));
  const ScopedFaultInjector cut([](FileOperation operation, absl::string_view) {
    return operation == FileOperation::kRead ? Fault{.truncate_after_bytes = 2000} : Fault{};
  });
  EXPECT_THAT(
      ReadIdx(path).status(),
      ErrorIs(path + ": truncated while it was read: expected 5000 bytes of data, found 2000"));
}

TEST(Idx, IsADatasetOfRows) {
  const TempDir dir;
  const std::string path = dir.File("images");
  EST_ASSERT_OK(WriteIdx(path, Images()));
  const Dataset dataset = IdxDataset(path);
  EXPECT_EQ(dataset.Cardinality(), 3);
  EXPECT_EQ(dataset.Describe(), "Idx");
  const auto iterator = dataset.Skip(1).MakeIterator().value();
  EXPECT_EQ(Compare((*iterator->Next())->features.Only().value(), Images().Row(1)).report, "");
}

TEST(Idx, ErrorsNameTheFileAndBothSizes) {
  const TempDir dir;
  const std::string path = dir.File("bad");
  const auto error_of = [&](const std::string& bytes) {
    EST_EXPECT_OK(WriteFileAtomically(path, bytes));
    const absl::Status status = IdxDataset(path).Batch(2).MakeIterator().status();
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kDataLoss));
    return status;
  };
  const std::string header("\0\0\x08\x02\0\0\0\x02\0\0\0\x03", 12);
  EXPECT_THAT(
      error_of(header + "12345"),
      ErrorIs(path + ": truncated: its header says u8 [2,3]: expected 6 bytes of data, found 5"));
  EXPECT_THAT(
      error_of(header + "1234567"),
      ErrorIs(path + ": too long: its header says u8 [2,3]: expected 6 bytes of data, found 7"));
  EXPECT_THAT(error_of(header.substr(0, 7)),
              ErrorIs(path + ": truncated: expected 12 bytes of header (rank 2), found 7"));
  EXPECT_THAT(error_of(""), ErrorIs(path + ": expected the 4 bytes of an IDX magic, found 0"));
  EXPECT_THAT(
      error_of("PNG!"),
      ErrorIs(path +
              ": not an IDX file: expected the magic 00 00 <type> <rank>, found 50 4e 47 21"));
  EXPECT_THAT(error_of(std::string("\0\0\x0a\x01", 4)), ErrorHas("type 0x0a"));
  const std::string huge("\0\0\x0e\x03\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 16);
  EXPECT_THAT(error_of(huge), ErrorHas("truncated"));
  // Empty, but the product of the sizes before the 0 overflows.
  const std::string huge_but_empty(
      "\0\0\x08\x04\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\0\0\0\0", 20);
  EXPECT_THAT(
      error_of(huge_but_empty),
      ErrorIs(path +
              ": its header says u8 [4294967295,4294967295,4294967295,0], which is too large"));
}

TEST(Idx, MissingFileIsNotFound) {
  const TempDir dir;
  const absl::Status status = IdxDataset(dir.File("none")).MakeIterator().status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kNotFound, HasSubstr(dir.File("none"))));
}

}  // namespace
}  // namespace estimator
