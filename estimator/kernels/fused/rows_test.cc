#include <cstdint>
#include <vector>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/kernels/testing/tiers.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

// i32 numbers in [low, high) that look random.
Array Ids(const Shape& shape, int32_t low, int32_t high) {
  Array ids(DType::kInt32, shape);
  const Array numbers = RandomArray(shape, 7, 0, 1);
  for (int64_t i = 0; i < ids.num_elements(); ++i) {
    ids.data<int32_t>()[i] =
        low + static_cast<int32_t>(numbers.data<float>()[i] * static_cast<float>(high - low));
  }
  return ids;
}

TensorSpec F32(const Shape& shape) { return {DType::kFloat32, shape}; }

TEST(Rows, SegmentSumHasTheReferencesBits) {
  for (const int64_t width : {1, 17, 256}) {
    // Negative ids are dropped.
    EXPECT_MATCHES_REFERENCE(
        {.op = "UnsortedSegmentSum", .outputs = {F32({90, width})}},
        {RandomArray({1000, width}, 1), Ids({1000}, -9, 90), Array::Scalar<int32_t>(90)},
        KernelTier::kFused, {});
  }
}

TEST(Rows, EachRowBecomesTheSumOfThoseWithItsId) {
  const auto sums =
      RunReferenceKernel({.op = "_SumEqualRows", .name = "sums", .outputs = {F32({4, 2})}},
                         {Array::Of<float>({4, 2}, {1, 2, 10, 20, 100, 200, 1000, 2000}),
                          Array::Of<int32_t>({4}, {3, 1, 3, 3}), Array::Scalar<int32_t>(5),
                          Array::Scalar<int32_t>(0)});
  EST_ASSERT_OK(sums);
  EXPECT_TRUE(
      SameBits((*sums)[0], Array::Of<float>({4, 2}, {1101, 2202, 10, 20, 1101, 2202, 1101, 2202})));
}

TEST(Rows, AddNHasTheReferencesBits) {
  for (const Shape& shape : {Shape{}, Shape{7}, Shape{300, 100}, Shape{0}}) {
    for (const uint64_t count : {1, 2, 5, 8}) {
      std::vector<Array> inputs;
      for (uint64_t i = 0; i < count; ++i) inputs.push_back(RandomArray(shape, i));
      EXPECT_MATCHES_REFERENCE({.op = "AddN", .outputs = {F32(shape)}}, inputs, KernelTier::kFused,
                               {});
    }
  }
}

TEST(Rows, IndicesOutOfRangeAreTheReferencesErrors) {
  const auto check = [](const KernelSpec& incomplete, const std::vector<Array>& inputs) {
    const KernelSpec spec = CompleteSpec(incomplete, inputs);
    const auto fused = RunKernel(spec, inputs, KernelTier::kFused);
    const auto reference = RunReferenceKernel(spec, inputs);
    EXPECT_FALSE(reference.ok());
    EXPECT_EQ(fused.status(), reference.status());
  };
  check({.op = "GatherV2", .outputs = {F32({2, 4})}},
        {RandomArray({5, 4}, 1), Array::Of<int32_t>({2}, {4, 5}), Array::Scalar<int32_t>(0)});
  check({.op = "GatherV2", .outputs = {F32({2, 4})}},
        {RandomArray({5, 4}, 1), Array::Of<int32_t>({2}, {4, -1}), Array::Scalar<int32_t>(0)});
  check({.op = "UnsortedSegmentSum", .outputs = {F32({3, 4})}},
        {RandomArray({2, 4}, 1), Array::Of<int32_t>({2}, {0, 3}), Array::Scalar<int32_t>(3)});
}

}  // namespace
}  // namespace estimator
