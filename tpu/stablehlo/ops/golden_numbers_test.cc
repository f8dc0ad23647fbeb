// Every case of testdata/ops that is lowered: the interpreter (stablehlo/testing) runs the module
// and gets the numbers of the reference kernel. JAX does the same with XLA's arithmetic:
// testdata/interop/check_stablehlo_ops.py.
#include <cfloat>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/array/compare.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/ops/testing/golden_runner.h"
#include "gtest/gtest.h"
#include "tpu/stablehlo/op_lowering.h"
#include "tpu/stablehlo/ops/testing/golden_lowering.h"
#include "tpu/stablehlo/testing/interpreter.h"

namespace estimator::tpu::stablehlo {
namespace {

using estimator::testing::GoldenCase;
using estimator::testing::Goldens;

// Classes of testdata/ops/cases.py that are too narrow for an op here, and why.
const std::map<std::string, std::string>& ClassOfOp() {
  static const auto* const classes = new std::map<std::string, std::string>{
      // The bits are those of the kernel but for the rounding of log, sin and cos.
      {"RandomStandardNormal", "function"},
      {"TruncatedNormal", "function"},
  };
  return *classes;
}

// Cases whose numbers differ, and why that is right.
const std::set<std::string>& Different() {
  static const auto* const cases = new std::set<std::string>{
      // 1e30 swallows what is added before it, and overflows before it is multiplied by 0: the
      // kernels go element by element, and the lowering doubles its distance.
      "Cumprod/special",
      "Cumsum/special",
  };
  return *cases;
}

// A module whose @main is the op.
absl::StatusOr<std::string> ModuleOf(const KernelSpec& spec) {
  Writer w;
  const std::vector<Type> inputs = testing::Types(spec.inputs);
  const Values arguments = w.BeginFunction("main", inputs, std::vector<std::string>(inputs.size()),
                                           testing::Types(spec.outputs));
  LoweringResult results = testing::Lower(w, spec, arguments);
  if (!results.ok()) return results.status();
  w.EndFunction(*results);
  return w.Module("op", "");
}

void ExpectNumbersOfTheKernel(const GoldenCase& golden) {
  const auto spec = testing::SpecOf(golden);
  EST_ASSERT_OK(spec);
  const auto module = ModuleOf(*spec);
  if (absl::IsUnimplemented(module.status())) return;  // golden_cases_test lists these
  EST_ASSERT_OK(module);
  const auto expected = RunReferenceKernel(*spec, golden.inputs);
  EST_ASSERT_OK(expected);
  const auto results = testing::Interpret(*module, {golden.inputs});
  ASSERT_TRUE(results.ok()) << results.status() << "\n" << *module;
  const auto found = ClassOfOp().find(golden.op);
  const std::string tolerance = found == ClassOfOp().end() ? golden.tolerance : found->second;
  for (size_t i = 0; i < expected->size(); ++i) {
    const Difference difference =
        Compare((*results)[0][i], (*expected)[i],
                estimator::testing::GoldenTolerance(tolerance, (*expected)[i]));
    EXPECT_EQ(difference.report, "") << "output " << i << "\n" << *module;
  }
}

std::vector<std::string> LoweredGoldens() {
  std::set<std::string> ops;
  for (const GoldenCase& golden : Goldens())
    if (FindLowering(golden.op) != nullptr) ops.insert(golden.op);
  return {ops.begin(), ops.end()};
}

class StableHloNumbers : public ::testing::TestWithParam<std::string> {};

TEST_P(StableHloNumbers, EqualTheReferenceKernels) {
  for (const GoldenCase& golden : Goldens()) {
    const std::string name = absl::StrCat(golden.op, "/", golden.name);
    if (golden.op != GetParam() || Different().count(name) > 0) continue;
    SCOPED_TRACE(absl::StrCat(name, " {", golden.attrs.ToString(), "}"));
    ExpectNumbersOfTheKernel(golden);
  }
}

INSTANTIATE_TEST_SUITE_P(Ops, StableHloNumbers, ::testing::ValuesIn(LoweredGoldens()),
                         [](const auto& info) { return info.param; });

// An infinity of the bad sign is no worse than the last finite number, so the first of them counts.
TEST(StableHloNumbersOfLimits, ArgMaxAndArgMinEqualTheKernels) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double sign : {-1.0, 1.0}) {
    for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
      const double most = dtype == DType::kFloat32 ? double{FLT_MAX} : DBL_MAX;
      const double nan = std::nan(""), less = most / 1e30;
      const Array x =
          Array::Of<double>({4, 2}, {sign * infinity, sign * most, sign * most, sign * less, nan,
                                     sign * infinity, sign * infinity, nan})
              .Cast(dtype);
      SCOPED_TRACE(absl::StrCat(x.TypeString(), sign));
      ExpectNumbersOfTheKernel({.op = sign < 0 ? "ArgMax" : "ArgMin",
                                .name = "limits",
                                .tolerance = "exact",
                                .attrs = {{"output_type", DType::kInt64}},
                                .inputs = {x, Array::Scalar<int32_t>(1)},
                                .constants = {1}});
    }
  }
}

// The comparator of the sort must order NaN as the kernel does, and keep the order of 0 and -0.
TEST(StableHloNumbersOfLimits, TopKOrdersNumbersAroundNaN) {
  const float nan = std::nanf("");
  ExpectNumbersOfTheKernel(
      {.op = "TopKV2",
       .name = "nan",
       .tolerance = "exact",
       .attrs = {{"sorted", true}, {"index_type", DType::kInt32}},
       .num_outputs = 2,
       .inputs = {Array::Of<float>({2, 5}, {2, nan, -0.0f, 0, nan, -nan, -INFINITY, nan, 1, -nan}),
                  Array::Scalar<int32_t>(5)},
       .constants = {1}});
}

// A uint8 cannot number 300 classes: class 300 - 256 would be hot twice.
TEST(StableHloNumbersOfLimits, OneHotOfUint8MayHaveMoreClassesThanItsIndicesCanNumber) {
  ExpectNumbersOfTheKernel(
      {.op = "OneHot",
       .name = "uint8",
       .tolerance = "exact",
       .attrs = {{"axis", int64_t{-1}}},
       .inputs = {Array::Of<uint8_t>({3}, {44, 255, 0}), Array::Scalar<int32_t>(300),
                  Array::Scalar(2.0f), Array::Scalar(-1.0f)},
       .constants = {1}});
}

// Indices without numbers name the whole of x: the last update is left.
TEST(StableHloNumbersOfLimits, OfUpdatesOfTheWholeTheLastIsLeft) {
  ExpectNumbersOfTheKernel({.op = "TensorScatterUpdate",
                            .name = "whole",
                            .tolerance = "exact",
                            .attrs = {},
                            .inputs = {Array::Of<float>({2}, {7, 8}), Array(DType::kInt32, {3, 0}),
                                       Array::Of<float>({3, 2}, {1, 2, 3, 4, 5, 6})},
                            .constants = {}});
}

// None is skipped: an op without goldens would have no numbers here.
TEST(StableHloNumbersTable, HasEveryLoweredOp) {
  std::set<std::string> without;
  const std::vector<std::string> with = LoweredGoldens();
  for (const std::string& op : LoweredOps())
    if (std::count(with.begin(), with.end(), op) == 0) without.insert(op);
  // interpreted_steps_test has sums over replicas, control_flow_test loops and branches,
  // recurrent_test layers of GRUs. The others are copies.
  EXPECT_EQ(without,
            (std::set<std::string>{"Case", "CheckRange", "CrossReplicaSum", "IdentityN", "If",
                                   "ReplicaId", "While", "_BlockGRU", "_BlockGRUGrad"}));
}

}  // namespace
}  // namespace estimator::tpu::stablehlo
