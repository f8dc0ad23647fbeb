#include "estimator/runtime/passes/bfloat16_products.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "estimator/array/compare.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/kernels/bfloat16/tiles.h"
#include "estimator/kernels/widened.h"
#include "estimator/runtime/passes/fusion/fuse.h"
#include "estimator/runtime/passes/testing/pass_module.h"

namespace estimator::ir {
namespace {

const KernelTier kFastest = KernelTier::kOneDnn;
constexpr DType kBf16 = DType::kBfloat16;

Attrs NoTranspose() { return {{"transpose_a", false}, {"transpose_b", false}}; }
Attrs CastTo(DType from, DType to) { return {{"SrcT", from}, {"DstT", to}, {"Truncate", false}}; }

// Whether oneDNN computes products in bf16 on this CPU.
bool CpuHasBfloat16() {
  const auto kernel = CreateKernel({.op = "MatMul",
                                    .name = "m",
                                    .attrs = NoTranspose(),
                                    .inputs = {{kBf16, {64, 64}}, {kBf16, {64, 64}}},
                                    .outputs = {{kBf16, {64, 64}}}},
                                   kFastest);
  return kernel.ok() && !IsWidened(**kernel);
}

std::vector<Array> Values(const Module& module, const std::vector<Array>& feeds) {
  const auto values = Interpret(module, feeds);
  EST_EXPECT_OK(values);
  return values.ok() ? *values : std::vector<Array>();
}

void ExpectNear(const Array& actual, const Array& expected, Tolerance tolerance) {
  const Difference difference = Compare(actual, expected, tolerance);
  EXPECT_TRUE(difference.equal) << difference.report;
}

TEST(NarrowProducts, OperandsAreCastOnceAndResultsStayFloat32) {
  if (!CpuHasBfloat16()) GTEST_SKIP() << "the CPU has no bf16 instructions";
  ModuleBuilder b;
  const Value x = b.Feed({64, 96}), w = b.Feed({96, 48}), v = b.Feed({96, 40});
  b.Fetch(b.Op("MatMul", {x, w}, {64, 48}, NoTranspose()));
  b.Fetch(b.Op("MatMul", {x, v}, {64, 40}, NoTranspose()));
  const std::vector<Array> feeds = {Numbers({64, 96}), Numbers({96, 48}, 2), Numbers({96, 40}, 3)};
  const std::vector<Array> before = Values(b.module, feeds);
  NarrowProducts(b.module, kFastest);
  EXPECT_EQ(Count(b.module, "Cast"), 3) << ToString(b.module);
  for (const Node& node : b.module.nodes) {
    if (node.op != "MatMul") continue;
    EXPECT_EQ(b.module.spec(node.inputs[0]).dtype, kBf16);
    EXPECT_EQ(b.module.spec(node.inputs[1]).dtype, kBf16);
    EXPECT_EQ(node.outputs[0].dtype, DType::kFloat32);
    ASSERT_NE(node.origin, nullptr);
  }
  const std::vector<Array> after = Values(b.module, feeds);
  ASSERT_EQ(after.size(), before.size());
  // 96 products of numbers in [-1, 1), each with two rounding errors: the deviation is 0.007.
  for (size_t i = 0; i < after.size(); ++i) {
    ExpectNear(after[i], before[i], {.absolute = 0.05});
    EXPECT_FALSE(SameBits(after[i], before[i])) << "the product is not computed in bf16";
  }
}

TEST(NarrowProducts, SmallMatricesAndTheReferenceTierStayInFloat32) {
  for (const KernelTier tier : {kFastest, KernelTier::kReference}) {
    const int64_t n = tier == kFastest ? 10 : 64;
    ModuleBuilder b;
    const Value x = b.Feed({64, 96}), w = b.Feed({96, n});
    b.Fetch(b.Op("MatMul", {x, w}, {64, n}, NoTranspose()));
    NarrowProducts(b.module, tier);
    EXPECT_EQ(Count(b.module, "Cast"), 0);
    EXPECT_EQ(b.module.nodes.size(), 3u);
  }
}

TEST(NarrowProducts, AFusedProductKeepsItsFloat32Bias) {
  if (!CpuHasBfloat16()) GTEST_SKIP() << "the CPU has no bf16 instructions";
  ModuleBuilder b;
  const Value x = b.Feed({64, 96}), w = b.Feed({96, 48}), bias = b.Feed({48});
  const Value product = b.Op("MatMul", {x, w}, {64, 48}, NoTranspose());
  b.Fetch(b.Op("Relu", {b.Op("BiasAdd", {product, bias}, {64, 48})}, {64, 48}));
  const std::vector<Array> feeds = {Numbers({64, 96}), Numbers({96, 48}, 2), Numbers({48}, 3)};
  const std::vector<Array> before = Values(b.module, feeds);
  FuseBias(b.module, kFastest);
  NarrowProducts(b.module, kFastest);
  const Node& fused = Only(b.module, "_FusedMatMul");
  EXPECT_EQ(b.module.spec(fused.inputs[1]).dtype, kBf16);
  EXPECT_EQ(b.module.spec(fused.inputs[2]).dtype, DType::kFloat32);
  ExpectNear(Values(b.module, feeds)[0], before[0], {.absolute = 0.05});
}

// Two layers, with a view in between: the first product rounds its result.
TEST(NarrowProducts, AResultThatIsOnlyCastIsInBfloat16) {
  if (!CpuHasBfloat16()) GTEST_SKIP() << "the CPU has no bf16 instructions";
  ModuleBuilder b;
  const Value x = b.Feed({64, 96}), w = b.Feed({96, 48}), v = b.Feed({96, 40});
  const Value hidden = b.Op("MatMul", {x, w}, {64, 48}, NoTranspose());
  const Array shape = Array::Of<int32_t>({2}, {32, 96});
  const Value rows = b.Op("Reshape", {hidden, b.Constant(shape)}, {32, 96});
  b.Fetch(b.Op("MatMul", {rows, v}, {32, 40}, NoTranspose()));
  const std::vector<Array> feeds = {Numbers({64, 96}), Numbers({96, 48}, 2), Numbers({96, 40}, 3)};
  const std::vector<Array> before = Values(b.module, feeds);
  Module fetched = b.module;
  fetched.fetches.push_back(hidden);
  NarrowProducts(b.module, kFastest);
  NarrowProducts(fetched, kFastest);
  EXPECT_EQ(Count(b.module, "Cast"), 3) << ToString(b.module);  // x, w and v
  EXPECT_EQ(b.module.spec(Only(b.module, "Reshape").inputs[0]).dtype, kBf16);
  // A fetch is f32, so there the result is cast: to the same bits.
  EXPECT_EQ(Count(fetched, "Cast"), 4) << ToString(fetched);
  EXPECT_TRUE(SameBits(Values(b.module, feeds)[0], Values(fetched, feeds)[0]));
  ExpectNear(Values(b.module, feeds)[0], before[0], {.absolute = 0.3});
}

// With AMX a convolution is cast. Without it, it stays in f32.
TEST(NarrowProducts, AConvolutionIsCastIfANativeKernelComputesIt) {
  const Shape image{2, 20, 20, 32}, filter{3, 3, 32, 48}, full{2, 20, 20, 48},
      pooled{2, 10, 10, 48};
  ModuleBuilder b;
  const Value x = b.Feed(image), w = b.Feed(filter), bias = b.Feed({48});
  const Value conv = b.Op("Conv2D", {x, w}, full, ConvAttrs());
  const Value relu = b.Op("Relu", {b.Op("BiasAdd", {conv, bias}, full)}, full);
  b.Fetch(b.Op("MaxPool", {relu}, pooled, PoolWindow(2, 2, "VALID")));
  const std::vector<Array> feeds = {Numbers(image), Numbers(filter, 2), Numbers({48}, 3)};
  const std::vector<Array> before = Values(b.module, feeds);
  FuseBias(b.module, KernelTier::kNative);
  FuseConvBlock(b.module, KernelTier::kNative);
  NarrowProducts(b.module, KernelTier::kNative);
  const Node& block = Only(b.module, "_FusedConv2DMaxPool");
  const bool narrow = bfloat16::HasAmx();
  EXPECT_EQ(b.module.spec(block.inputs[0]).dtype, narrow ? kBf16 : DType::kFloat32);
  EXPECT_EQ(Count(b.module, "Cast"), narrow ? 2 : 0);
  EXPECT_EQ(block.outputs[0].dtype, DType::kFloat32);
  // 288 products of numbers in [-1, 1), each with two rounding errors: the deviation is 0.012.
  ExpectNear(Values(b.module, feeds)[0], before[0], {.absolute = 0.1});
}

TEST(NarrowProducts, AGradientOfAFilterIsCastOnlyWithAmx) {
  for (const int64_t taps : {1, 3}) {
    ModuleBuilder b;
    const Shape image{2, 20, 20, 32}, filter{taps, taps, 32, 32};
    const Value sizes = b.Constant(
        Array::Of<int32_t>({4}, {static_cast<int32_t>(taps), static_cast<int32_t>(taps), 32, 32}));
    b.Fetch(
        b.Op("Conv2DBackpropFilter", {b.Feed(image), sizes, b.Feed(image)}, filter, ConvAttrs()));
    NarrowProducts(b.module, KernelTier::kNative);
    EXPECT_EQ(Count(b.module, "Cast"), bfloat16::HasAmx() ? 2 : 0) << ToString(b.module);
  }
}

TEST(WidenResults, AProductThatIsOnlyCastIsNotRounded) {
  ModuleBuilder b;
  const Value x = b.Feed({64, 96}, kBf16), w = b.Feed({96, 48}, kBf16);
  const Value product = b.Op("MatMul", {x, w}, {64, 48}, NoTranspose(), kBf16);
  b.Fetch(b.Op("Cast", {product}, {64, 48}, CastTo(kBf16, DType::kFloat32)));
  const Array a = Numbers({64, 96}).Cast(kBf16), c = Numbers({96, 48}, 2).Cast(kBf16);
  WidenResults(b.module, kFastest);
  EXPECT_EQ(Count(b.module, "Cast"), 0) << ToString(b.module);
  EXPECT_EQ(Only(b.module, "MatMul").outputs[0].dtype, DType::kFloat32);

  ModuleBuilder wide;
  const Value wide_x = wide.Feed({64, 96}), wide_w = wide.Feed({96, 48});
  wide.Fetch(wide.Op("MatMul", {wide_x, wide_w}, {64, 48}, NoTranspose()));
  const std::vector<Array> exact =
      Values(wide.module, {a.Cast(DType::kFloat32), c.Cast(DType::kFloat32)});
  ExpectNear(Values(b.module, {a, c})[0], exact[0], {.relative = 1e-5, .absolute = 1e-5});
}

TEST(WidenResults, SumsAreWidenedToo) {
  ModuleBuilder b;
  const Value x = b.Feed({640, 48}, kBf16);
  const Value bias = b.Op("BiasAddGrad", {x}, {48}, {{"data_format", std::string("NHWC")}}, kBf16);
  const Value total = b.Op("Sum", {x, b.Constant(Array::Of<int32_t>({1}, {0}))}, {48},
                           {{"keep_dims", false}}, kBf16);
  b.Fetch(b.Op("Cast", {bias}, {48}, CastTo(kBf16, DType::kFloat32)));
  b.Fetch(b.Op("Cast", {total}, {48}, CastTo(kBf16, DType::kFloat32)));
  WidenResults(b.module, kFastest);
  EXPECT_EQ(Count(b.module, "Cast"), 0) << ToString(b.module);
  const Array numbers = Numbers({640, 48}).Cast(kBf16);
  Array expected(DType::kFloat32, Shape{48});
  for (int64_t i = 0; i < numbers.num_elements(); ++i)
    expected.data<float>()[i % 48] += numbers.data<Bfloat16>()[i];
  for (const Array& sum : Values(b.module, {numbers}))
    ExpectNear(sum, expected, {.relative = 1e-5, .absolute = 5e-4});
}

TEST(WidenResults, AProductThatAnotherNodeReadsStaysInBfloat16) {
  ModuleBuilder b;
  const Value x = b.Feed({64, 96}, kBf16), w = b.Feed({96, 48}, kBf16);
  const Value product = b.Op("MatMul", {x, w}, {64, 48}, NoTranspose(), kBf16);
  b.Fetch(product);
  b.Fetch(b.Op("Cast", {product}, {64, 48}, CastTo(kBf16, DType::kFloat32)));
  WidenResults(b.module, kFastest);
  EXPECT_EQ(Count(b.module, "Cast"), 1);
  EXPECT_EQ(Only(b.module, "MatMul").outputs[0].dtype, kBf16);
}

TEST(FuseElementwise, CastsAndBfloat16OpsAreOneChain) {
  ModuleBuilder b;
  const Shape shape{30, 40};
  const Value x = b.Feed(shape, kBf16), y = b.Feed(shape);
  const Value relu = b.Op("Relu", {x}, shape, {}, kBf16);
  const Value wide = b.Op("Cast", {relu}, shape, CastTo(kBf16, DType::kFloat32));
  const Value product = b.Op("Mul", {wide, y}, shape);
  b.Fetch(b.Op("Cast", {product}, shape, CastTo(DType::kFloat32, kBf16), kBf16));
  b.Fetch(relu);
  Module before = b.module;
  FuseElementwise(b.module, kFastest);
  EXPECT_EQ(Only(b.module, "_FusedElementwise").outputs.size(), 2u) << ToString(b.module);
  EXPECT_EQ(Count(b.module, "Cast"), 0);
  const std::vector<Array> feeds = {Numbers(shape).Cast(kBf16), Numbers(shape, 2)};
  const std::vector<Array> expected = Values(before, feeds), actual = Values(b.module, feeds);
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_TRUE(SameBits(actual[i], expected[i])) << i;
}

}  // namespace
}  // namespace estimator::ir
