#include <vector>

#include "estimator/kernels/fused/tier_testing.h"
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

}  // namespace
}  // namespace estimator
