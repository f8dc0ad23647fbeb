#include "estimator/runtime/passes/emit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/runtime/passes/select_kernels.h"
#include "estimator/runtime/passes/testing/pass_module.h"

namespace estimator::ir {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

EST_REGISTER_KERNEL("Exp", KernelTier::kReference, [](const KernelSpec&) {
  return MakeKernel([](const KernelArgs&) { return absl::OkStatus(); });
});

absl::StatusOr<Code> EmitAll(Module& module) {
  Compact(module);
  EST_EXPECT_OK(SelectKernels(module, KernelTier::kReference));
  const Schedule schedule = MakeSchedule(module);
  return Emit(module, schedule, PlanMemory(module, schedule));
}

TEST(Emit, InstructionsReferToTheBuffersOfTheirValues) {
  ModuleBuilder b;
  const Value x = b.Feed({4});
  b.Fetch(b.Op("Exp", {b.Op("Reshape", {b.Op("Exp", {x}, {4})}, {2, 2})}, {2, 2}));
  const auto code = EmitAll(b.module);
  EST_ASSERT_OK(code);
  ASSERT_EQ(code->instructions.size(), 2u);
  EXPECT_EQ(code->instructions[0].outputs, code->instructions[1].inputs);  // through the view
  EXPECT_EQ(code->updates_begin, 2);
}

TEST(Emit, CollectivesCarryTheirGroups) {
  ModuleBuilder b;
  const Value x = b.Op("Exp", {b.Feed({4})}, {4});
  const Value groups = b.Constant(Array::Of<int32_t>({2, 2}, {0, 1, 2, 3}));
  b.Fetch(b.Op("CrossReplicaSum", {x, groups}, {4}));
  b.Fetch(b.Op("CrossReplicaSum", {b.Op("Exp", {x}, {4})}, {4}));
  const auto code = EmitAll(b.module);
  EST_ASSERT_OK(code);
  ASSERT_EQ(code->segments[0].collectives.size(), 2u);
  EXPECT_THAT(code->segments[0].collectives[0].groups,
              ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3)));
  EXPECT_THAT(code->segments[0].collectives[1].groups, IsEmpty());
  EXPECT_EQ(code->segments[0].collectives[0].spec, (TensorSpec{DType::kFloat32, {4}}));
}

TEST(Emit, AnInstructionHasTheGroupsOfTheFetchesThatNeedIt) {
  ModuleBuilder b;
  b.Variable("v", {4});
  const Value shared = b.Op("Exp", {b.Feed({4})}, {4}), updated = b.Op("Exp", {b.Feed({4})}, {4});
  b.Fetch(b.Op("Exp", {shared}, {4}));
  b.Fetch(b.Op("Exp", {shared}, {4}));
  b.Fetch(b.Op("Exp", {updated}, {4}));
  b.Update("v", updated);
  b.module.fetch_groups = {1, 4, 4};
  const auto code = EmitAll(b.module);
  EST_ASSERT_OK(code);
  std::vector<uint64_t> groups;
  for (const Instruction& instruction : code->instructions) groups.push_back(instruction.groups);
  EXPECT_THAT(groups, ::testing::UnorderedElementsAre(5, 1, 4, 4, Instruction::kAlways));
}

TEST(Emit, GroupsThatAreNotConstantAreAnError) {
  ModuleBuilder b;
  const Value x = b.Feed({4}), groups = b.Feed({1, 2}, DType::kInt32);
  b.Fetch(b.Op("CrossReplicaSum", {x, groups}, {4}));
  EXPECT_THAT(EmitAll(b.module),
              ErrorHas("CrossReplicaSum_2: group_assignment must be a constant"));
}

}  // namespace
}  // namespace estimator::ir
