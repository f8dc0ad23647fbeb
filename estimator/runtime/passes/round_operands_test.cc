#include "estimator/runtime/passes/round_operands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "estimator/array/compare.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/runtime/passes/fusion/fuse.h"
#include "estimator/runtime/passes/testing/pass_module.h"

namespace estimator::ir {
namespace {

constexpr DType kBf16 = DType::kBfloat16;

Attrs NoTranspose() { return {{"transpose_a", false}, {"transpose_b", false}}; }

Array Rounded(const Array& array) { return array.Cast(kBf16).Cast(DType::kFloat32); }

std::vector<Array> Values(const Module& module, const std::vector<Array>& feeds) {
  const auto values = Interpret(module, feeds);
  EST_EXPECT_OK(values);
  return values.ok() ? *values : std::vector<Array>();
}

TEST(RoundOperands, AProductIsThatOfRoundedOperandsSummedInFloat32) {
  const std::vector<Array> exact = {Numbers({3, 5}), Numbers({5, 4}, 2)};
  const std::vector<Array> rounded = {Rounded(exact[0]), Rounded(exact[1])};
  ModuleBuilder b;
  const Value x = b.Feed({3, 5}), w = b.Feed({5, 4});
  b.Fetch(b.Op("MatMul", {x, w}, {3, 4}, NoTranspose()));
  const std::vector<Array> of_exact = Values(b.module, exact);
  const std::vector<Array> expected = Values(b.module, rounded);
  RoundOperands(b.module);
  EXPECT_EQ(Count(b.module, "Cast"), 4);
  const std::vector<Array> actual = Values(b.module, exact);
  ASSERT_EQ(actual.size(), 1u);
  EXPECT_TRUE(SameBits(actual[0], expected[0]));
  EXPECT_FALSE(SameBits(actual[0], of_exact[0])) << "nothing was rounded";
  EXPECT_EQ(actual[0].dtype(), DType::kFloat32);
}

// The gradients of a layer read the values of its forward pass.
TEST(RoundOperands, AValueThatSeveralProductsReadIsRoundedOnce) {
  ModuleBuilder b;
  const Value x = b.Feed({3, 5}), w = b.Feed({5, 4}), v = b.Feed({5, 2});
  b.Fetch(b.Op("MatMul", {x, w}, {3, 4}, NoTranspose()));
  b.Fetch(b.Op("MatMul", {x, v}, {3, 2}, NoTranspose()));
  RoundOperands(b.module);
  EXPECT_EQ(Count(b.module, "Cast"), 6) << ToString(b.module);
}

TEST(RoundOperands, ConvolutionsAndTheirGradientsAreRounded) {
  const Attrs attrs = ConvAttrs();
  ModuleBuilder b;
  const Value x = b.Feed({2, 6, 6, 3}), w = b.Feed({3, 3, 3, 4}), dy = b.Feed({2, 6, 6, 4});
  const Value x_sizes = b.Constant(Array::Of<int32_t>({4}, {2, 6, 6, 3}));
  const Value w_sizes = b.Constant(Array::Of<int32_t>({4}, {3, 3, 3, 4}));
  b.Fetch(b.Op("Conv2D", {x, w}, {2, 6, 6, 4}, attrs));
  b.Fetch(b.Op("Conv2DBackpropFilter", {x, w_sizes, dy}, {3, 3, 3, 4}, attrs));
  b.Fetch(b.Op("Conv2DBackpropInput", {x_sizes, w, dy}, {2, 6, 6, 3}, attrs));
  const std::vector<Array> exact = {Numbers({2, 6, 6, 3}), Numbers({3, 3, 3, 4}, 2),
                                    Numbers({2, 6, 6, 4}, 3)};
  std::vector<Array> rounded;
  for (const Array& array : exact) rounded.push_back(Rounded(array));
  const std::vector<Array> expected = Values(b.module, rounded);
  RoundOperands(b.module);
  EXPECT_EQ(Count(b.module, "Cast"), 6);
  const std::vector<Array> actual = Values(b.module, exact);
  ASSERT_EQ(actual.size(), 3u);
  for (size_t i = 0; i < actual.size(); ++i) EXPECT_TRUE(SameBits(actual[i], expected[i])) << i;
}

TEST(RoundOperands, OtherOpsAndOtherDtypesStayAsTheyAre) {
  ModuleBuilder b;
  const Value x = b.Feed({4, 4}, kBf16), y = b.Feed({4, 4}, DType::kFloat64), z = b.Feed({4, 4});
  b.Fetch(b.Op("MatMul", {x, x}, {4, 4}, NoTranspose(), kBf16));
  b.Fetch(b.Op("MatMul", {y, y}, {4, 4}, NoTranspose(), DType::kFloat64));
  b.Fetch(b.Op("Mul", {z, z}, {4, 4}));
  RoundOperands(b.module);
  EXPECT_EQ(Count(b.module, "Cast"), 0);
}

TEST(RoundOperands, FuseRoundsOnlyIfItIsAsked) {
  for (const bool asked : {false, true}) {
    ModuleBuilder b;
    const Value x = b.Feed({3, 5}), w = b.Feed({5, 4}), bias = b.Feed({4});
    const Value product = b.Op("MatMul", {x, w}, {3, 4}, NoTranspose());
    b.Fetch(b.Op("BiasAdd", {product, bias}, {3, 4}, {{"data_format", std::string("NHWC")}}));
    const std::vector<Array> exact = {Numbers({3, 5}), Numbers({5, 4}, 2), Numbers({4}, 3)};
    const std::vector<Array> of_exact = Values(b.module, exact);
    const std::vector<Array> of_rounded =
        Values(b.module, {Rounded(exact[0]), Rounded(exact[1]), exact[2]});
    Fuse(b.module, {.fastest = KernelTier::kReference, .bfloat16_operands = asked});
    const Difference difference =
        Compare(Values(b.module, exact)[0], asked ? of_rounded[0] : of_exact[0],
                {.absolute = 1e-6});  // fused kernels sum in another order
    EXPECT_TRUE(difference.equal) << difference.report;
  }
}

}  // namespace
}  // namespace estimator::ir
