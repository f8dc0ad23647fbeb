#include <cmath>
#include <limits>
#include <vector>

#include "estimator/kernels/testing/tiers.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

constexpr Tolerance kExact{};

// Numbers of which many are equal.
Array Small(const Shape& shape, uint64_t seed, DType dtype) {
  return RandomArray(shape, seed, 0, 4).Cast(DType::kInt32).Cast(dtype);
}

struct Shapes {
  Shape x, y, out;
};

TEST(FusedComparison, MatchesTheReferenceForEveryShapeAndType) {
  for (const Shapes& s :
       {Shapes{{300, 129}, {300, 129}, {300, 129}}, Shapes{{37, 129}, {}, {37, 129}},
        Shapes{{37, 1}, {1, 129}, {37, 129}}, Shapes{{37, 129}, {129}, {37, 129}},
        Shapes{{5, 1, 7, 1}, {6, 1, 9}, {5, 6, 7, 9}}, Shapes{{0, 3}, {3}, {0, 3}},
        Shapes{{}, {}, {}}}) {
    for (const DType dtype : {DType::kFloat32, DType::kInt32, DType::kInt64, DType::kUint8,
                              DType::kBool, DType::kBfloat16}) {
      const Array x = Small(s.x, 1, dtype), y = Small(s.y, 2, dtype);
      for (const char* op : {"Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual"}) {
        EXPECT_MATCHES_REFERENCE({.op = op, .outputs = {{DType::kBool, s.out}}}, {x, y},
                                 KernelTier::kFused, kExact)
            << s.x << " " << s.y << " " << DTypeShortName(dtype);
      }
    }
  }
}

TEST(FusedComparison, NothingIsEqualToOrLessThanNaN) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Array x = Array::Of<float>({4}, {nan, nan, 1, -0.0f}),
              y = Array::Of<float>({4}, {nan, 1, nan, 0.0f});
  for (const char* op : {"Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual"}) {
    EXPECT_MATCHES_REFERENCE({.op = op, .outputs = {{DType::kBool, {4}}}}, {x, y},
                             KernelTier::kFused, kExact);
  }
}

TEST(FusedComparison, LogicMatchesTheReference) {
  const Array x = Small({90, 101}, 1, DType::kBool), row = Small({101}, 2, DType::kBool);
  for (const char* op : {"LogicalAnd", "LogicalOr"}) {
    EXPECT_MATCHES_REFERENCE({.op = op, .outputs = {{DType::kBool, {90, 101}}}}, {x, row},
                             KernelTier::kFused, kExact);
  }
  EXPECT_MATCHES_REFERENCE({.op = "LogicalNot", .outputs = {{DType::kBool, {90, 101}}}}, {x},
                           KernelTier::kFused, kExact);
}

}  // namespace
}  // namespace estimator
