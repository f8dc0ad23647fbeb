#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "estimator/base/cpu/cpu_isa.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/kernels/conv_block.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/layout.h"
#include "estimator/kernels/testing/tiers.h"
#include "estimator/kernels/window.h"
#include "estimator/kernels/winograd/winograd.h"
#include "hwy/highway.h"

namespace estimator {
namespace {

// The largest error as a part of the root mean square of the expected values, which
// kernels/winograd promises.
double MostError(const KernelSpec& spec) {
  return spec.compute_dtype == DType::kBfloat16 ? 1e-3 : 1e-4;
}

TensorSpec F32(const Shape& shape) { return {DType::kFloat32, shape}; }

struct Case {
  Shape image, filter;
  std::string padding = "SAME";

  Attrs attrs() const { return ConvAttrs(1, padding); }
  Shape output() const { return MakeConvGeometry(attrs(), image, filter)->output(); }
};

// Every kind of tile: full ones, edges of 1, 2 and 3 outputs on either axis, tiles of several
// images in a block, an odd number of panels. Numbers of channels that are no multiples of vectors.
std::vector<Case> Cases() {
  return {{{3, 14, 14, 32}, {5, 5, 32, 64}},
          {{2, 13, 9, 16}, {5, 5, 16, 48}},
          {{2, 11, 15, 32}, {5, 5, 32, 16}, "VALID"},
          {{3, 14, 14, 64}, {3, 3, 64, 32}},
          {{5, 7, 7, 32}, {3, 3, 32, 64}},
          {{2, 9, 10, 16}, {3, 3, 16, 16}, "VALID"},
          {{1, 8, 12, 48}, {3, 3, 48, 80}},
          {{2, 3, 37, 16}, {3, 3, 16, 32}},  // a row of tiles that is longer than a run
          {{1, 1, 1, 32}, {5, 5, 32, 32}},   // smaller than a tile
          {{2, 13, 9, 3}, {5, 5, 3, 20}},
          {{2, 14, 14, 20}, {5, 5, 20, 50}},
          {{2, 6, 11, 1}, {5, 5, 1, 6}, "VALID"},
          {{1, 8, 5, 50}, {5, 5, 50, 40}},
          {{3, 7, 7, 6}, {3, 3, 6, 17}},
          {{1, 9, 10, 17}, {3, 3, 17, 40}},
          {{2, 8, 12, 40}, {3, 3, 40, 1}},
          {{2, 12, 5, 50}, {3, 3, 50, 3}, "VALID"},
          {{1, 7, 39, 20}, {3, 3, 20, 32}},
          {{1, 6, 6, 16}, {3, 3, 16, 72}}};
}
std::vector<Case> PooledCases() {
  return {{{3, 14, 14, 32}, {5, 5, 32, 64}},
          {{2, 10, 8, 16}, {5, 5, 16, 48}},
          {{2, 10, 12, 32}, {5, 5, 32, 32}, "VALID"},
          {{3, 14, 6, 32}, {3, 3, 32, 32}},  // an odd padding: a window is in two tiles of dx
          {{2, 4, 20, 16}, {3, 3, 16, 80}},
          {{2, 14, 14, 20}, {5, 5, 20, 50}},
          {{2, 10, 8, 6}, {5, 5, 6, 16}},
          {{2, 10, 12, 17}, {3, 3, 17, 40}, "VALID"},
          {{3, 6, 14, 40}, {3, 3, 40, 6}},
          {{3, 28, 28, 1}, {5, 5, 1, 32}},  // first layers
          {{2, 12, 10, 3}, {3, 3, 3, 48}},
          {{2, 11, 9, 2}, {4, 6, 2, 16}, "VALID"},
          {{2, 12, 18, 1}, {5, 5, 1, 6}, "VALID"},
          {{3, 12, 10, 1}, {5, 5, 1, 20}},
          {{2, 6, 10, 2}, {3, 3, 2, 17}},
          {{2, 8, 4, 3}, {3, 3, 3, 50}},
          {{1, 4, 6, 4}, {5, 5, 4, 40}}};
}

// Convolutions whose tiles have 6x6 outputs if the errors of bf16 are small enough. Edges of 1 to 5
// outputs, and rows of tiles that are longer than a run.
std::vector<Case> LargeCases() {
  return {
      {{11, 14, 14, 32}, {5, 5, 32, 64}},         {{16, 13, 11, 16}, {5, 5, 16, 48}},
      {{17, 15, 10, 3}, {5, 5, 3, 20}},           {{5, 16, 45, 6}, {5, 5, 6, 17}, "VALID"},
      {{4, 16, 54, 16}, {5, 5, 16, 16}, "VALID"}, {{1, 46, 46, 7}, {5, 5, 7, 8}},
      {{11, 14, 14, 64}, {5, 5, 64, 64}}};  // all threads add to the same gradient of the filter
}
std::vector<Case> LargePooledCases() {
  return {{{11, 14, 14, 32}, {5, 5, 32, 64}},
          {{22, 10, 10, 20}, {5, 5, 20, 50}},
          {{11, 12, 16, 16}, {5, 5, 16, 48}},
          {{14, 16, 20, 17}, {5, 5, 17, 40}, "VALID"}};
}

// "" if actual is within most_error of expected, as a part of its root mean square.
std::string Distance(const Array& actual, const Array& expected, double most_error) {
  if (actual.dtype() != DType::kFloat32) {
    const Difference difference = Compare(actual, expected, {});
    return difference.equal ? "" : difference.report;
  }
  double squares = 0;
  for (int64_t i = 0; i < expected.num_elements(); ++i) {
    squares += std::pow(static_cast<double>(expected.data<float>()[i]), 2);
  }
  const double rms = std::sqrt(squares / static_cast<double>(expected.num_elements()));
  const Difference difference = Compare(actual, expected, {.absolute = most_error * rms});
  return difference.equal ? "" : difference.report;
}

// Compares the native kernel with `expected`, in NHWC and, if the channels allow it, in blocks of
// 16 channels.
//   images_in, images_out: the operands that are images.
void CheckResult(KernelSpec spec, const std::vector<Array>& inputs,
                 const std::vector<size_t>& images_in, const std::vector<size_t>& images_out,
                 const std::vector<Array>& expected) {
  spec.conv_algorithm = ConvAlgorithm::kWinograd;
  spec.name = spec.op;
  // A first layer's image of one channel is the same in both formats.
  const bool reads_first = spec.attrs.has("pool_ksize") && spec.op != "_Conv2DMaxPoolBackpropInput";
  bool has_blocks = true;
  const auto check_channels = [&](int64_t channels) {
    has_blocks = has_blocks && (channels % 16 == 0 || (channels == 1 && reads_first));
  };
  for (const size_t i : images_in) check_channels(inputs[i].shape()[3]);
  for (const size_t o : images_out) check_channels(spec.outputs[o].shape[3]);
  for (const bool blocked : {false, true}) {
    if (blocked && !has_blocks) continue;
    SCOPED_TRACE(
        absl::StrCat(spec.op, blocked ? " blocked " : " NHWC ", inputs[0].shape().ToString()));
    KernelSpec own = spec;
    std::vector<Array> given = inputs;
    const auto block_of = [](const Shape& shape) { return shape[3] % 16 == 0 ? 16 : 1; };
    if (blocked) {
      for (const size_t i : images_in) given[i] = InBlocks(inputs[i], block_of(inputs[i].shape()));
      for (const size_t o : images_out)
        own.outputs[o].shape = BlockedShape(spec.outputs[o].shape, block_of(spec.outputs[o].shape));
      own.attrs.Set("data_format", std::string(kBlockedFormat));
    }
    const KernelSpec complete = CompleteSpec(own, given);
    ASSERT_EQ(AcceptingTier(complete, KernelTier::kNative), KernelTier::kNative);
    auto actual = RunKernel(own, given, KernelTier::kNative);
    const auto again = RunKernel(own, given, KernelTier::kNative);
    EST_ASSERT_OK(actual);
    EST_ASSERT_OK(again);
    for (size_t o = 0; o < expected.size(); ++o)
      EXPECT_TRUE(SameBits((*actual)[o], (*again)[o])) << "output " << o;
    if (blocked) {
      for (const size_t o : images_out) (*actual)[o] = InBlocks((*actual)[o], 0);
    }
    for (size_t o = 0; o < expected.size(); ++o)
      EXPECT_EQ(Distance((*actual)[o], expected[o], MostError(spec)), "") << "output " << o;
  }
}

// The same with the result of the reference kernel.
void Check(const KernelSpec& spec, const std::vector<Array>& inputs,
           const std::vector<size_t>& images_in, const std::vector<size_t>& images_out) {
  const auto expected = RunReferenceKernel(spec, inputs);
  EST_ASSERT_OK(expected);
  CheckResult(spec, inputs, images_in, images_out, *expected);
}

// convolution + bias + side, with or without relu. side may be empty.
Array Fused(const Array& convolution, const Array& bias, const Array& side, bool relu) {
  Array y = convolution.Clone();
  for (int64_t i = 0; i < y.num_elements(); ++i) {
    float& value = y.data<float>()[i];
    value += bias.data<float>()[i % bias.num_elements()];
    if (side.num_elements() > 0) value += side.data<float>()[i];
    if (relu) value = std::max(value, 0.0f);
  }
  return y;
}

void CheckAll(const std::vector<Case>& cases, const std::vector<Case>& pooled_cases,
              DType compute_dtype) {
  for (const Case& c : cases) {
    const Array x = RandomArray(c.image, 1), filter = RandomArray(c.filter, 2),
                bias = RandomArray({c.filter[3]}, 3), dy = RandomArray(c.output(), 4),
                side = RandomArray(c.output(), 5);
    const auto sizes = [](const Shape& shape) {
      Array values(DType::kInt32, {4});
      for (int i = 0; i < 4; ++i) values.data<int32_t>()[i] = static_cast<int32_t>(shape[i]);
      return values;
    };
    const KernelSpec plain{.op = "Conv2D",
                           .name = "conv",
                           .attrs = c.attrs(),
                           .outputs = {F32(c.output())},
                           .compute_dtype = compute_dtype};
    Check(plain, {x, filter}, {0}, {0});
    const auto convolution = RunReferenceKernel(plain, {x, filter});
    EST_ASSERT_OK(convolution);
    KernelSpec fused = plain;
    fused.op = "_FusedConv2D";
    fused.attrs.Set("fused_ops", std::vector<std::string>{"BiasAdd", "Relu"});
    CheckResult(fused, {x, filter, bias}, {0}, {0},
                {Fused((*convolution)[0], bias, Array(DType::kFloat32, {0}), true)});
    // The shortcut is added before relu.
    CheckResult(fused, {x, filter, bias, side}, {0, 3}, {0},
                {Fused((*convolution)[0], bias, side, true)});
    fused.attrs.Set("fused_ops", std::vector<std::string>{"BiasAdd"});
    CheckResult(fused, {x, filter, bias, side}, {0, 3}, {0},
                {Fused((*convolution)[0], bias, side, false)});
    Check({.op = "Conv2DBackpropInput",
           .attrs = c.attrs(),
           .outputs = {F32(c.image)},
           .compute_dtype = compute_dtype},
          {sizes(c.image), filter, dy}, {2}, {0});
    Check({.op = "Conv2DBackpropFilter",
           .attrs = c.attrs(),
           .outputs = {F32(c.filter)},
           .compute_dtype = compute_dtype},
          {x, sizes(c.filter), dy}, {0, 2}, {});
    Check({.op = "_FusedConv2DBackpropFilter",
           .attrs = c.attrs(),
           .outputs = {F32(c.filter), F32({c.filter[3]})},
           .compute_dtype = compute_dtype},
          {x, dy}, {0, 1}, {});
  }
  for (const Case& c : pooled_cases) {
    const Array x = RandomArray(c.image, 1), filter = RandomArray(c.filter, 2),
                bias = RandomArray({c.filter[3]}, 3);
    const Attrs attrs = WithPool(c.attrs());
    const Shape pooled = MakeConvBlock(attrs, c.image, c.filter)->output();
    const KernelSpec forward{.op = "_FusedConv2DMaxPool",
                             .name = "block",
                             .attrs = attrs,
                             .outputs = {F32(pooled), {DType::kUint8, pooled}},
                             .compute_dtype = compute_dtype};
    Check(forward, {x, filter, bias}, {0}, {0, 1});
    const auto y = RunReferenceKernel(forward, {x, filter, bias});
    EST_ASSERT_OK(y);
    const Array dy = RandomArray(pooled, 4), &argmax = (*y)[1];
    Check({.op = "_Conv2DMaxPoolBackpropFilter",
           .attrs = attrs,
           .outputs = {F32(c.filter), F32({c.filter[3]})},
           .compute_dtype = compute_dtype},
          {x, dy, argmax}, {0, 1, 2}, {});
    if (c.filter[0] != c.filter[1]) continue;  // only the first layer has other filters
    Check({.op = "_Conv2DMaxPoolBackpropInput",
           .attrs = attrs,
           .outputs = {F32(c.image)},
           .compute_dtype = compute_dtype},
          {filter, dy, argmax}, {1, 2}, {0});
  }
}

void CheckAll() {
  CheckAll(Cases(), PooledCases(), DType::kFloat32);
  CheckAll(LargeCases(), LargePooledCases(), DType::kBfloat16);
}

TEST(WinogradKernels, MatchTheReference) { CheckAll(); }

// The kernels choose their vectors at run time; this CPU may have larger ones.
TEST(WinogradKernels, MatchTheReferenceWithAvx2) {
  SetNewestCpuIsaForTest(CpuIsa::kAvx2);
  hwy::SetSupportedTargetsForTest(HWY_AVX2);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  CheckAll();
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  SetNewestCpuIsaForTest(std::nullopt);
}

TEST(WinogradKernels, ApplyNoActivationButRelu) {
  const auto accepts = [](const std::string& activation) {
    Attrs attrs = ConvAttrs(1, "SAME");
    attrs.Set("fused_ops", std::vector<std::string>{"BiasAdd", activation});
    const KernelSpec spec{
        .op = "_FusedConv2D", .name = "conv", .attrs = attrs, .outputs = {F32({2, 14, 14, 64})}};
    return TierAccepts(CompleteSpec(spec, {RandomArray({2, 14, 14, 32}, 1),
                                           RandomArray({5, 5, 32, 64}, 2), RandomArray({64}, 3)}),
                       KernelTier::kNative);
  };
  EXPECT_TRUE(accepts("Relu"));
  EXPECT_FALSE(accepts("Tanh"));
}

// The tiles of 6x6 have larger errors, so f32 must not use them.
TEST(WinogradKernels, HaveLargeTilesOnlyIfTheErrorsOfBfloat16AreSmallEnough) {
  const auto tile = [](int64_t taps, int64_t images, int64_t channels, bool rounds_to_bfloat16) {
    return winograd::FastestTile({.images = images,
                                  .in_rows = 14,
                                  .in_columns = 14,
                                  .in_channels = channels,
                                  .out_rows = 14,
                                  .out_columns = 14,
                                  .out_channels = channels,
                                  .filter_rows = taps,
                                  .filter_columns = taps},
                                 rounds_to_bfloat16);
  };
  EXPECT_EQ(tile(5, 128, 64, true), 6);
  EXPECT_EQ(tile(5, 128, 64, false), 4);
  EXPECT_EQ(tile(3, 128, 64, true), 4);
  EXPECT_EQ(tile(5, 2, 64, true), 4);
  EXPECT_EQ(tile(5, 128, 512, true), 4);
  Convolution many{.images = 128,
                   .in_channels = 257,
                   .out_rows = 14,
                   .out_columns = 14,
                   .out_channels = 8,
                   .filter_rows = 5,
                   .filter_columns = 5};
  EXPECT_EQ(winograd::FastestTile(many, true), 4);
  many.in_channels = 256;
  EXPECT_EQ(winograd::FastestTile(many, true), 6);
  for (const std::vector<Case>& cases : {LargeCases(), LargePooledCases()}) {
    for (const Case& c : cases) {
      const Shape out = c.output();
      EXPECT_EQ(winograd::FastestTile({.images = c.image[0],
                                       .in_channels = c.image[3],
                                       .out_rows = out[1],
                                       .out_columns = out[2],
                                       .out_channels = out[3],
                                       .filter_rows = 5,
                                       .filter_columns = 5},
                                      true),
                6)
          << c.image.ToString();
    }
  }
}

// Other bits show that the kernels ask FastestTile.
TEST(WinogradKernels, TakeLargeTilesForTheErrorsOfBfloat16) {
  const Case c = LargeCases()[1];
  const Array x = RandomArray(c.image, 1), filter = RandomArray(c.filter, 2),
              dy = RandomArray(c.output(), 3);
  Array sizes(DType::kInt32, {4});
  for (int i = 0; i < 4; ++i) sizes.data<int32_t>()[i] = static_cast<int32_t>(c.image[i]);
  const auto same_bits = [](KernelSpec spec, const std::vector<Array>& inputs) {
    spec.conv_algorithm = ConvAlgorithm::kWinograd;
    const auto exact = RunKernel(spec, inputs, KernelTier::kNative);
    spec.compute_dtype = DType::kBfloat16;
    const auto coarse = RunKernel(spec, inputs, KernelTier::kNative);
    EXPECT_TRUE(exact.ok() && coarse.ok());
    return !exact.ok() || !coarse.ok() || SameBits((*exact)[0], (*coarse)[0]);
  };
  EXPECT_FALSE(
      same_bits({.op = "Conv2D", .name = "conv", .attrs = c.attrs(), .outputs = {F32(c.output())}},
                {x, filter}));
  EXPECT_FALSE(same_bits(
      {.op = "Conv2DBackpropInput", .name = "conv", .attrs = c.attrs(), .outputs = {F32(c.image)}},
      {sizes, filter, dy}));
}

TEST(WinogradKernels, AreNotUsedWhereTheDirectAlgorithmIsAskedFor) {
  const Case c = Cases()[0];
  KernelSpec spec{.op = "Conv2D",
                  .name = "conv",
                  .attrs = c.attrs(),
                  .inputs = {F32(c.image), F32(c.filter)},
                  .outputs = {F32(c.output())},
                  .constants = {std::nullopt, std::nullopt}};
  EXPECT_TRUE(Accepts(spec, KernelTier::kNative, KernelTier::kNative));
  spec.conv_algorithm = ConvAlgorithm::kDirect;
  EXPECT_FALSE(Accepts(spec, KernelTier::kNative, KernelTier::kNative));
}

TEST(WinogradKernels, LeaveOtherConvolutionsToOtherTiers) {
  const auto accepts = [](const Case& c, const Attrs& attrs) {
    KernelSpec spec{.op = "Conv2D",
                    .name = "conv",
                    .attrs = attrs,
                    .inputs = {F32(c.image), F32(c.filter)},
                    .outputs = {F32(MakeConvGeometry(attrs, c.image, c.filter)->output())},
                    .constants = {std::nullopt, std::nullopt}};
    spec.conv_algorithm = ConvAlgorithm::kWinograd;
    return Accepts(spec, KernelTier::kNative, KernelTier::kNative);
  };
  const Case good{{2, 8, 8, 32}, {3, 3, 32, 32}};
  EXPECT_TRUE(accepts(good, good.attrs()));
  EXPECT_TRUE(accepts({{2, 8, 8, 1}, {5, 5, 1, 33}}, good.attrs()));
  Attrs stride = good.attrs();
  stride.Set("strides", std::vector<int64_t>{1, 2, 2, 1});
  EXPECT_FALSE(accepts(good, stride));
  Attrs dilated = good.attrs();
  dilated.Set("dilations", std::vector<int64_t>{1, 2, 2, 1});
  EXPECT_FALSE(accepts(good, dilated));
  for (const Case& other :
       {Case{{2, 8, 8, 32}, {1, 1, 32, 32}}, Case{{2, 8, 8, 32}, {3, 5, 32, 32}},
        Case{{2, 8, 8, 64}, {3, 3, 32, 32}}}) {  // the last one has groups
    EXPECT_FALSE(accepts(other, other.attrs())) << other.filter.ToString();
  }
}

}  // namespace
}  // namespace estimator
