#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/kernels/testing/tiers.h"

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

TEST(FusedActivations, HaveTheReferencesValuesOfSpecialNumbers) {
  const std::vector<float> special = {std::numeric_limits<float>::quiet_NaN(),
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
