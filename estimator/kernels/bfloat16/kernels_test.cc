#include "estimator/kernels/bfloat16/kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/array/array.h"
#include "estimator/array/compare.h"
#include "estimator/base/cpu/cpu_isa.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/kernels/bfloat16/testing/results.h"
#include "estimator/kernels/bfloat16/tiles.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/layout.h"
#include "estimator/kernels/testing/tiers.h"
#include "estimator/kernels/widened.h"
#include "estimator/kernels/window.h"
#include "hwy/highway.h"

namespace estimator {
namespace {

// Sums of at most 1024 products below 1, in f32 and in another order.
constexpr Tolerance kSummationOrder{.relative = 1e-5, .absolute = 2e-4};
// The same sums, rounded to bf16: one unit.
constexpr Tolerance kUnit{.relative = 1.0 / 128, .absolute = 2e-4};

struct Case {
  Shape image, filter;
  int64_t stride = 1;
  std::string padding = "SAME";

  Attrs attrs() const { return ConvAttrs(stride, padding); }
  Shape output() const { return MakeConvGeometry(attrs(), image, filter)->output(); }

  KernelSpec spec(DType dtype) const {
    return {
        .op = "Conv2DBackpropFilter", .name = "df", .attrs = attrs(), .outputs = {{dtype, filter}}};
  }
  std::vector<Array> inputs() const {
    Array sizes(DType::kInt32, Shape{4});
    for (int i = 0; i < 4; ++i) sizes.data<int32_t>()[i] = static_cast<int32_t>(filter[i]);
    return {RandomArray(image, 1).Cast(DType::kBfloat16), sizes,
            RandomArray(output(), 2).Cast(DType::kBfloat16)};
  }
};

std::vector<Case> Cases() {
  return {{{2, 8, 8, 64}, {1, 1, 64, 32}},
          {{2, 8, 9, 32}, {1, 1, 32, 64}, 2},
          {{3, 7, 7, 32}, {3, 3, 32, 48}},
          {{1, 9, 10, 17}, {3, 3, 17, 19}, 1, "VALID"},
          {{3, 8, 9, 16}, {3, 3, 16, 32}, 2, "VALID"},  // the stride leaves a column unread
          {{2, 9, 8, 32}, {3, 3, 32, 32}, 2},
          {{2, 6, 7, 16}, {3, 2, 16, 24}, 1, "EXPLICIT"},
          {{2, 14, 14, 32}, {5, 5, 32, 64}}};
}

// "" if a result of a filter's gradient matches the reference kernel, which computes on f32.
std::string DifferenceFromF32(const Case& c, const Array& actual) {
  const std::vector<Array> inputs = c.inputs();
  const auto expected = RunReferenceKernel(
      c.spec(DType::kFloat32),
      {inputs[0].Cast(DType::kFloat32), inputs[1], inputs[2].Cast(DType::kFloat32)});
  EST_EXPECT_OK(expected);
  const bool f32 = actual.dtype() == DType::kFloat32;
  return Compare(actual, f32 ? (*expected)[0] : (*expected)[0].Cast(actual.dtype()),
                 f32 ? kSummationOrder : kUnit)
      .report;
}

// Programs take a kernel of the native tier for the spec.
void ExpectTaken(const KernelSpec& spec) {
  const auto kernel = CreateKernel(spec);
  EST_ASSERT_OK(kernel);
  EXPECT_EQ((*kernel)->tier(), KernelTier::kNative);
  EXPECT_FALSE(IsWidened(**kernel));
}

TEST(Bfloat16Kernels, FilterGradientsMatchTheReference) {
  if (!bfloat16::IsAvailable()) GTEST_SKIP() << "this CPU lacks AVX-512 for bf16";
  for (const Case& c : Cases()) {
    SCOPED_TRACE(c.image.ToString() + " " + c.filter.ToString());
    for (const DType dtype : {DType::kFloat32, DType::kBfloat16}) {
      // Without AMX, only for filters of one tap (kernels/kernel_rules.cc).
      if (bfloat16::HasAmx() || c.filter[0] == 1)
        ExpectTaken(CompleteSpec(c.spec(dtype), c.inputs()));
      const Array actual = bfloat16::RunWithDirtyScratch(FromConvSpec<bfloat16::MakeFilterGradient>,
                                                         c.spec(dtype), c.inputs());
      EXPECT_EQ(DifferenceFromF32(c, actual), "");
    }
  }
}

TEST(Bfloat16Kernels, ConvolutionsAndInputGradientsMatchTheReference) {
  if (!bfloat16::IsAvailable()) GTEST_SKIP() << "this CPU lacks AVX-512 for bf16";
  int computed = 0;
  for (const Case& c : Cases()) {
    SCOPED_TRACE(c.image.ToString() + " " + c.filter.ToString());
    std::vector<Array> gradient_inputs = c.inputs();
    const Array x = gradient_inputs[0],
                filter = RandomArray(c.filter, 3, -0.1f, 0.1f).Cast(DType::kBfloat16);
    Array sizes(DType::kInt32, Shape{4});
    for (int i = 0; i < 4; ++i) sizes.data<int32_t>()[i] = static_cast<int32_t>(c.image[i]);
    gradient_inputs[0] = sizes;
    gradient_inputs[1] = filter;
    const KernelSpec forward{.op = "Conv2D",
                             .name = "y",
                             .attrs = c.attrs(),
                             .outputs = {{DType::kBfloat16, c.output()}}};
    const KernelSpec gradient{.op = "Conv2DBackpropInput",
                              .name = "dx",
                              .attrs = c.attrs(),
                              .outputs = {{DType::kBfloat16, c.image}}};
    const bool supported =
        FromConvSpec<bfloat16::MakeConvolution>(CompleteSpec(forward, {x, filter})) != nullptr;
    EXPECT_EQ(supported, c.stride == 1 || c.filter[0] == 1);
    EXPECT_EQ(supported, FromConvSpec<bfloat16::MakeInputGradient>(
                             CompleteSpec(gradient, gradient_inputs)) != nullptr);
    if (!supported) continue;
    ++computed;
    const auto expect_equal = [](bfloat16::Factory factory, const KernelSpec& spec,
                                 const std::vector<Array>& operands) {
      const auto expected = RunReferenceKernel(spec, operands);
      EST_ASSERT_OK(expected);
      EXPECT_EQ(
          Compare(bfloat16::RunWithDirtyScratch(factory, spec, operands), (*expected)[0], kUnit)
              .report,
          "");
    };
    expect_equal(FromConvSpec<bfloat16::MakeConvolution>, forward, {x, filter});
    expect_equal(FromConvSpec<bfloat16::MakeInputGradient>, gradient, gradient_inputs);
  }
  EXPECT_EQ(computed, 6);
}

// The results of a kernel on bf16 operands match those of the slower tiers, which compute on the
// same numbers in f32. Results in bf16 differ by their rounding. Argmaxes are equal.
//   spec: with outputs in f32.  operands: f32 operands are cast to bf16, but not those from
//   first_f32.
void ExpectMatchesF32(bfloat16::Factory factory, const KernelSpec& spec,
                      std::vector<Array> operands, size_t first_f32) {
  std::vector<Array> wide = operands;
  for (size_t i = 0; i < std::min(first_f32, operands.size()); ++i) {
    if (operands[i].dtype() != DType::kFloat32) continue;
    operands[i] = operands[i].Cast(DType::kBfloat16);
    wide[i] = operands[i].Cast(DType::kFloat32);
  }
  const auto expected = RunKernel(spec, wide, KernelTier::kOneDnn);
  EST_ASSERT_OK(expected);
  for (const DType dtype : {DType::kFloat32, DType::kBfloat16}) {
    SCOPED_TRACE(absl::StrCat(spec.op, " ", DTypeName(dtype)));
    KernelSpec narrow = spec;
    for (TensorSpec& output : narrow.outputs) {
      if (output.dtype == DType::kFloat32) output.dtype = dtype;
    }
    if (bfloat16::HasAmx()) ExpectTaken(CompleteSpec(narrow, operands));
    const std::vector<Array> actual = bfloat16::ResultsOf(factory, narrow, operands);
    for (size_t o = 0; o < expected->size(); ++o) {
      const Array& want = (*expected)[o];
      const bool rounded = want.dtype() == DType::kFloat32 && dtype == DType::kBfloat16;
      EXPECT_EQ(
          Compare(actual[o], rounded ? want.Cast(dtype) : want, rounded ? kUnit : kSummationOrder)
              .report,
          "");
    }
  }
}

// Blocks of convolution, bias, relu and max pool, and their gradients.
TEST(Bfloat16Kernels, BlocksMatchTheReference) {
  if (!bfloat16::IsAvailable()) GTEST_SKIP() << "this CPU lacks AVX-512 for bf16";
  for (const Case& c : {Case{{2, 14, 14, 32}, {5, 5, 32, 64}}, Case{{3, 10, 6, 17}, {3, 3, 17, 40}},
                        Case{{2, 40, 44, 16}, {3, 3, 16, 32}},  // an image in segments
                        Case{{3, 12, 8, 1}, {5, 5, 1, 32}},     // copied by taps
                        Case{{2, 16, 12, 3}, {7, 7, 3, 16}, 2}}) {
    SCOPED_TRACE(c.image.ToString() + " " + c.filter.ToString());
    const Attrs attrs = WithPool(c.attrs(), "VALID");
    const Shape full = c.output(), pooled{full[0], full[1] / 2, full[2] / 2, full[3]};
    const Array x = RandomArray(c.image, 1), filter = RandomArray(c.filter, 2, -0.1f, 0.1f),
                bias = RandomArray({full[3]}, 3), dy = RandomArray(pooled, 4);
    const KernelSpec forward{.op = "_FusedConv2DMaxPool",
                             .name = "y",
                             .attrs = attrs,
                             .outputs = {{DType::kFloat32, pooled}, {DType::kUint8, pooled}}};
    ExpectMatchesF32(FromConvSpec<bfloat16::MakeConvolution>, forward, {x, filter, bias}, 2);
    const auto y = RunReferenceKernel(forward, {x, filter, bias});
    EST_ASSERT_OK(y);
    const Array argmax = (*y)[1];
    ExpectMatchesF32(FromConvSpec<bfloat16::MakeFilterGradient>,
                     {.op = "_Conv2DMaxPoolBackpropFilter",
                      .name = "df",
                      .attrs = attrs,
                      .outputs = {{DType::kFloat32, c.filter}, {DType::kFloat32, {full[3]}}}},
                     {x, dy, argmax}, 2);
    if (c.image[3] < 16) continue;
    ExpectMatchesF32(FromConvSpec<bfloat16::MakeInputGradient>,
                     {.op = "_Conv2DMaxPoolBackpropInput",
                      .name = "dx",
                      .attrs = attrs,
                      .outputs = {{DType::kFloat32, c.image}}},
                     {filter, dy, argmax}, 2);
  }
}

TEST(Bfloat16Kernels, BiasAndActivationAreFused) {
  if (!bfloat16::IsAvailable()) GTEST_SKIP() << "this CPU lacks AVX-512 for bf16";
  const Case c{{2, 9, 8, 32}, {3, 3, 32, 40}};
  const Array x = RandomArray(c.image, 1), filter = RandomArray(c.filter, 2, -0.1f, 0.1f),
              bias = RandomArray({40}, 3), dy = RandomArray(c.output(), 4);
  for (const auto& fused :
       {std::vector<std::string>{"BiasAdd"}, std::vector<std::string>{"BiasAdd", "Relu"},
        std::vector<std::string>{"BiasAdd", "Relu6"}}) {
    Attrs attrs = c.attrs();
    attrs.Set("fused_ops", fused);
    const KernelSpec spec{.op = "_FusedConv2D",
                          .name = "y",
                          .attrs = attrs,
                          .outputs = {{DType::kFloat32, c.output()}}};
    ExpectMatchesF32(FromConvSpec<bfloat16::MakeConvolution>, spec, {x, filter, bias}, 2);
    ExpectMatchesF32(FromConvSpec<bfloat16::MakeConvolution>, spec, {x, filter, bias}, 3);
  }
  ExpectMatchesF32(FromConvSpec<bfloat16::MakeFilterGradient>,
                   {.op = "_FusedConv2DBackpropFilter",
                    .name = "df",
                    .attrs = c.attrs(),
                    .outputs = {{DType::kFloat32, c.filter}, {DType::kFloat32, {40}}}},
                   {x, dy}, 2);
}

// The bound of convolve.h is that of the worst case. Signs of rounding errors differ, so the error
// is far below the 1e-4 that ConvAlgorithm::kAuto allows.
TEST(Bfloat16Kernels, ProductsOfF32HaveASmallError) {
  if (!bfloat16::IsAvailable()) GTEST_SKIP() << "this CPU lacks AVX-512 for bf16";
  constexpr double kBound = 5e-5;
  for (Case c : Cases()) {
    c.image.set_dim(0, 32);  // enough pixels for products of f32
    SCOPED_TRACE(c.image.ToString() + " " + c.filter.ToString());
    const Array x = RandomArray(c.image, 1), filter = RandomArray(c.filter, 2, -0.1f, 0.1f),
                dy = RandomArray(c.output(), 4);
    Array sizes(DType::kInt32, Shape{4});
    for (int i = 0; i < 4; ++i) sizes.data<int32_t>()[i] = static_cast<int32_t>(c.image[i]);
    EXPECT_LE(bfloat16::LargestError(FromConvSpec<bfloat16::MakeFilterGradient>,
                                     c.spec(DType::kFloat32), {x, c.inputs()[1], dy}),
              kBound);
    if (c.stride != 1 && c.filter[0] > 1) continue;
    const KernelSpec forward{.op = "Conv2D",
                             .name = "y",
                             .attrs = c.attrs(),
                             .outputs = {{DType::kFloat32, c.output()}}};
    EXPECT_LE(bfloat16::LargestError(FromConvSpec<bfloat16::MakeConvolution>, forward, {x, filter}),
              kBound);
    const KernelSpec gradient{.op = "Conv2DBackpropInput",
                              .name = "dx",
                              .attrs = c.attrs(),
                              .outputs = {{DType::kFloat32, c.image}}};
    EXPECT_LE(bfloat16::LargestError(FromConvSpec<bfloat16::MakeInputGradient>, gradient,
                                     {sizes, filter, dy}),
              kBound);
  }
}

// Blocks, and epilogues with a side input, in f32.
TEST(Bfloat16Kernels, EpiloguesOfF32MatchTheOtherTiers) {
  if (!bfloat16::IsAvailable()) GTEST_SKIP() << "this CPU lacks AVX-512 for bf16";
  const Case c{{4, 8, 12, 32}, {3, 3, 32, 40}};
  const Array x = RandomArray(c.image, 1), filter = RandomArray(c.filter, 2, -0.1f, 0.1f),
              bias = RandomArray({40}, 3), side = RandomArray(c.output(), 4);
  const auto expect_equal = [](const KernelSpec& spec, const std::vector<Array>& operands,
                               bfloat16::Factory factory) {
    const std::vector<Array> actual = bfloat16::ResultsOf(factory, spec, operands);
    const auto expected = RunKernel(spec, operands, KernelTier::kOneDnn);
    EST_ASSERT_OK(expected);
    for (size_t o = 0; o < expected->size(); ++o)
      EXPECT_EQ(Compare(actual[o], (*expected)[o], kSummationOrder).report, "");
  };
  KernelSpec spec{.op = "_FusedConv2D",
                  .name = "y",
                  .attrs = c.attrs(),
                  .outputs = {{DType::kFloat32, c.output()}}};
  spec.attrs.Set("fused_ops", std::vector<std::string>{"BiasAdd", "Relu"});
  expect_equal(spec, {x, filter, bias}, FromConvSpec<bfloat16::MakeConvolution>);
  expect_equal(spec, {x, filter, bias, side}, FromConvSpec<bfloat16::MakeConvolution>);

  spec.op = "_FusedConv2DMaxPool";
  spec.attrs = WithPool(spec.attrs, "VALID");
  const Shape pooled{4, 4, 6, 40};
  spec.outputs = {{DType::kFloat32, pooled}, {DType::kUint8, pooled}};
  expect_equal(spec, {x, filter, bias}, FromConvSpec<bfloat16::MakeConvolution>);
  const auto y = RunKernel(spec, {x, filter, bias}, KernelTier::kOneDnn);
  EST_ASSERT_OK(y);
  const Array dy = RandomArray(pooled, 5);
  spec.op = "_Conv2DMaxPoolBackpropInput";
  spec.outputs = {{DType::kFloat32, c.image}};
  expect_equal(spec, {filter, dy, (*y)[1]}, FromConvSpec<bfloat16::MakeInputGradient>);
  spec.op = "_Conv2DMaxPoolBackpropFilter";
  spec.outputs = {{DType::kFloat32, c.filter}, {DType::kFloat32, {40}}};
  expect_equal(spec, {x, dy, (*y)[1]}, FromConvSpec<bfloat16::MakeFilterGradient>);
}

TEST(Bfloat16Kernels, ProgramsTakeThemForProducts) {
  if (!bfloat16::IsAvailable()) GTEST_SKIP() << "this CPU lacks AVX-512 for bf16";
  const auto tier = [](DType dtype, int64_t m, int64_t n, int64_t k) {
    return AcceptingTier({.op = "MatMul",
                          .name = "c",
                          .attrs = {{"transpose_a", false}, {"transpose_b", false}},
                          .inputs = {{dtype, {m, k}}, {dtype, {k, n}}},
                          .outputs = {{dtype, {m, n}}}},
                         KernelTier::kNative);
  };
  // Of the native tier, only the kernels of this folder take products of bf16 or so few columns.
  EXPECT_EQ(tier(DType::kBfloat16, 128, 64, 2048), KernelTier::kNative);
  EXPECT_EQ(tier(DType::kFloat32, 128, 64, 64) == KernelTier::kNative, bfloat16::HasAmx());
  EXPECT_NE(tier(DType::kFloat32, 128, 64, 32), KernelTier::kNative);
}

TEST(Bfloat16Kernels, OtherSpecsAreRefused) {
  if (!bfloat16::IsAvailable()) GTEST_SKIP() << "this CPU lacks AVX-512 for bf16";
  const auto refused = [](const KernelSpec& spec, const std::vector<Array>& inputs) {
    return FromConvSpec<bfloat16::MakeFilterGradient>(CompleteSpec(spec, inputs)) == nullptr;
  };
  const Case c{{2, 8, 8, 32}, {3, 3, 32, 16}};
  std::vector<Array> f32 = c.inputs();  // 128 pixels
  f32[0] = f32[0].Cast(DType::kFloat32);
  f32[2] = f32[2].Cast(DType::kFloat32);
  EXPECT_FALSE(refused(c.spec(DType::kFloat32), f32));
  KernelSpec direct = c.spec(DType::kFloat32);
  direct.conv_algorithm = ConvAlgorithm::kDirect;
  EXPECT_TRUE(refused(direct, f32));
  EXPECT_TRUE(refused(c.spec(DType::kBfloat16), f32));
  KernelSpec dilated = c.spec(DType::kFloat32);
  dilated.attrs.Set("dilations", std::vector<int64_t>{1, 2, 2, 1});
  EXPECT_TRUE(refused(dilated, c.inputs()));
  KernelSpec groups = c.spec(DType::kFloat32);
  groups.outputs[0].shape = {3, 3, 16, 16};
  EXPECT_TRUE(refused(groups, c.inputs()));
  const Case few{{2, 8, 8, 32}, {3, 3, 32, 3}};
  EXPECT_TRUE(refused(few.spec(DType::kFloat32), few.inputs()));
  KernelSpec winograd = c.spec(DType::kFloat32);
  winograd.conv_algorithm = ConvAlgorithm::kWinograd;
  EXPECT_TRUE(refused(winograd, c.inputs()));
}

TEST(Bfloat16Kernels, WithoutVectorsOfBfloat16TheWidenedKernelIsTaken) {
  const Case c{{2, 8, 8, 64}, {1, 1, 64, 32}};
  SetNewestCpuIsaForTest(CpuIsa::kAvx2);
  hwy::SetSupportedTargetsForTest(HWY_AVX2);
  EXPECT_FALSE(bfloat16::IsAvailable());
  EXPECT_EQ(
      FromConvSpec<bfloat16::MakeFilterGradient>(CompleteSpec(c.spec(DType::kFloat32), c.inputs())),
      nullptr);
  const auto actual = RunKernel(c.spec(DType::kFloat32), c.inputs(), KernelTier::kNative);
  EST_ASSERT_OK(actual);
  EXPECT_EQ(DifferenceFromF32(c, (*actual)[0]), "");
  hwy::SetSupportedTargetsForTest(0);
  SetNewestCpuIsaForTest(std::nullopt);
}

}  // namespace
}  // namespace estimator
