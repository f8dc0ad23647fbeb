#include <limits>
#include <vector>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/kernels/testing/tiers.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

// Expects the first best element along the axis, by a plain loop that skips what is not better than
// the lowest (or the largest) number.
void ExpectBothMatch(const Array& x, int32_t axis) {
  const size_t at = static_cast<size_t>(axis < 0 ? axis + x.shape().rank() : axis);
  std::vector<int64_t> dims = x.shape().dims();
  const int64_t size = dims[at], stride = x.shape().strides()[at];
  dims.erase(dims.begin() + static_cast<int64_t>(at));
  for (const bool largest : {true, false}) {
    for (const DType dtype : {DType::kInt64, DType::kInt32}) {
      const Array axes = Array::Scalar(axis);
      const auto found = RunKernel(
          CompleteSpec({.op = largest ? "ArgMax" : "ArgMin", .outputs = {{dtype, Shape(dims)}}},
                       {x, axes}),
          {x, axes}, KernelTier::kFused);
      EST_ASSERT_OK(found);
      for (int64_t i = 0; i < (*found)[0].num_elements(); ++i) {
        const int64_t first = i / stride * stride * size + i % stride;
        int64_t best = 0;
        float best_value =
            largest ? std::numeric_limits<float>::lowest() : std::numeric_limits<float>::max();
        for (int64_t k = 0; k < size; ++k) {
          const float value = x.data<float>()[first + k * stride];
          if (!(largest ? value > best_value : value < best_value)) continue;
          best = k;
          best_value = value;
        }
        EXPECT_EQ((*found)[0].AsDouble(i), static_cast<double>(best))
            << x.TypeString() << " along " << axis << ", element " << i;
      }
    }
  }
}

TEST(Search, AlongEveryAxis) {
  for (const Shape& shape : {Shape{7, 19, 5}, Shape{300, 10, 10}, Shape{3, 1, 40}})
    for (const int32_t axis : {0, 1, 2, -1}) ExpectBothMatch(RandomArray(shape, 1), axis);
  ExpectBothMatch(RandomArray({128, 1001}, 2), 1);
  ExpectBothMatch(RandomArray({5}, 3), 0);
}

TEST(Search, TheFirstOfEqualElementsIsTaken) {
  ExpectBothMatch(RandomArray({40, 333}, 1, 0, 5).Cast(DType::kInt32).Cast(DType::kFloat32), 1);
  ExpectBothMatch(Array::Of<float>({3}, {-0.0f, 0.0f, -0.0f}), 0);
}

TEST(Search, NaNIsSkippedAndInfinityIsNot) {
  ExpectBothMatch(Array::Of<float>({3, 4}, {kNaN, 1, 2, kNaN,        //
                                            kNaN, kNaN, kNaN, kNaN,  //
                                            -kInf, kInf, kNaN, kInf}),
                  1);
  Array row = RandomArray({50}, 1);
  row.data<float>()[3] = kNaN;
  row.data<float>()[45] = kInf;
  row.data<float>()[48] = -kInf;
  ExpectBothMatch(row, 0);
}

}  // namespace
}  // namespace estimator
