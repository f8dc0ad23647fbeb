#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/kernels/testing/tiers.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

// Sums of a few thousand terms, in runs of f32, against sums in f64; results of the size of 1.
constexpr Tolerance kSums{.relative = 2e-5, .absolute = 2e-5};

TensorSpec F32(const Shape& shape) { return {DType::kFloat32, shape}; }

Attrs BatchNormAttrs(bool is_training, float factor = 1.0f) {
  return {{"epsilon", 1e-3f},
          {"is_training", is_training},
          {"exponential_avg_factor", factor},
          {"data_format", std::string("NHWC")}};
}

TEST(FusedBatchNorm, ForwardMatchesTheReferenceInTrainingAndInference) {
  const Shape shape{6, 9, 10, 19}, channels{19};
  for (const Attrs& attrs :
       {BatchNormAttrs(true), BatchNormAttrs(true, 0.1f), BatchNormAttrs(false)}) {
    EXPECT_MATCHES_REFERENCE(
        {.op = "FusedBatchNormV3",
         .attrs = attrs,
         .outputs = {F32(shape), F32(channels), F32(channels), F32(channels), F32(channels),
                     F32({0})}},
        {RandomArray(shape, 1, 2, 5), RandomArray(channels, 2), RandomArray(channels, 3),
         RandomArray(channels, 4, 3, 4), RandomArray(channels, 5, 0.5f, 1)},
        KernelTier::kFused, kSums, /*outputs=*/5);
  }
}

TEST(FusedBatchNorm, ALargeMeanCostsNoAccuracy) {
  const Shape shape{512, 8}, channels{8};
  // y is of the size of 1, x - mean is exact to 1e-4 of its own size at a mean of 1000.
  EXPECT_MATCHES_REFERENCE(
      {.op = "FusedBatchNormV3",
       .attrs = BatchNormAttrs(true),
       .outputs = {F32(shape), F32(channels), F32(channels), F32(channels), F32(channels),
                   F32({0})}},
      {RandomArray(shape, 1, 999, 1001), RandomArray(channels, 2, 1, 2), RandomArray(channels, 3),
       Array(DType::kFloat32, {8}), Array(DType::kFloat32, {8})},
      KernelTier::kFused, {.relative = 5e-4, .absolute = 5e-4}, /*outputs=*/5);
}

TEST(FusedBatchNorm, GradientMatchesTheReferenceInTrainingAndInference) {
  const Shape shape{6, 9, 10, 19}, channels{19};
  for (const bool is_training : {true, false}) {
    // d_scale is a sum of 540 terms of up to 3: its error is 1e-4 at most.
    EXPECT_MATCHES_REFERENCE(
        {.op = "FusedBatchNormGradV3",
         .attrs = BatchNormAttrs(is_training),
         .outputs = {F32(shape), F32(channels), F32(channels), F32({0}), F32({0})}},
        {RandomArray(shape, 1), RandomArray(shape, 2, 2, 5), RandomArray(channels, 3),
         RandomArray(channels, 4, 3, 4), RandomArray(channels, 5, 0.5f, 1),
         RandomArray(channels, 6)},
        KernelTier::kFused, {.relative = 2e-5, .absolute = 1e-4}, /*outputs=*/3);
  }
}

// The block of batch norm, shortcut and activation, forward and backward, by the plain reference
// ops.
struct Block {
  Shape shape;
  Shape channels;
  std::string activation = "Relu";
  std::vector<Array> forward = {};   // inputs of _FusedBatchNormEx
  std::vector<Array> backward = {};  // inputs of _FusedBatchNormGradEx
  std::vector<Array> y = {}, gradients = {};

  KernelSpec Spec(const char* op, bool is_training, bool side, std::vector<Shape> outputs) const {
    KernelSpec spec{.op = op, .name = op, .attrs = BatchNormAttrs(is_training)};
    spec.attrs.Set("activation_mode", activation);
    spec.attrs.Set("num_side_inputs", int64_t{side ? 1 : 0});
    for (const Shape& output : outputs) spec.outputs.push_back(F32(output));
    return spec;
  }
  KernelSpec ForwardSpec(bool is_training, bool side) const {
    return Spec("_FusedBatchNormEx", is_training, side,
                {shape, channels, channels, channels, channels, {0}});
  }
  KernelSpec BackwardSpec(bool is_training, bool side) const {
    std::vector<Shape> outputs = {shape, channels, channels, {0}, {0}};
    if (side) outputs.push_back(shape);
    return Spec("_FusedBatchNormGradEx", is_training, side, outputs);
  }
};

Array Run(const KernelSpec& spec, const std::vector<Array>& inputs, size_t output = 0) {
  const auto result = RunReferenceKernel(spec, inputs);
  EST_EXPECT_OK(result);
  return (*result)[output];
}

// What the images of a block are like.
struct Images {
  bool bfloat16 = false;  // their numbers are those of bf16
  int64_t nan_at = -1;    // x has a NaN in this element
  std::string activation = "Relu";
  bool round_y = false;  // the gradient is that of y, rounded to bf16
};

Block MakeBlock(bool is_training, bool side, const Shape& shape = {4, 5, 6, 32},
                const Images& images = {}) {
  Block b{.shape = shape, .channels = {shape[3]}, .activation = images.activation};
  const auto image = [&](uint64_t seed, float low = -1, float high = 1) {
    const Array array = RandomArray(b.shape, seed, low, high);
    return images.bfloat16 ? array.Cast(DType::kBfloat16).Cast(DType::kFloat32) : array;
  };
  const bool is_relu6 = b.activation == "Relu6";  // y before it is from -4 to 10
  b.forward = {image(1, 2, 5),
               is_relu6 ? RandomArray(b.channels, 2, -4, 4) : RandomArray(b.channels, 2),
               is_relu6 ? RandomArray(b.channels, 3, 2, 4) : RandomArray(b.channels, 3),
               RandomArray(b.channels, 4, 3, 4), RandomArray(b.channels, 5, 0.5f, 1)};
  if (images.nan_at >= 0) b.forward[0].data<float>()[images.nan_at] = std::nanf("");
  KernelSpec norm{.op = "FusedBatchNormV3", .name = "n", .attrs = BatchNormAttrs(is_training)};
  for (const Shape& s : {b.shape, b.channels, b.channels, b.channels, b.channels, Shape{0}})
    norm.outputs.push_back(F32(s));
  b.y = *RunReferenceKernel(norm, b.forward);
  const KernelSpec add{.op = "AddV2", .name = "a", .outputs = {F32(b.shape)}};
  const KernelSpec relu{.op = b.activation, .name = "r", .outputs = {F32(b.shape)}};
  const KernelSpec relu_grad{.op = b.activation + "Grad", .name = "rg", .outputs = {F32(b.shape)}};
  if (side) {
    b.forward.push_back(image(6));
    b.y[0] = Run(add, {b.y[0], b.forward[5]});
  }
  b.y[0] = Run(relu, {b.y[0]});
  const Array y = images.round_y ? b.y[0].Cast(DType::kBfloat16).Cast(DType::kFloat32) : b.y[0];
  const Array dy = image(7), gradient = Run(relu_grad, {dy, y});
  b.backward = {dy, b.forward[0], b.forward[1], b.y[3], b.y[4], b.y[5], b.forward[2], y};
  KernelSpec norm_grad{
      .op = "FusedBatchNormGradV3", .name = "g", .attrs = BatchNormAttrs(is_training)};
  for (const Shape& s : {b.shape, b.channels, b.channels, Shape{0}, Shape{0}})
    norm_grad.outputs.push_back(F32(s));
  b.gradients = *RunReferenceKernel(
      norm_grad, {gradient, b.backward[1], b.backward[2], b.y[3], b.y[4], b.y[5]});
  if (side) b.gradients.push_back(gradient);
  return b;
}

TEST(FusedBatchNorm, BlocksWithShortcutAndReluMatchThePlainOpsInEitherLayout) {
  for (const bool is_training : {true, false}) {
    for (const bool side : {false, true}) {
      // 105 rows, which neither tiles of 2 rows nor of 4 divide.
      const Block b = MakeBlock(is_training, side, {3, 5, 7, 32});
      const KernelSpec forward = b.ForwardSpec(is_training, side),
                       backward = b.BackwardSpec(is_training, side);
      const auto y = RunKernel(forward, b.forward, KernelTier::kFused);
      const auto gradients = RunKernel(backward, b.backward, KernelTier::kFused);
      EST_ASSERT_OK(y);
      EST_ASSERT_OK(gradients);
      for (size_t o = 0; o < b.y.size(); ++o)
        EXPECT_TRUE(Compare((*y)[o], b.y[o], kSums).equal) << "output " << o;
      const Tolerance sums{.relative = 2e-5, .absolute = 1e-4};
      for (size_t o = 0; o < b.gradients.size(); ++o)
        EXPECT_TRUE(Compare((*gradients)[o], b.gradients[o], sums).equal) << "gradient " << o;

      const std::vector<size_t> dx = side ? std::vector<size_t>{0, 5} : std::vector<size_t>{0};
      const std::vector<size_t> x = side ? std::vector<size_t>{0, 5} : std::vector<size_t>{0};
      for (const int64_t block : {8, 16}) {
        EXPECT_EQ(
            DifferenceInBlocks(forward, b.forward, b.y, x, {0}, block, KernelTier::kFused, kSums),
            "");
        EXPECT_EQ(DifferenceInBlocks(backward, b.backward, b.gradients, {0, 1, 7}, dx, block,
                                     KernelTier::kFused, sums),
                  "");
      }
    }
  }
}

// Runs both ops on images of a dtype and compares them with the plain ops, whose images are f32.
// Returns what differs. The same kernels give the same bits a second time.
std::string DifferenceFromPlainOps(const Block& b, bool is_training, bool side, DType dtype) {
  KernelSpec forward = b.ForwardSpec(is_training, side),
             backward = b.BackwardSpec(is_training, side);
  std::vector<Array> inputs = b.forward, grad_inputs = b.backward;
  const auto narrow = [&](Array& array) { array = array.Cast(dtype); };
  for (const size_t i : {0, 5}) {
    if (i < inputs.size()) narrow(inputs[i]);
    if (i < backward.outputs.size()) backward.outputs[i].dtype = dtype;
  }
  for (const size_t i : {0, 1, 7}) narrow(grad_inputs[i]);
  forward.outputs[0].dtype = dtype;
  // Results in bf16 are rounded to 2^-9 of their size, once.
  const bool rounded = dtype == DType::kBfloat16;
  const Tolerance sums{.relative = 2e-5, .absolute = 1e-4};
  const Tolerance images = rounded ? Tolerance{.relative = 1.0 / 256, .absolute = 1e-4} : sums;
  struct Case {
    KernelSpec spec;
    std::vector<Array> inputs, expected;
  };
  for (const Case& c : {Case{forward, inputs, b.y}, Case{backward, grad_inputs, b.gradients}}) {
    const auto actual = RunKernel(c.spec, c.inputs, KernelTier::kFused);
    const auto again = RunKernel(c.spec, c.inputs, KernelTier::kFused);
    if (!actual.ok() || !again.ok()) return actual.status().ToString();
    for (size_t o = 0; o < c.expected.size(); ++o) {
      const std::string what =
          absl::StrCat(c.spec.op, " ", b.shape.ToString(), " output ", o, ": ");
      if (!SameBits((*actual)[o], (*again)[o])) return what + "differs from run to run";
      const Array wide = (*actual)[o].Cast(DType::kFloat32);
      const Difference d = Compare(wide, c.expected[o], wide.shape() == b.shape ? images : sums);
      if (!d.equal) return what + d.report;
    }
  }
  return "";
}

// Rows of fewer than 32 channels and wider ones, with and without channels that fill no vector.
TEST(FusedBatchNorm, AnyNumberOfChannelsAndRowsMatchesThePlainOps) {
  for (const int64_t channels : {1, 3, 16, 19, 32, 37, 64, 131}) {
    for (const Shape& shape : {Shape{1, 1, 1, channels}, Shape{1, 1, 2, channels},
                               Shape{1, 67, 1, channels}, Shape{3, 5, 7, channels}}) {
      for (const bool is_training : {true, false}) {
        for (const bool side : {false, true}) {
          const Block b = MakeBlock(is_training, side, shape, {.bfloat16 = true});
          for (const DType dtype : {DType::kFloat32, DType::kBfloat16})
            EXPECT_EQ(DifferenceFromPlainOps(b, is_training, side, dtype), "");
        }
      }
    }
  }
}

TEST(FusedBatchNorm, ANanStaysInItsChannel) {
  for (const int64_t channels : {19, 64}) {
    for (const bool is_training : {true, false}) {
      for (const bool side : {false, true}) {
        // In the last channel, which no whole vector of 19 channels has.
        const Block b = MakeBlock(is_training, side, {2, 3, 5, channels},
                                  {.bfloat16 = true, .nan_at = 8 * channels - 1});
        const float* const y = b.y[0].data<float>();
        ASSERT_TRUE(std::isnan(y[8 * channels - 1]));
        ASSERT_EQ(std::isnan(y[channels - 1]), is_training);
        ASSERT_FALSE(std::isnan(y[8 * channels - 2]));
        for (const DType dtype : {DType::kFloat32, DType::kBfloat16})
          EXPECT_EQ(DifferenceFromPlainOps(b, is_training, side, dtype), "");
      }
    }
  }
}

TEST(FusedBatchNorm, Relu6MatchesThePlainOps) {
  for (const int64_t channels : {3, 16, 19, 64}) {
    for (const bool is_training : {true, false}) {
      for (const bool side : {false, true}) {
        for (const DType dtype : {DType::kFloat32, DType::kBfloat16}) {
          Images images{
              .bfloat16 = true, .activation = "Relu6", .round_y = dtype == DType::kBfloat16};
          const Block b = MakeBlock(is_training, side, {3, 15, 7, channels}, images);
          const auto y = b.y[0].values<float>();
          EXPECT_GT(std::count(y.begin(), y.end(), 0.0f), 0);
          EXPECT_GT(std::count(y.begin(), y.end(), 6.0f), 0);
          EXPECT_EQ(DifferenceFromPlainOps(b, is_training, side, dtype), "");
          images.nan_at = 8 * channels - 1;
          EXPECT_EQ(
              DifferenceFromPlainOps(MakeBlock(is_training, side, {3, 15, 7, channels}, images),
                                     is_training, side, dtype),
              "");
        }
      }
    }
  }
}

TEST(FusedBatchNorm, Relu6InBlocksMatchesThePlainOps) {
  const Tolerance sums{.relative = 2e-5, .absolute = 3e-4};
  for (const bool side : {false, true}) {
    const Block b = MakeBlock(true, side, {3, 5, 7, 32}, {.activation = "Relu6"});
    const std::vector<size_t> images = side ? std::vector<size_t>{0, 5} : std::vector<size_t>{0};
    EXPECT_EQ(DifferenceInBlocks(b.ForwardSpec(true, side), b.forward, b.y, images, {0}, 16,
                                 KernelTier::kFused, kSums, /*num_outputs=*/5),
              "");
    EXPECT_EQ(DifferenceInBlocks(b.BackwardSpec(true, side), b.backward, b.gradients, {0, 1, 7},
                                 images, 16, KernelTier::kFused, sums),
              "");
  }
}

TEST(FusedBatchNorm, AnUnknownActivationIsRefused) {
  Block b = MakeBlock(true, false);
  b.activation = "Tanh";
  EXPECT_FALSE(RunKernel(b.ForwardSpec(true, false), b.forward, KernelTier::kFused).ok());
  EXPECT_FALSE(RunKernel(b.BackwardSpec(true, false), b.backward, KernelTier::kFused).ok());
}

TEST(FusedBatchNorm, AnyNumberOfThreadsMatchesThePlainOps) {
  const Block b = MakeBlock(true, true, {3, 41, 40, 35}, {.bfloat16 = true});
  const int before = omp_get_max_threads();
  // tsan does not know the barriers of OpenMP, so its tests have one thread.
  if (before == 1) GTEST_SKIP() << "OMP_NUM_THREADS is 1";
  for (const int threads : {1, 2, 3, 7}) {
    omp_set_num_threads(threads);
    for (const DType dtype : {DType::kFloat32, DType::kBfloat16})
      EXPECT_EQ(DifferenceFromPlainOps(b, true, true, dtype), "") << threads << " threads";
  }
  omp_set_num_threads(before);
}

// Several threads: 4 blocks of 16 channels can be shared out evenly over 2 threads, 3 cannot.
TEST(FusedBatchNorm, LargeImagesInBlocksMatchThePlainOps) {
  const Tolerance sums{.relative = 2e-5, .absolute = 3e-4};
  for (const int64_t channels : {16, 48, 64}) {
    const Block b = MakeBlock(true, true, {3, 21, 20, channels});
    EXPECT_EQ(DifferenceInBlocks(b.ForwardSpec(true, true), b.forward, b.y, {0, 5}, {0}, 16,
                                 KernelTier::kFused, kSums, /*num_outputs=*/5),
              "");
    EXPECT_EQ(DifferenceInBlocks(b.BackwardSpec(true, true), b.backward, b.gradients, {0, 1, 7},
                                 {0, 5}, 16, KernelTier::kFused, sums),
              "");
  }
}

TEST(FusedBatchNorm, AnOutputMayOverwriteItsInput) {
  const Block b = MakeBlock(true, true);
  struct Case {
    KernelSpec spec;
    std::vector<Array> inputs;
  };
  for (const Case& c :
       {Case{b.ForwardSpec(true, true), b.forward}, Case{b.BackwardSpec(true, true), b.backward}}) {
    const auto expected = RunKernel(c.spec, c.inputs, KernelTier::kFused);
    EST_ASSERT_OK(expected);
    const auto kernel = CreateKernel(CompleteSpec(c.spec, c.inputs), KernelTier::kFused);
    EST_ASSERT_OK(kernel);
    const int alias = (*kernel)->AliasInput(0);
    ASSERT_GE(alias, 0);
    std::vector<Array> inputs = c.inputs, outputs;
    inputs[static_cast<size_t>(alias)] = inputs[static_cast<size_t>(alias)].Clone();
    std::vector<const void*> in;
    std::vector<void*> out;
    for (const Array& input : inputs) in.push_back(input.raw());
    for (const TensorSpec& output : c.spec.outputs)
      outputs.emplace_back(output.dtype, output.shape);
    outputs[0] = inputs[static_cast<size_t>(alias)];
    for (Array& output : outputs) out.push_back(output.raw());
    Array scratch(DType::kUint8, {static_cast<int64_t>((*kernel)->scratch_bytes())});
    EST_ASSERT_OK(
        (*kernel)->Run({.inputs = in, .outputs = out, .scratch = scratch.raw(), .step = {}}));
    for (size_t o = 0; o < outputs.size(); ++o)
      EXPECT_TRUE(SameBits(outputs[o], (*expected)[o])) << c.spec.op << " output " << o;
  }
}

}  // namespace
}  // namespace estimator
