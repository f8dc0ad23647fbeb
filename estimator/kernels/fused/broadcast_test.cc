#include "estimator/kernels/fused/broadcast.h"

#include <vector>

#include "estimator/kernels/testing/tiers.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

// One rounding more or less where the compiler contracts a product and a sum.
constexpr Tolerance kArithmetic{.relative = 3e-7, .absolute = 1e-7};

struct Shapes {
  Shape x, y, out;
};

const std::vector<Shapes>& AllShapes() {
  static const auto* const shapes = new std::vector<Shapes>{
      {{37, 129}, {129}, {37, 129}},  // a bias for each row
      {{129}, {37, 129}, {37, 129}},
      {{37, 129}, {37, 1}, {37, 129}},          // a factor for each row
      {{37, 1}, {129}, {37, 129}},              // both
      {{3, 5, 2500}, {5, 2500}, {3, 5, 2500}},  // rows of several tiles
      {{3, 1, 2500}, {5, 1}, {3, 5, 2500}},
      {{4, 3, 17, 19}, {4, 1, 1, 19}, {4, 3, 17, 19}},  // a mask for each example
      {{4, 3, 17, 19}, {4, 1, 17, 1}, {4, 3, 17, 19}},
      {{2, 1, 3, 1, 5}, {4, 1, 6, 1}, {2, 4, 3, 6, 5}},
      {{7, 1}, {1, 1}, {7, 1}},
  };
  return *shapes;
}

TEST(Broadcast, MatchesTheReferenceForEveryShape) {
  for (const Shapes& s : AllShapes()) {
    const std::vector<Array> inputs = {RandomArray(s.x, 1, 0.5f, 2), RandomArray(s.y, 2, 0.5f, 2)};
    for (const char* op :
         {"AddV2", "Sub", "Mul", "RealDiv", "Maximum", "Minimum", "Pow", "SquaredDifference"}) {
      EXPECT_MATCHES_REFERENCE({.op = op, .outputs = {{DType::kFloat32, s.out}}}, inputs,
                               KernelTier::kFused, kArithmetic)
          << s.x.ToString() << s.y.ToString();
    }
  }
}

TEST(Broadcast, AnOutputMayOverwriteOnlyAnInputOfItsShape) {
  const auto alias = [](const Shape& x, const Shape& y) {
    const KernelSpec spec = CompleteSpec({.op = "Sub", .outputs = {{DType::kFloat32, {4, 3}}}},
                                         {RandomArray(x, 1), RandomArray(y, 2)});
    return (*CreateKernel(spec, KernelTier::kFused))->AliasInput(0);
  };
  EXPECT_EQ(alias({4, 3}, {3}), 0);
  EXPECT_EQ(alias({3}, {4, 3}), 1);
  EXPECT_EQ(alias({4, 1}, {3}), -1);
}

}  // namespace
}  // namespace estimator
