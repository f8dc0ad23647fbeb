#include "tools/checkpoint/tensor_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "estimator/array/array.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/checkpoint/bundle_writer.h"

namespace estimator {
namespace {

std::vector<float> ReadAll(TensorStream& stream, size_t piece) {
  std::vector<float> values(static_cast<size_t>(stream.size()) / sizeof(float));
  char* const bytes = reinterpret_cast<char*>(values.data());
  const auto size = static_cast<size_t>(stream.size());
  for (size_t done = 0; done < size; done += piece) {
    EST_EXPECT_OK(stream.Read(std::min(piece, size - done), bytes + done));
  }
  return values;
}

TEST(TensorStream, GathersSlicesInRowMajorOrderInPiecesOfAnySize) {
  const TempDir dir;
  {
    const auto writer = BundleWriter::Open(dir.File("m")).value();
    EST_ASSERT_OK(
        writer->AddSlice("v", {2, 4}, {{0, 1}, {}}, Array::Of<float>({1, 4}, {0, 1, 2, 3})));
    EST_ASSERT_OK(
        writer->AddSlice("v", {2, 4}, {{1, 1}, {1, 3}}, Array::Of<float>({1, 3}, {5, 6, 7})));
    EST_ASSERT_OK(writer->AddSlice("v", {2, 4}, {{1, 1}, {0, 1}}, Array::Of<float>({1, 1}, {4})));
    EST_ASSERT_OK(writer->Add("w", Array::Of<float>({2, 4}, {0, 1, 2, 3, 4, 5, 6, 7})));
    EST_ASSERT_OK(writer->Finish());
  }
  const auto reader = BundleReader::Open(dir.File("m")).value();
  for (const char* const name : {"v", "w"}) {
    for (const size_t piece : {4u, 12u, 20u, 100u}) {
      TensorStream stream = TensorStream::Open(*reader, name).value();
      EXPECT_EQ(ReadAll(stream, piece), (std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7})) << piece;
    }
  }
}

TEST(TensorStream, DamageIsFoundBeforeASliceIsUsedAndAtTheEndOfAWholeVariable) {
  const TempDir dir;
  {
    const auto writer = BundleWriter::Open(dir.File("m")).value();
    EST_ASSERT_OK(writer->AddSlice("v", {1, 2}, {{}, {0, 1}}, Array::Of<float>({1, 1}, {0})));
    EST_ASSERT_OK(writer->AddSlice("v", {1, 2}, {{}, {1, 1}}, Array::Of<float>({1, 1}, {1})));
    EST_ASSERT_OK(writer->Add("w", Array::Of<float>({2}, {2, 3})));
    EST_ASSERT_OK(writer->Add("s", Array::String("text")));
    EST_ASSERT_OK(writer->Finish());
  }
  const std::string path = dir.File("m.data-00000-of-00001");
  std::string bytes = ReadFile(path).value();
  bytes[5] = 'x';  // of the second slice of v
  bytes[9] = 'x';  // of w
  EST_ASSERT_OK(WriteFileAtomically(path, bytes));
  const auto reader = BundleReader::Open(dir.File("m")).value();
  EXPECT_THAT(TensorStream::Open(*reader, "v"), StatusIs(absl::StatusCode::kDataLoss));
  TensorStream stream = TensorStream::Open(*reader, "w").value();
  char value[4];
  EST_EXPECT_OK(stream.Read(4, value));
  EXPECT_THAT(stream.Read(4, value), StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(TensorStream::Open(*reader, "s"), StatusIs(absl::StatusCode::kUnimplemented));
}

}  // namespace
}  // namespace estimator
