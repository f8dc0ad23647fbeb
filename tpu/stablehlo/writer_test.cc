#include "tpu/stablehlo/writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace estimator::tpu::stablehlo {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(StableHloWriterTest, TypesAreWrittenAsMlirDoes) {
  EXPECT_EQ(Type(DType::kFloat32, {8, 10}).ToString(), "tensor<8x10xf32>");
  EXPECT_EQ(Type(DType::kBool, {}).ToString(), "tensor<i1>");
  EXPECT_EQ(Type(DType::kInt32, {2}, true).ToString(), "tensor<2xui32>");
  EXPECT_EQ(Type(DType::kUint8, {2}).ToString(), "tensor<2xui8>");
  EXPECT_EQ(Type(DType::kBfloat16, {0, 3}).ToString(), "tensor<0x3xbf16>");
}

TEST(StableHloWriterTest, AttributesOfIntegers) {
  EXPECT_EQ(IntsAttr({}), "array<i64>");
  EXPECT_EQ(IntsAttr({1, 2}), "array<i64: 1, 2>");
  EXPECT_EQ(MatrixAttr({{0, 1}, {2, 3}}), "dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>");
}

TEST(StableHloWriterTest, ABinaryOpBroadcastsItsOperands) {
  Writer w;
  const Value a = w.Fill({DType::kFloat32, {2, 3}}, 1), b = w.Fill({DType::kFloat32, {3}}, 2);
  const Value sum = w.Add(a, b);
  EXPECT_EQ(sum.shape(), (Shape{2, 3}));
  const std::string text = w.Module("m", "");
  EXPECT_THAT(text, HasSubstr("\"stablehlo.broadcast_in_dim\"(%1) {broadcast_dimensions = "
                              "array<i64: 1>} : (tensor<3xf32>) -> tensor<2x3xf32>"));
  EXPECT_THAT(text, HasSubstr("%3 = \"stablehlo.add\"(%0, %2) : (tensor<2x3xf32>, "
                              "tensor<2x3xf32>) -> tensor<2x3xf32>"));
}

TEST(StableHloWriterTest, ConstantsKeepTheirBits) {
  Writer w;
  w.Constant(Array::Of<float>({2}, {1, -0.0f}));
  w.Constant(Array::Of<float>({2}, {2.5f, 2.5f}));
  w.Constant(Array::Scalar(std::numeric_limits<float>::infinity()));
  w.Constant(Array::Scalar(0.1));
  w.Constant(Array::Of<bool>({2}, {true, false}));
  w.Constant(Array(DType::kInt32, {0}));
  w.FillInt({DType::kInt32, {}, true}, -1);
  w.Lowest({DType::kInt8, {}});
  w.Lowest({DType::kBool, {}});
  const std::string text = w.Module("m", "");
  EXPECT_THAT(text, HasSubstr("dense<\"0x0000803f00000080\"> : tensor<2xf32>"));
  EXPECT_THAT(text, HasSubstr("dense<2.50000000e+00> : tensor<2xf32>"));
  EXPECT_THAT(text, HasSubstr("dense<0x7f800000> : tensor<f32>"));
  EXPECT_THAT(text, HasSubstr("dense<1.0000000000000001e-01> : tensor<f64>"));
  EXPECT_THAT(text, HasSubstr("dense<\"0x0100\"> : tensor<2xui8>"));
  EXPECT_THAT(text, HasSubstr("dense<> : tensor<0xi32>"));
  EXPECT_THAT(text, HasSubstr("dense<4294967295> : tensor<ui32>"));
  EXPECT_THAT(text, HasSubstr("dense<-128> : tensor<i8>"));
  EXPECT_THAT(text, HasSubstr("dense<false> : tensor<i1>"));
}

TEST(StableHloWriterTest, AReductionDropsItsAxes) {
  Writer w;
  const Value x = w.Fill({DType::kFloat32, {2, 3, 4}}, 1);
  EXPECT_EQ(w.Reduce("maximum", x, {0, 2}).shape(), (Shape{3}));
  const std::string text = w.Module("m", "");
  EXPECT_THAT(text, HasSubstr("dense<0xff800000> : tensor<f32>"));  // -infinity
  EXPECT_THAT(text, HasSubstr("{dimensions = array<i64: 0, 2>} : (tensor<2x3x4xf32>, "
                              "tensor<f32>) -> tensor<3xf32>"));
}

TEST(StableHloWriterTest, ProductsRoundTheirOperandsForBfloat16) {
  Writer w;
  w.set_compute_dtype(DType::kBfloat16);
  const Value a = w.Fill({DType::kFloat32, {5, 2, 3}}, 1);
  const Value b = w.Fill({DType::kFloat32, {5, 3, 7}}, 1);
  const Value product = w.DotGeneral(
      a, b, {.lhs_batch = {0}, .rhs_batch = {0}, .lhs_contracting = {2}, .rhs_contracting = {1}},
      DType::kFloat32);
  EXPECT_EQ(product.shape(), (Shape{5, 2, 7}));
  EXPECT_THAT(w.Module("m", ""),
              HasSubstr("(tensor<5x2x3xbf16>, tensor<5x3x7xbf16>) -> tensor<5x2x7xf32>"));
}

TEST(StableHloWriterTest, EveryOpHasTheLocationOfItsNode) {
  Writer w;
  w.Fill({DType::kFloat32, {}}, 1);
  w.SetLocation("dense/\"quoted\"");
  w.Fill({DType::kFloat32, {}}, 2);
  const std::string text = w.Module("m", "");
  EXPECT_THAT(text, HasSubstr("-> tensor<f32>\n"));
  EXPECT_THAT(text, HasSubstr("-> tensor<f32> loc(#loc0)\n"));
  EXPECT_THAT(text, HasSubstr("#loc0 = loc(\"dense/\\\"quoted\\\"\")\n"));
}

TEST(StableHloWriterTest, ALoopHasTwoRegions) {
  Writer w;
  const Type scalar{DType::kInt32, {}};
  const Values end = w.While(
      {w.FillInt(scalar, 0), w.Fill({DType::kFloat32, {3}}, 1)},
      [&](const Values& state) { return w.Compare("LT", state[0], w.FillInt(scalar, 5)); },
      [&](const Values& state) {
        return Values{w.Add(state[0], w.FillInt(scalar, 1)), w.Add(state[1], state[1])};
      });
  ASSERT_EQ(end.size(), 2u);
  EXPECT_EQ(end[1].name, "%2#1");
  const std::string text = w.Module("m", "");
  EXPECT_THAT(text, HasSubstr("%2:2 = \"stablehlo.while\"(%0, %1) ({\n"));
  EXPECT_THAT(text, HasSubstr("\"stablehlo.return\""));
  EXPECT_THAT(text, Not(HasSubstr("stablehlo.func")));
}

}  // namespace
}  // namespace estimator::tpu::stablehlo
