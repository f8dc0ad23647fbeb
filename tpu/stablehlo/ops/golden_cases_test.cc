// Every case of testdata/ops is lowered to values of the right types. JAX computes and compares
// them: testdata/interop/check_stablehlo_ops.py.
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/ops/testing/golden_table.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tpu/stablehlo/op_lowering.h"
#include "tpu/stablehlo/ops/support.h"
#include "tpu/stablehlo/ops/testing/golden_lowering.h"

namespace estimator::tpu::stablehlo {
namespace {

using estimator::testing::GoldenCase;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(StableHloGoldenCases, AreLoweredToTheTypesOfTheOutputs) {
  const auto cases = estimator::testing::ReadGoldens("testdata/ops");
  EST_ASSERT_OK(cases);
  std::set<std::string> lowered, refused;
  for (const GoldenCase& golden : *cases) {
    if (FindLowering(golden.op) == nullptr) continue;
    SCOPED_TRACE(absl::StrCat(golden.op, "/", golden.name));
    const auto spec = testing::SpecOf(golden);
    EST_ASSERT_OK(spec);
    const absl::Status status = testing::TryLowering(*spec);
    lowered.insert(golden.op);
    if (absl::IsUnimplemented(status))
      refused.insert(golden.op);
    else
      EST_EXPECT_OK(status);
  }
  EXPECT_GT(lowered.size(), 150u);
  // MatrixSolveLs without `fast` takes a decomposition that StableHLO lacks. The random ops do not
  // draw float64.
  EXPECT_EQ(refused, (std::set<std::string>{"MatrixSolveLs", "RandomStandardNormal",
                                            "RandomUniform", "TruncatedNormal"}));
}

KernelSpec Unary(DType from, DType to, const Shape& shape) {
  return {.op = "Op", .inputs = {{from, shape}}, .outputs = {{to, shape}}, .constants = {{}}};
}

LoweringResult RunGuarded(const KernelSpec& spec, bool* called) {
  Writer w;
  const StepValues step;
  const Values inputs = {{"%arg0", Type(spec.inputs[0])}};
  return Guarded([called](Writer&, const LoweringArgs& args) -> LoweringResult {
    *called = true;
    return args.inputs;
  })(w, LoweringArgs{spec, inputs, step});
}

TEST(GuardedLowering, RefusesStrings) {
  bool called = false;
  const LoweringResult in = RunGuarded(Unary(DType::kString, DType::kInt32, Shape{2}), &called);
  EXPECT_TRUE(absl::IsUnimplemented(in.status())) << in.status();
  const LoweringResult out = RunGuarded(Unary(DType::kInt32, DType::kString, Shape{2}), &called);
  EXPECT_TRUE(absl::IsUnimplemented(out.status())) << out.status();
  EXPECT_FALSE(called);
}

TEST(GuardedLowering, WritesResultsWithoutElementsAsConstants) {
  bool called = false;
  const LoweringResult empty =
      RunGuarded(Unary(DType::kFloat32, DType::kInt32, Shape{0, 3}), &called);
  EST_ASSERT_OK(empty);
  EXPECT_FALSE(called);
  EXPECT_EQ((*empty)[0].type, (Type{DType::kInt32, Shape{0, 3}}));
  EST_ASSERT_OK(RunGuarded(Unary(DType::kFloat32, DType::kFloat32, Shape{1}), &called));
  EXPECT_TRUE(called);
}

TEST(StableHloTopK, SortsFloatsInTheTotalOrderForNaN) {
  const auto text = [](DType dtype) {
    const KernelSpec spec = {.op = "TopKV2",
                             .inputs = {{dtype, Shape{4}}, {DType::kInt32, Shape{}}},
                             .outputs = {{dtype, Shape{2}}, {DType::kInt32, Shape{2}}},
                             .constants = {{}, Array::Scalar(2)}};
    Writer w;
    EST_EXPECT_OK(testing::Lower(
        w, spec, {{"%arg0", Type(spec.inputs[0])}, {"%arg1", Type(spec.inputs[1])}}));
    return w.Module("m", "");
  };
  for (const DType dtype : {DType::kFloat32, DType::kBfloat16})
    EXPECT_THAT(text(dtype), HasSubstr("#stablehlo<comparison_type TOTALORDER>"));
  EXPECT_THAT(text(DType::kInt32), Not(HasSubstr("TOTALORDER")));
}

TEST(SupportOfLowerings, SlicesAndPadsOneAxis) {
  Writer w;
  const Value x = {"%arg0", {DType::kFloat32, Shape{2, 5}}};
  EXPECT_EQ(SliceAxis(w, x, 1, 2, 3).shape(), (Shape{2, 3}));
  EXPECT_EQ(SliceAxis(w, x, 1, 0, 5).name, "%arg0");  // all of it: no op
  const Value zero = w.Scalar(DType::kFloat32, 0);
  EXPECT_EQ(PadAxis(w, x, zero, 0, 1, 3).shape(), (Shape{6, 5}));
  EXPECT_EQ(PadAxis(w, x, zero, 0, 0, 0).name, "%arg0");
  EXPECT_EQ(FromFront(-1, 3), 2);
  EXPECT_EQ(SizeOfAxes(x.shape(), 0, 2), 10);
}

}  // namespace
}  // namespace estimator::tpu::stablehlo
