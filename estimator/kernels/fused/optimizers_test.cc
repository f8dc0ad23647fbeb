#include <vector>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/kernels/testing/tiers.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

constexpr int64_t kSize = 30011;
// The compiler contracts some products and sums into one rounding, in one tier and not in the
// other.
constexpr Tolerance kContraction{.relative = 2e-6, .absolute = 1e-7};

Array State(uint64_t seed) { return RandomArray({kSize}, seed, 0.1f, 1.0f); }
Array Gradient() { return RandomArray({kSize}, 99); }
Array Number(float value) { return Array::Scalar(value); }

std::vector<TensorSpec> States(size_t n) {
  return std::vector<TensorSpec>(n, {DType::kFloat32, {kSize}});
}

TEST(FusedOptimizers, GradientDescentMatchesTheReference) {
  EXPECT_MATCHES_REFERENCE({.op = "ApplyGradientDescent", .outputs = States(1)},
                           {State(1), Number(0.05f), Gradient()}, KernelTier::kFused, kContraction);
}

TEST(FusedOptimizers, MomentumMatchesTheReferencePlainAndNesterov) {
  for (const bool nesterov : {false, true}) {
    EXPECT_MATCHES_REFERENCE(
        {.op = "ApplyMomentum", .attrs = {{"use_nesterov", nesterov}}, .outputs = States(2)},
        {State(1), State(2), Number(0.05f), Gradient(), Number(0.9f)}, KernelTier::kFused,
        kContraction);
  }
}

TEST(FusedOptimizers, AdamMatchesTheReferencePlainAndNesterov) {
  for (const bool nesterov : {false, true}) {
    EXPECT_MATCHES_REFERENCE(
        {.op = "ApplyAdam", .attrs = {{"use_nesterov", nesterov}}, .outputs = States(3)},
        {State(1), State(2), State(3), Number(0.729f), Number(0.997f), Number(0.001f), Number(0.9f),
         Number(0.999f), Number(1e-8f), Gradient()},
        KernelTier::kFused, kContraction);
  }
}

TEST(FusedOptimizers, RmsPropMatchesTheReference) {
  EXPECT_MATCHES_REFERENCE({.op = "ApplyRMSProp", .outputs = States(3)},
                           {State(1), State(2), State(3), Number(0.01f), Number(0.9f), Number(0.8f),
                            Number(1e-10f), Gradient()},
                           KernelTier::kFused, kContraction);
}

TEST(FusedOptimizers, AdagradMatchesTheReferenceWithAndWithoutSlotUpdate) {
  for (const bool update : {false, true}) {
    EXPECT_MATCHES_REFERENCE(
        {.op = "ApplyAdagrad", .attrs = {{"update_slots", update}}, .outputs = States(2)},
        {State(1), State(2), Number(0.01f), Gradient()}, KernelTier::kFused, kContraction);
  }
}

TEST(FusedOptimizers, UpdatesInPlaceGiveTheSameBits) {
  const std::vector<Array> inputs = {State(1), State(2), Number(0.05f), Gradient(), Number(0.9f)};
  const KernelSpec spec = CompleteSpec(
      {.op = "ApplyMomentum", .attrs = {{"use_nesterov", false}}, .outputs = States(2)}, inputs);
  const auto expected = RunKernel(spec, inputs, KernelTier::kFused);
  const auto kernel = CreateKernel(spec, KernelTier::kFused);
  EST_ASSERT_OK(expected);
  EST_ASSERT_OK(kernel);
  Array var = inputs[0].Clone(), accum = inputs[1].Clone();
  EXPECT_EQ((*kernel)->AliasInput(0), 0);
  EXPECT_EQ((*kernel)->AliasInput(1), 1);
  const std::vector<const void*> in = {var.raw(), accum.raw(), inputs[2].raw(), inputs[3].raw(),
                                       inputs[4].raw()};
  const std::vector<void*> out = {var.raw(), accum.raw()};
  EST_ASSERT_OK((*kernel)->Run({.inputs = in, .outputs = out, .scratch = nullptr, .step = {}}));
  EXPECT_TRUE(SameBits(var, (*expected)[0]));
  EXPECT_TRUE(SameBits(accum, (*expected)[1]));
}

}  // namespace
}  // namespace estimator
