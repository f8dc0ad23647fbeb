#include <cstdint>
#include <limits>
#include <vector>

#include "estimator/kernels/testing/tiers.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

struct Case {
  Shape input;
  std::vector<int32_t> axes;
  Shape output;
};

std::vector<Case> Cases() {
  return {{{1024, 33}, {0, 1}, {}},
          {{1024, 33}, {0}, {33}},
          {{1024, 33}, {1}, {1024}},
          {{8, 7, 7, 64}, {1, 2}, {8, 64}},
          {{8, 7, 7, 64}, {-1}, {8, 7, 7}},
          {{200, 100, 3}, {0, 1}, {3}},
          {{100000}, {0}, {}},
          {{5, 6}, {}, {5, 6}}};
}

Array Axes(const std::vector<int32_t>& axes) {
  return Array::FromSpan<int32_t>({static_cast<int64_t>(axes.size())}, axes);
}

// f32 runs of at most 1024 terms below 1, totals in f64.
constexpr Tolerance kSums{.relative = 2e-6, .absolute = 1e-4};

TEST(FusedReduction, SumAndMeanMatchTheReference) {
  for (const Case& c : Cases()) {
    for (const char* op : {"Sum", "Mean"}) {
      SCOPED_TRACE(c.input.ToString());
      EXPECT_MATCHES_REFERENCE(
          {.op = op, .attrs = {{"keep_dims", false}}, .outputs = {{DType::kFloat32, c.output}}},
          {RandomArray(c.input, 1), Axes(c.axes)}, KernelTier::kFused, kSums);
    }
  }
}

TEST(FusedReduction, MaxAndMinAreTheReferences) {
  for (const Case& c : Cases()) {
    for (const char* op : {"Max", "Min"}) {
      SCOPED_TRACE(c.input.ToString());
      EXPECT_MATCHES_REFERENCE(
          {.op = op, .attrs = {{"keep_dims", false}}, .outputs = {{DType::kFloat32, c.output}}},
          {RandomArray(c.input, 1), Axes(c.axes)}, KernelTier::kFused, Tolerance{});
    }
  }
}

TEST(FusedReduction, MaxAndMinKeepNaN) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const Case& c : Cases()) {
    Array x = RandomArray(c.input, 1);
    for (int64_t i = 5; i < x.num_elements(); i += 100) x.data<float>()[i] = nan;
    for (const char* op : {"Max", "Min"}) {
      SCOPED_TRACE(c.input.ToString());
      EXPECT_MATCHES_REFERENCE(
          {.op = op, .attrs = {{"keep_dims", false}}, .outputs = {{DType::kFloat32, c.output}}},
          {x, Axes(c.axes)}, KernelTier::kFused, Tolerance{});
    }
  }
}

TEST(FusedReduction, ReducedAxesThatAreNotNeighboursAreLeftToTheReference) {
  const KernelSpec spec = CompleteSpec(
      {.op = "Sum", .attrs = {{"keep_dims", false}}, .outputs = {{DType::kFloat32, {3}}}},
      {RandomArray({2, 3, 4}, 1), Axes({0, 2})});
  EXPECT_FALSE(TierAccepts(spec, KernelTier::kFused));
}

TEST(FusedReduction, L2LossMatchesTheReference) {
  for (const Shape& shape : {Shape{3136, 32}, Shape{5}}) {
    EXPECT_MATCHES_REFERENCE({.op = "L2Loss", .outputs = {{DType::kFloat32, {}}}},
                             {RandomArray(shape, 1)}, KernelTier::kFused, {.relative = 2e-6});
  }
}

}  // namespace
}  // namespace estimator
