// The kernels of fast tiers on bfloat16 operands, against the reference tier.
#include <string>
#include <vector>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/kernels/testing/tiers.h"
#include "estimator/kernels/widened.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

// Both round the same float, or floats that differ in their last bits: one unit of bfloat16.
constexpr Tolerance kUnit{.relative = 1.0 / 128, .absolute = 1e-6};

TensorSpec Bf16(const Shape& shape) { return {DType::kBfloat16, shape}; }
TensorSpec F32(const Shape& shape) { return {DType::kFloat32, shape}; }

Array Narrow(const Shape& shape, uint64_t seed, float low = -1, float high = 1) {
  return RandomArray(shape, seed, low, high).Cast(DType::kBfloat16);
}

// Whether the kernel computes on bf16 itself, without whole operands in f32.
bool IsOwn(const KernelSpec& spec, const std::vector<Array>& inputs, KernelTier tier) {
  const auto kernel = CreateKernel(CompleteSpec(spec, inputs), tier);
  return kernel.ok() && !IsWidened(**kernel);
}

void ExpectOwnAndEqual(const KernelSpec& spec, const std::vector<Array>& inputs,
                       Tolerance tolerance = {}, size_t num_outputs = 0) {
  EXPECT_MATCHES_REFERENCE(spec, inputs, KernelTier::kFused, tolerance, num_outputs);
  EXPECT_TRUE(IsOwn(spec, inputs, KernelTier::kFused)) << spec.op;
}

TEST(Bfloat16Kernels, ElementwiseOpsRoundOnce) {
  const Shape shape{5, 7001};
  const Array a = Narrow(shape, 1, -4, 4), b = Narrow(shape, 2, 0.1f, 3);
  for (const char* op : {"AddV2", "Sub", "Mul", "RealDiv", "Maximum", "Minimum", "ReluGrad"})
    ExpectOwnAndEqual({.op = op, .outputs = {Bf16(shape)}}, {a, b});
  for (const char* op : {"Neg", "Abs", "Square", "Relu", "Relu6"})
    ExpectOwnAndEqual({.op = op, .outputs = {Bf16(shape)}}, {a});
  for (const char* op : {"Exp", "Tanh", "Sigmoid", "Erf"})
    ExpectOwnAndEqual({.op = op, .outputs = {Bf16(shape)}}, {a}, kUnit);
  for (const char* op : {"Sqrt", "Rsqrt", "Log"})
    ExpectOwnAndEqual({.op = op, .outputs = {Bf16(shape)}}, {b}, kUnit);
  ExpectOwnAndEqual({.op = "Greater", .outputs = {{DType::kBool, shape}}}, {a, b});
  ExpectOwnAndEqual({.op = "Mul", .outputs = {Bf16(shape)}},
                    {a, Array::Scalar(0.37f).Cast(DType::kBfloat16)});
}

// y = relu(x * s + b); z = y as f32 times w; both are outputs, and z is cast back.
TEST(Bfloat16Kernels, AChainWithCastsHasTheBitsOfItsOps) {
  const Shape shape{3 * 1024 * 8 + 11};
  const Array x = Narrow(shape, 1), b = Narrow(shape, 2), w = RandomArray(shape, 3);
  const Array s = Array::Scalar(1.7f).Cast(DType::kBfloat16);
  const auto reference = [](const std::string& op, const std::vector<Array>& inputs, DType dtype) {
    const auto result =
        RunReferenceKernel({.op = op, .name = op, .outputs = {{dtype, inputs[0].shape()}}}, inputs);
    EST_EXPECT_OK(result);
    return (*result)[0];
  };
  const DType bf16 = DType::kBfloat16, f32 = DType::kFloat32;
  const Array y =
      reference("Relu", {reference("AddV2", {reference("Mul", {x, s}, bf16), b}, bf16)}, bf16);
  const Array z = reference("Mul", {reference("Cast", {y}, f32), w}, f32);
  const Array narrow = reference("Cast", {z}, bf16);

  const KernelSpec spec{
      .op = "_FusedElementwise",
      .name = "chain",
      // Inputs 0 to 3: x, s, b, w. Results 4 to 9.
      .attrs = {{"ops", std::vector<std::string>{"Mul", "AddV2", "Relu", "Cast", "Mul", "Cast"}},
                {"args",
                 std::vector<int64_t>{0, 1, -1, 4, 2, -1, 5, -1, -1, 6, -1, -1, 7, 3, -1,  //
                                      8, -1, -1}},
                {"outputs", std::vector<int64_t>{6, 8, 9}}},
      .outputs = {Bf16(shape), F32(shape), Bf16(shape)}};
  const std::vector<Array> inputs = {x, s, b, w};
  const auto result = RunKernel(spec, inputs, KernelTier::kFused);
  EST_ASSERT_OK(result);
  EXPECT_TRUE(SameBits((*result)[0], y));
  EXPECT_TRUE(SameBits((*result)[1], z));
  EXPECT_TRUE(SameBits((*result)[2], narrow));
  EXPECT_TRUE(IsOwn(spec, inputs, KernelTier::kFused));

  // In place: each output may use the buffer of an input of its dtype.
  const auto kernel = CreateKernel(CompleteSpec(spec, inputs), KernelTier::kFused);
  EST_ASSERT_OK(kernel);
  std::vector<Array> buffers = {x.Clone(), s, b.Clone(), w.Clone()}, outputs;
  std::vector<const void*> in;
  std::vector<void*> out;
  for (int o = 0; o < 3; ++o) {
    const int alias = (*kernel)->AliasInput(o);
    ASSERT_GE(alias, 0) << "output " << o;
    EXPECT_EQ(buffers[static_cast<size_t>(alias)].dtype(),
              spec.outputs[static_cast<size_t>(o)].dtype);
    outputs.push_back(buffers[static_cast<size_t>(alias)]);
  }
  for (const Array& buffer : buffers) in.push_back(buffer.raw());
  for (Array& output : outputs) out.push_back(output.raw());
  Array scratch(DType::kUint8, Shape{static_cast<int64_t>((*kernel)->scratch_bytes())});
  EST_ASSERT_OK(
      (*kernel)->Run({.inputs = in, .outputs = out, .scratch = scratch.raw(), .step = {}}));
  EXPECT_TRUE(SameBits(outputs[0], y));
  EXPECT_TRUE(SameBits(outputs[1], z));
  EXPECT_TRUE(SameBits(outputs[2], narrow));
}

TEST(Bfloat16Kernels, AChainWithMixedOperandsIsRefused) {
  const KernelSpec spec{.op = "_FusedElementwise",
                        .name = "chain",
                        .attrs = {{"ops", std::vector<std::string>{"AddV2"}},
                                  {"args", std::vector<int64_t>{0, 1, -1}},
                                  {"outputs", std::vector<int64_t>{2}}},
                        .outputs = {F32({4})}};
  EXPECT_FALSE(IsOwn(spec, {Narrow({4}, 1), RandomArray({4}, 2)}, KernelTier::kFused));
}

TEST(Bfloat16Kernels, BiasesAreAddedAndSummed) {
  const Attrs nhwc = {{"data_format", std::string("NHWC")}};
  const Shape shape{7, 9, 11, 33};
  ExpectOwnAndEqual({.op = "BiasAdd", .attrs = nhwc, .outputs = {Bf16(shape)}},
                    {Narrow(shape, 1), Narrow({33}, 2)});
  ExpectOwnAndEqual({.op = "BiasAddGrad", .attrs = nhwc, .outputs = {Bf16({33})}},
                    {Narrow(shape, 1)}, {.relative = 1.0 / 128, .absolute = 1e-4});
  // In f32, the sum of bf16 numbers is not rounded to bf16.
  const Array x = Narrow(shape, 1);
  const KernelSpec sum{.op = "BiasAddGrad", .name = "g", .attrs = nhwc, .outputs = {F32({33})}};
  const auto actual = RunKernel(sum, {x}, KernelTier::kFused);
  const auto expected = RunReferenceKernel(sum, {x.Cast(DType::kFloat32)});
  EST_ASSERT_OK(actual);
  EST_ASSERT_OK(expected);
  const Difference difference =
      Compare((*actual)[0], (*expected)[0], {.relative = 1e-6, .absolute = 2e-5});
  EXPECT_TRUE(difference.equal) << difference.report;
}

// The reference wrote 16-bit numbers into the f32 result.
TEST(Bfloat16Kernels, TheReferenceOfAFilterGradientHasAnUnroundedResultInF32) {
  const Shape image{2, 5, 6, 3}, filter{3, 3, 3, 4}, gradient{2, 5, 6, 4};
  const Attrs attrs = ConvAttrs();
  const auto spec = [&](DType dtype) {
    return KernelSpec{
        .op = "Conv2DBackpropFilter", .name = "df", .attrs = attrs, .outputs = {{dtype, filter}}};
  };
  const Array x = Narrow(image, 1), sizes = Array::Of<int32_t>({4}, {3, 3, 3, 4}),
              dy = Narrow(gradient, 2);
  const auto mixed = RunReferenceKernel(spec(DType::kFloat32), {x, sizes, dy});
  const auto f32 = RunReferenceKernel(spec(DType::kFloat32),
                                      {x.Cast(DType::kFloat32), sizes, dy.Cast(DType::kFloat32)});
  const auto bf16 = RunReferenceKernel(spec(DType::kBfloat16), {x, sizes, dy});
  EST_ASSERT_OK(mixed);
  EST_ASSERT_OK(f32);
  EST_ASSERT_OK(bf16);
  ASSERT_EQ((*mixed)[0].dtype(), DType::kFloat32);
  const Difference unrounded = Compare((*mixed)[0], (*f32)[0], {});
  EXPECT_TRUE(unrounded.equal) << unrounded.report;
  const Difference rounded = Compare((*mixed)[0].Cast(DType::kBfloat16), (*bf16)[0], {});
  EXPECT_TRUE(rounded.equal) << rounded.report;
  // Other pairs of types have no kernel.
  EXPECT_FALSE(RunReferenceKernel(spec(DType::kBfloat16),
                                  {x.Cast(DType::kFloat32), sizes, dy.Cast(DType::kFloat32)})
                   .ok());
}

TEST(Bfloat16Kernels, MaxPoolsKeepTheirNumbersAndSendGradientsToTheMaxima) {
  for (const int64_t size : {2, 3}) {
    const Attrs window = PoolWindow(size);
    const Shape shape{3, 12, 10, 17}, pooled{3, 6, 5, 17};
    const Array x = Narrow(shape, 1), dy = Narrow(pooled, 2);
    const KernelSpec forward{.op = "MaxPool", .attrs = window, .outputs = {Bf16(pooled)}};
    ExpectOwnAndEqual(forward, {x});
    KernelSpec named = forward;
    named.name = "p";
    const auto y = RunReferenceKernel(named, {x});
    EST_ASSERT_OK(y);
    // Where windows overlap, up to four gradients are added; the sum is rounded once.
    ExpectOwnAndEqual({.op = "MaxPoolGrad", .attrs = window, .outputs = {Bf16(shape)}},
                      {x, (*y)[0], dy}, {.relative = 1.0 / 128, .absolute = 1.0 / 128});
  }
}

TEST(Bfloat16Kernels, BatchNormalizationHasFloat32Statistics) {
  // 19 channels do not fill vectors, 16 are a block.
  for (const int64_t c : {19, 16}) {
    const Shape shape{6, 9, 10, c}, channels{c};
    const Attrs attrs = {{"epsilon", 1e-3f},
                         {"is_training", true},
                         {"exponential_avg_factor", 1.0f},
                         {"data_format", std::string("NHWC")}};
    // y is rounded to 2^-9 of its size, which is at most 4.
    const Tolerance rounded{.relative = 1.0 / 128, .absolute = 1e-4};
    const std::vector<Array> inputs = {Narrow(shape, 1, 2, 5), RandomArray(channels, 2),
                                       RandomArray(channels, 3), RandomArray(channels, 4, 3, 4),
                                       RandomArray(channels, 5, 0.5f, 1)};
    ExpectOwnAndEqual({.op = "FusedBatchNormV3",
                       .attrs = attrs,
                       .outputs = {Bf16(shape), F32(channels), F32(channels), F32(channels),
                                   F32(channels), F32({0})}},
                      inputs, rounded, /*num_outputs=*/5);
    ExpectOwnAndEqual(
        {.op = "FusedBatchNormGradV3",
         .attrs = attrs,
         .outputs = {Bf16(shape), F32(channels), F32(channels), F32({0}), F32({0})}},
        {Narrow(shape, 6), inputs[0], inputs[1], inputs[3], inputs[4], RandomArray(channels, 7)},
        {.relative = 1.0 / 128, .absolute = 1e-3}, /*num_outputs=*/3);
  }
}

TEST(Bfloat16Kernels, MovesAreExact) {
  const Array x = Narrow({3, 37, 5, 16}, 1);
  ExpectOwnAndEqual({.op = "Transpose", .outputs = {Bf16({3, 5, 37, 16})}},
                    {x, Array::Of<int32_t>({4}, {0, 2, 1, 3})});
  ExpectOwnAndEqual({.op = "Transpose", .outputs = {Bf16({16, 5, 37, 3})}},
                    {x, Array::Of<int32_t>({4}, {3, 2, 1, 0})});
}

TEST(Bfloat16Kernels, OpsWithoutAKernelOfTheirOwnAreWidened) {
  const Shape shape{40, 50};
  const Array x = Narrow(shape, 1, -3, 3);
  EXPECT_MATCHES_REFERENCE({.op = "Softmax", .outputs = {Bf16(shape)}}, {x}, KernelTier::kFused,
                           kUnit);
  EXPECT_MATCHES_REFERENCE({.op = "Sum", .attrs = {{"keep_dims", false}}, .outputs = {Bf16({50})}},
                           {x, Array::Of<int32_t>({1}, {0})}, KernelTier::kFused,
                           {.relative = 1.0 / 128, .absolute = 1e-5});
  EXPECT_MATCHES_REFERENCE({.op = "AddV2", .outputs = {Bf16(shape)}}, {x, Narrow({50}, 2)},
                           KernelTier::kFused, {});
}

TEST(Bfloat16Kernels, ProductsSumInFloat32) {
  const Attrs flags = {{"transpose_a", false}, {"transpose_b", true}};
  const Array a = Narrow({70, 300}, 1), b = Narrow({50, 300}, 2);
  // The sums differ by 1e-5 at most; near a rounding boundary this is one unit of a result of 10.
  EXPECT_MATCHES_REFERENCE({.op = "MatMul", .attrs = flags, .outputs = {Bf16({70, 50})}}, {a, b},
                           KernelTier::kOneDnn, {.relative = 1.0 / 128, .absolute = 1e-4});
  EXPECT_MATCHES_REFERENCE({.op = "BatchMatMulV2",
                            .attrs = {{"adj_x", false}, {"adj_y", true}},
                            .outputs = {Bf16({2, 35, 25})}},
                           {Narrow({2, 35, 300}, 3), Narrow({2, 25, 300}, 4)}, KernelTier::kOneDnn,
                           {.relative = 1.0 / 128, .absolute = 1e-4});
  // The result in f32 is that of the same numbers in f32.
  for (const char* op : {"MatMul", "_FusedMatMul"}) {
    KernelSpec spec{.op = op, .name = op, .attrs = flags, .outputs = {F32({70, 50})}};
    std::vector<Array> inputs = {a, b};
    if (spec.op == "_FusedMatMul") {
      spec.attrs.Set("fused_ops", std::vector<std::string>{"BiasAdd"});
      inputs.push_back(Array(DType::kFloat32, Shape{50}));
    }
    const auto narrow = RunKernel(spec, inputs, KernelTier::kOneDnn);
    EST_ASSERT_OK(narrow);
    const auto wide = RunReferenceKernel(
        {.op = "MatMul", .name = "m", .attrs = flags, .outputs = {F32({70, 50})}},
        {a.Cast(DType::kFloat32), b.Cast(DType::kFloat32)});
    EST_ASSERT_OK(wide);
    const Difference difference =
        Compare((*narrow)[0], (*wide)[0], {.relative = 1e-5, .absolute = 1e-4});
    EXPECT_TRUE(difference.equal) << op << ": " << difference.report;
  }
}

TEST(Bfloat16Kernels, TheGradientOfAFilterCanBeFloat32) {
  const Attrs attrs = ConvAttrs();
  const Array x = Narrow({4, 12, 12, 32}, 1), dy = Narrow({4, 12, 12, 16}, 2),
              sizes = Array::Of<int32_t>({4}, {3, 3, 32, 16});
  const KernelSpec spec{
      .op = "Conv2DBackpropFilter", .name = "dw", .attrs = attrs, .outputs = {F32({3, 3, 32, 16})}};
  const auto narrow = RunKernel(spec, {x, sizes, dy}, KernelTier::kOneDnn);
  const auto wide =
      RunReferenceKernel(spec, {x.Cast(DType::kFloat32), sizes, dy.Cast(DType::kFloat32)});
  EST_ASSERT_OK(narrow);
  EST_ASSERT_OK(wide);
  const Difference difference =
      Compare((*narrow)[0], (*wide)[0], {.relative = 1e-5, .absolute = 2e-4});
  EXPECT_TRUE(difference.equal) << difference.report;
}

}  // namespace
}  // namespace estimator
