#include <map>
#include <string>
#include <vector>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/kernels/testing/tiers.h"
#include "estimator/op_def/update_def.h"
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

// A usual value of each hyperparameter.
float ValueOf(absl::string_view number) {
  static const std::map<absl::string_view, float> kValues = {
      {"alpha", 0.05f},      {"lr", 0.05f},   {"momentum", 0.9f}, {"beta1_power", 0.729f},
      {"beta2_power", 0.9f}, {"beta1", 0.9f}, {"beta2", 0.999f},  {"rho", 0.9f},
      {"epsilon", 1e-7f},    {"l1", 0.02f},   {"l2", 0.03f},      {"l2_shrinkage", 0.04f},
      {"lr_power", -0.5f}};
  return kValues.at(number);
}

TEST(FusedOptimizers, MatchTheReferenceWithAndWithoutTheirFlag) {
  for (const UpdateDef& def : UpdateOps()) {
    const std::string op(def.op);
    SCOPED_TRACE(op);
    if (!HasKernel(op, KernelTier::kFused)) continue;
    std::vector<Array> inputs;
    for (int i = 0; i < def.num_operands(); ++i) {
      inputs.push_back(i < def.num_states    ? State(static_cast<uint64_t>(i + 1))
                       : i == def.gradient() ? Gradient()
                                             : Number(ValueOf(def.operand(i))));
    }
    for (const bool flag : {false, true}) {
      KernelSpec spec = {.op = op, .outputs = States(static_cast<size_t>(def.num_states))};
      if (!def.flag.empty()) spec.attrs.Set(def.flag, flag);
      EXPECT_MATCHES_REFERENCE(spec, inputs, KernelTier::kFused, kContraction);
    }
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
