#include <limits>
#include <vector>

#include "estimator/kernels/testing/tiers.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

constexpr Tolerance kExact{};
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

void ExpectBothMatch(const Array& x, int32_t axis) {
  std::vector<int64_t> dims = x.shape().dims();
  dims.erase(dims.begin() + (axis < 0 ? axis + x.shape().rank() : axis));
  for (const char* op : {"ArgMax", "ArgMin"}) {
    for (const DType dtype : {DType::kInt64, DType::kInt32}) {
      EXPECT_MATCHES_REFERENCE({.op = op, .outputs = {{dtype, Shape(dims)}}},
                               {x, Array::Scalar(axis)}, KernelTier::kFused, kExact)
          << x.TypeString() << " along " << axis;
    }
  }
}

TEST(FusedSearch, MatchesTheReferenceAlongEveryAxis) {
  for (const Shape& shape : {Shape{7, 19, 5}, Shape{300, 10, 10}, Shape{3, 1, 40}})
    for (const int32_t axis : {0, 1, 2, -1}) ExpectBothMatch(RandomArray(shape, 1), axis);
  ExpectBothMatch(RandomArray({128, 1001}, 2), 1);
  ExpectBothMatch(RandomArray({5}, 3), 0);
}

TEST(FusedSearch, TheFirstOfEqualElementsIsTaken) {
  ExpectBothMatch(RandomArray({40, 333}, 1, 0, 5).Cast(DType::kInt32).Cast(DType::kFloat32), 1);
  ExpectBothMatch(Array::Of<float>({3}, {-0.0f, 0.0f, -0.0f}), 0);
}

TEST(FusedSearch, NaNIsSkippedAndInfinityIsNot) {
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
