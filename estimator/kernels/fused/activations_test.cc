#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/kernels/testing/tiers.h"
#include "hwy/highway.h"

namespace estimator {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Documented in tile_ops.h: 4 units in the last place, 6e-8 each, and as much again from the
// reference. Exp flushes results below 2^-126 to zero.
constexpr Tolerance kFunction{.relative = 5e-7, .absolute = 1e-30};
// A bf16 result near the middle of two numbers may be rounded the other way.
constexpr Tolerance kRounded{.relative = 1.0 / 128, .absolute = 1e-30};

// Several tiles on two threads, and a rest of no full vector.
constexpr int64_t kSize = 2 * 8192 * 2 + 37;

struct Case {
  std::string op;
  size_t operands = 1;
  Tolerance tolerance = {};
  Attrs attrs = {};
};

const std::vector<Case>& Cases() {
  static const auto& cases = *new std::vector<Case>{
      {"Elu", 1, kFunction},
      {"EluGrad", 2},
      {"Selu", 1, kFunction},
      {"SeluGrad", 2},
      {"LeakyRelu", 1, {}, {{"alpha", 0.2f}}},
      {"LeakyRelu", 1, {}, {{"alpha", 0.0f}}},
      {"LeakyRelu", 1, {}, {{"alpha", -1.5f}}},
      {"LeakyReluGrad", 2, {}, {{"alpha", 0.2f}}},
      {"LeakyReluGrad", 2, {}, {{"alpha", 0.0f}}},
      {"Softplus", 1, kFunction},
      {"SoftplusGrad", 2, kFunction},
      {"Softsign", 1},
      {"SoftsignGrad", 2},
  };
  return cases;
}

KernelSpec SpecOf(const Case& c, const TensorSpec& output) {
  return {.op = c.op, .name = c.op, .attrs = c.attrs, .outputs = {output}};
}

std::vector<Array> Operands(const Case& c, const std::vector<Array>& all) {
  return {all.begin(), all.begin() + static_cast<ptrdiff_t>(c.operands)};
}

TEST(FusedActivations, MatchTheReferenceInFloat32) {
  for (const Case& c : Cases()) {
    for (const float range : {1e-3f, 1.0f, 20.0f, 100.0f}) {
      // The second operand of a gradient op is what the activation read or computed.
      const Array a = RandomArray({kSize}, 1, -range, range),
                  b = RandomArray({kSize}, 2, -range, range);
      EXPECT_MATCHES_REFERENCE(SpecOf(c, {DType::kFloat32, {kSize}}), Operands(c, {a, b}),
                               KernelTier::kFused, c.tolerance);
    }
  }
}

TEST(FusedActivations, MatchTheReferenceInBfloat16) {
  for (const Case& c : Cases()) {
    for (const float range : {1.0f, 20.0f}) {
      const Array a = RandomArray({kSize}, 1, -range, range).Cast(DType::kBfloat16),
                  b = RandomArray({kSize}, 2, -range, range).Cast(DType::kBfloat16);
      EXPECT_MATCHES_REFERENCE(SpecOf(c, {DType::kBfloat16, {kSize}}), Operands(c, {a, b}),
                               KernelTier::kFused,
                               c.tolerance.relative > 0 ? kRounded : Tolerance{});
    }
  }
}

std::vector<float> SpecialNumbers() {
  return {std::numeric_limits<float>::quiet_NaN(),
          kInfinity,
          -kInfinity,
          0.0f,
          -0.0f,
          1.0f,
          -1.0f,
          1e-40f,
          -1e-40f,
          1e-30f,
          -1e-30f,
          1e-8f,
          -1e-8f,
          0.34657f,
          -0.34657f,
          -0.35f,
          13.9f,
          13.95f,
          -13.9f,
          -13.95f,
          -17.4f,
          80.0f,
          -80.0f,
          88.5f,
          -88.5f,
          1e3f,
          -1e3f,
          3.4e38f,
          -3.4e38f};
}

TEST(FusedActivations, HaveTheReferencesValuesOfSpecialNumbers) {
  const std::vector<float> special = SpecialNumbers();
  const int64_t n = static_cast<int64_t>(special.size());
  Array a(DType::kFloat32, {n, n}), b(DType::kFloat32, {n, n});
  for (int64_t i = 0; i < n * n; ++i) {
    a.data<float>()[i] = special[static_cast<size_t>(i / n)];
    b.data<float>()[i] = special[static_cast<size_t>(i % n)];
  }
  for (const Case& c : Cases()) {
    EXPECT_MATCHES_REFERENCE(SpecOf(c, {DType::kFloat32, {n, n}}), Operands(c, {a, b}),
                             KernelTier::kFused, c.tolerance);
    EXPECT_MATCHES_REFERENCE(SpecOf(c, {DType::kBfloat16, {n, n}}),
                             Operands(c, {a.Cast(DType::kBfloat16), b.Cast(DType::kBfloat16)}),
                             KernelTier::kFused, c.tolerance.relative > 0 ? kRounded : Tolerance{});
  }
}

// GELU and its derivative, without the digits that 1 + erf and 1 + tanh lose.
double Gelu(double x) { return 0.5 * x * std::erfc(-x / std::numbers::sqrt2); }
double GeluDerivative(double x) {
  return 0.5 * std::erfc(-x / std::numbers::sqrt2) +
         x * std::exp(-0.5 * x * x) / std::sqrt(2 * std::numbers::pi);
}
double GeluApproximate(double x) {
  return x / (1 + std::exp(-std::sqrt(8 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
}
double GeluApproximateDerivative(double x) {
  const double scale = std::sqrt(8 / std::numbers::pi);
  const double e = std::exp(-scale * (x + 0.044715 * x * x * x));
  return 1 / (1 + e) + x * e / ((1 + e) * (1 + e)) * scale * (1 + 3 * 0.044715 * x * x);
}

void CheckExactnessOfGelu() {
  const std::vector<std::pair<std::string, double (*)(double)>> cases = {
      {"_Gelu", Gelu},
      {"_GeluGrad", GeluDerivative},
      {"_GeluApproximate", GeluApproximate},
      {"_GeluApproximateGrad", GeluApproximateDerivative}};
  const Array dy = RandomArray({kSize}, 1);
  for (const auto& [op, function] : cases) {
    const bool is_gradient = absl::EndsWith(op, "Grad");
    for (const float range : {1e-3f, 1.0f, 4.0f, 12.0f}) {
      const Array x = RandomArray({kSize}, 2, -range, range);
      const std::vector<Array> inputs = is_gradient ? std::vector<Array>{dy, x} : std::vector{x};
      const KernelSpec spec =
          CompleteSpec({.op = op, .outputs = {{DType::kFloat32, {kSize}}}}, inputs);
      const auto actual = RunKernel(spec, inputs, KernelTier::kFused);
      const auto reference = RunReferenceKernel(spec, inputs);
      EST_ASSERT_OK(actual);
      EST_ASSERT_OK(reference);
      double worst = 0;
      for (int64_t i = 0; i < kSize; ++i) {
        const double factor = is_gradient ? dy.data<float>()[i] : 1, xi = x.data<float>()[i];
        const double exact = factor * function(xi);
        // In units in the last place of dy or x.
        const double unit = 0x1p-23 * std::abs(is_gradient ? factor : xi);
        worst = std::max(worst, std::abs((*actual)[0].data<float>()[i] - exact) / unit);
        ASSERT_NEAR((*reference)[0].data<float>()[i], exact, unit) << op << " of " << xi;
      }
      EXPECT_LE(worst, 2) << op << ", " << range;
    }
  }
}

void CheckGeluOfSpecialNumbers() {
  const std::vector<float> special = SpecialNumbers(), gradients = {1, -2, 0, NAN};
  const int64_t n = static_cast<int64_t>(special.size());
  Array x(DType::kFloat32, {4, n}), dy(DType::kFloat32, {4, n});
  for (int64_t i = 0; i < 4 * n; ++i) {
    x.data<float>()[i] = special[static_cast<size_t>(i % n)];
    dy.data<float>()[i] = gradients[static_cast<size_t>(i / n)];
  }
  constexpr Tolerance kSpecial{.relative = 1e-6, .absolute = 1e-6};
  for (const char* op : {"_Gelu", "_GeluApproximate"}) {
    const KernelSpec spec{.op = op, .outputs = {{DType::kFloat32, {4, n}}}};
    EXPECT_MATCHES_REFERENCE(spec, {x}, KernelTier::kFused, kSpecial);
    const KernelSpec grad{.op = absl::StrCat(op, "Grad"), .outputs = {{DType::kFloat32, {4, n}}}};
    EXPECT_MATCHES_REFERENCE(grad, (std::vector<Array>{dy, x}), KernelTier::kFused, kSpecial);
  }
}

TEST(FusedActivations, GeluIsAsExactAsDocumented) { CheckExactnessOfGelu(); }

TEST(FusedActivations, GeluHasTheReferencesValuesOfSpecialNumbers) { CheckGeluOfSpecialNumbers(); }

// The kernels choose their vectors at run time; this CPU may have larger ones.
TEST(FusedActivations, GeluWithAvx2) {
  hwy::SetSupportedTargetsForTest(HWY_AVX2);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  CheckExactnessOfGelu();
  CheckGeluOfSpecialNumbers();
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

TEST(FusedActivations, GeluInBfloat16IsRoundedOnce) {
  const Array x = RandomArray({kSize}, 1, -4, 4).Cast(DType::kBfloat16),
              dy = RandomArray({kSize}, 2).Cast(DType::kBfloat16);
  const TensorSpec output{DType::kBfloat16, {kSize}};
  const Tolerance rounded{.relative = 1.0 / 128, .absolute = 1e-6};
  for (const char* op : {"_Gelu", "_GeluApproximate"}) {
    EXPECT_MATCHES_REFERENCE((KernelSpec{.op = op, .outputs = {output}}), {x}, KernelTier::kFused,
                             rounded);
    EXPECT_MATCHES_REFERENCE((KernelSpec{.op = absl::StrCat(op, "Grad"), .outputs = {output}}),
                             (std::vector<Array>{dy, x}), KernelTier::kFused, rounded);
  }
}

TEST(FusedActivations, EachOpOfAChainHasItsOwnAlpha) {
  const Array x = RandomArray({kSize}, 1), dy = RandomArray({kSize}, 2);
  const TensorSpec f32{DType::kFloat32, {kSize}};
  // leaky(elu(leaky(x, 0.5)), 0.25), and its gradient op of dy.
  const KernelSpec chain{
      .op = "_FusedElementwise",
      .name = "chain",
      .attrs = {{"ops", std::vector<std::string>{"LeakyRelu", "Elu", "LeakyRelu", "LeakyReluGrad"}},
                {"args", std::vector<int64_t>{0, -1, -1, 2, -1, -1, 3, -1, -1, 1, 4, -1}},
                {"outputs", std::vector<int64_t>{4, 5}},
                {"alphas", std::vector<float>{0.5f, 0, 0.25f, 0.125f}}},
      .outputs = {f32, f32}};
  const auto actual = RunKernel(chain, {x, dy}, KernelTier::kFused);
  EST_ASSERT_OK(actual);
  const auto reference = [&](const Case& c, const std::vector<Array>& inputs) {
    const auto result = RunReferenceKernel(SpecOf(c, f32), inputs);
    EST_EXPECT_OK(result);
    return (*result)[0];
  };
  const Array inner = reference({"LeakyRelu", 1, {}, {{"alpha", 0.5f}}}, {x});
  const Array y =
      reference({"LeakyRelu", 1, {}, {{"alpha", 0.25f}}}, {reference({"Elu"}, {inner})});
  const Array dx = reference({"LeakyReluGrad", 2, {}, {{"alpha", 0.125f}}}, {dy, y});
  EXPECT_EQ(Compare((*actual)[0], y, kFunction).report, "");
  EXPECT_EQ(Compare((*actual)[1], dx, kFunction).report, "");
}

TEST(FusedActivations, AChainWithoutAnAlphaThatItNeedsIsRefused) {
  const KernelSpec chain{.op = "_FusedElementwise",
                         .name = "chain",
                         .attrs = {{"ops", std::vector<std::string>{"LeakyRelu"}},
                                   {"args", std::vector<int64_t>{0, -1, -1}},
                                   {"outputs", std::vector<int64_t>{1}}},
                         .outputs = {{DType::kFloat32, {4}}}};
  EXPECT_FALSE(CreateKernel(CompleteSpec(chain, {RandomArray({4}, 1)}), KernelTier::kFused).ok());
}

}  // namespace
}  // namespace estimator
