#include "estimator/runtime/passes/derive_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/kernels/prepared_input.h"
#include "estimator/runtime/passes/emit.h"
#include "estimator/runtime/passes/plan_memory.h"
#include "estimator/runtime/passes/schedule.h"
#include "estimator/runtime/passes/select_kernels.h"
#include "estimator/runtime/passes/testing/pass_module.h"

namespace estimator::ir {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class DeriveValuesTest : public ::testing::Test {
 protected:
  void Derive(bool prepare_inputs = false) {
    EST_ASSERT_OK(SelectKernels(b_.module, KernelTier::kReference));
    DeriveValues(b_.module, prepare_inputs);
  }
  bool IsDerived(Value value) const { return b_.module.node(value).derived; }
  bool IsKept(Value value) const { return b_.module.node(value).kept; }

  ModuleBuilder b_;
};

TEST_F(DeriveValuesTest, OnlyWhatTheStepReadsIsKept) {
  const Value v = b_.Variable("v", {4});
  const Value inner = b_.Op("Neg", {v}, {4}), outer = b_.Op("Square", {inner}, {4});
  const Value result = b_.Op("Mul", {outer, b_.Feed({4})}, {4});
  b_.Fetch(result);
  Derive();
  EXPECT_TRUE(IsDerived(inner));
  EXPECT_FALSE(IsKept(inner));
  EXPECT_TRUE(IsDerived(outer));
  EXPECT_TRUE(IsKept(outer));
  EXPECT_FALSE(IsDerived(result));
}

TEST_F(DeriveValuesTest, WhatDependsOnAnUpdatedVariableIsNotDerived) {
  const Value v = b_.Variable("v", {4}), frozen = b_.Variable("frozen", {4});
  const Value moving = b_.Op("Neg", {v}, {4}), still = b_.Op("Neg", {frozen}, {4});
  const Value both = b_.Op("AddV2", {moving, still}, {4});
  b_.Fetch(b_.Op("Mul", {both, b_.Feed({4})}, {4}));
  b_.Update("v", b_.Op("AddV2", {v, b_.Feed({4})}, {4}));
  Derive();
  EXPECT_FALSE(IsDerived(moving));
  EXPECT_FALSE(IsDerived(both));
  EXPECT_TRUE(IsKept(still));
}

TEST_F(DeriveValuesTest, FetchesAndNewValuesOfVariablesAreNotDerived) {
  const Value v = b_.Variable("v", {4});
  b_.Variable("copy", {4});
  const Value fetched = b_.Op("Neg", {v}, {4}), assigned = b_.Op("Square", {v}, {4});
  b_.Fetch(fetched);
  b_.Fetch(b_.Op("Mul", {fetched, b_.Feed({4})}, {4}));
  b_.Update("copy", assigned);
  Derive();
  EXPECT_FALSE(IsDerived(fetched));
  EXPECT_FALSE(IsDerived(assigned));
}

TEST_F(DeriveValuesTest, StatefulAndMuchLargerResultsAreNotDerived) {
  const Value v = b_.Variable("v", {1, 4});
  const Value random = b_.Op("Neg", {v}, {1, 4});
  b_.node(random).stateful = true;
  const Value large = b_.Op("AddV2", {v, b_.Constant(Numbers({16, 1}))}, {16, 4});
  const Value small = b_.Op("AddV2", {v, b_.Constant(Numbers({2, 1}))}, {2, 4});
  const Value x = b_.Feed({1, 4});
  for (const Value value : {random, large, small})
    b_.Fetch(b_.Op("Mul", {value, x}, b_.module.spec(value).shape));
  Derive();
  EXPECT_FALSE(IsDerived(random));
  EXPECT_FALSE(IsDerived(large));
  EXPECT_TRUE(IsKept(small));
}

TEST_F(DeriveValuesTest, AReaderOfAViewKeepsTheViewedValue) {
  const Value v = b_.Variable("v", {4});
  const Value negative = b_.Op("Neg", {v}, {4});
  b_.module.nodes.push_back(MakeReshape(negative, {DType::kFloat32, {2, 2}}, "view"));
  const Value view{static_cast<int>(b_.module.nodes.size()) - 1, 0};
  b_.Fetch(b_.Op("Mul", {view, b_.Feed({2, 2})}, {2, 2}));
  Derive();
  EXPECT_TRUE(IsKept(negative));
}

TEST_F(DeriveValuesTest, DerivedInstructionsComeFirstInMemoryOfTheirOwn) {
  const Value v = b_.Variable("v", {4}), w = b_.Variable("w", {4});
  const Value x = b_.Op("Neg", {b_.Feed({4})}, {4});
  const Value inner = b_.Op("Neg", {v}, {4}), outer = b_.Op("AddV2", {inner, w}, {4});
  b_.Fetch(b_.Op("Mul", {outer, x}, {4}));
  Derive();
  const Schedule schedule = MakeSchedule(b_.module);
  ASSERT_EQ(schedule.derived_end, 2);
  EXPECT_EQ(schedule.segments[0].begin, 2);
  const MemoryPlan plan = PlanMemory(b_.module, schedule);
  EXPECT_EQ(plan.derived_bytes, FirstFit::kAlignment);
  EXPECT_EQ(At(plan.buffers, plan.buffer(inner)).kind, Buffer::Kind::kArena);
  EXPECT_EQ(At(plan.buffers, plan.buffer(outer)).kind, Buffer::Kind::kDerived);
  const auto code = Emit(b_.module, schedule, plan);
  EST_ASSERT_OK(code);
  ASSERT_EQ(code->derived.size(), 2u);
  EXPECT_FALSE(code->derived[0].kept);
  EXPECT_THAT(code->derived[0].variables, IsEmpty());
  EXPECT_TRUE(code->derived[1].kept);
  EXPECT_THAT(code->derived[1].variables, ElementsAre(0, 1));
  EXPECT_THAT(code->derived[1].needs, ElementsAre(0));
}

// Multiplies by a prepared input, which is 10 times the input.
class TenTimes final : public Kernel, public PreparedInput {
 public:
  absl::Status Run(const KernelArgs& args) override {
    *args.out<float>(0) = *args.in<float>(0) * 10 * *args.in<float>(1);
    return absl::OkStatus();
  }
  int prepared_input() const override { return 1; }
  size_t prepared_bytes() const override { return sizeof(float); }
  size_t prepared_scratch_bytes() const override { return 0; }
  absl::Status Prepare(const void* input, void* prepared, void* /*scratch*/) override {
    *static_cast<float*>(prepared) = 10 * *static_cast<const float*>(input);
    return absl::OkStatus();
  }
  absl::Status RunPrepared(const KernelArgs& args) override {
    *args.out<float>(0) = *args.in<float>(0) * *args.in<float>(1);
    return absl::OkStatus();
  }
};

TEST_F(DeriveValuesTest, AKernelThatCopiesAVariableIsSplit) {
  const Value v = b_.Variable("v", {1}), x = b_.Feed({1});
  const Value of_variable = b_.Op("Mul", {x, v}, {1}), of_feed = b_.Op("Mul", {v, x}, {1});
  b_.node(of_variable).kernel = std::make_shared<TenTimes>();
  b_.node(of_feed).kernel = std::make_shared<TenTimes>();
  b_.Fetch(of_variable);
  b_.Fetch(of_feed);
  const auto before = Interpret(b_.module, {Array::Of<float>({1}, {3})});
  Derive(/*prepare_inputs=*/true);
  const auto after = Interpret(b_.module, {Array::Of<float>({1}, {3})});
  EST_ASSERT_OK(before);
  EST_ASSERT_OK(after);
  ASSERT_EQ(Count(b_.module, kPrepareOp), 1);
  const Node& prepare = Only(b_.module, kPrepareOp);
  EXPECT_TRUE(prepare.kept);
  EXPECT_EQ(prepare.outputs[0], (TensorSpec{DType::kUint8, {4}}));
  for (size_t i = 0; i < before->size(); ++i)
    EXPECT_FLOAT_EQ(*(*before)[i].data<float>(), *(*after)[i].data<float>()) << i;
}

// As the layer of an unrolled network does in each of its steps.
TEST_F(DeriveValuesTest, EqualKernelsShareTheCopyOfAVariable) {
  const Value v = b_.Variable("v", {1});
  for (const Shape& shape : {Shape{1}, Shape{1}, Shape{1, 1}}) {
    const Value product = b_.Op("Mul", {b_.Feed(shape), v}, shape);
    b_.node(product).kernel = std::make_shared<TenTimes>();
    b_.Fetch(product);
  }
  const std::vector<Array> feeds = {Array::Of<float>({1}, {3}), Array::Of<float>({1}, {4}),
                                    Array::Of<float>({1, 1}, {5})};
  const auto before = Interpret(b_.module, feeds);
  Derive(/*prepare_inputs=*/true);
  const auto after = Interpret(b_.module, feeds);
  EST_ASSERT_OK(before);
  EST_ASSERT_OK(after);
  EXPECT_EQ(Count(b_.module, kPrepareOp), 2);  // one for the two products of shape [1]
  for (size_t i = 0; i < before->size(); ++i)
    EXPECT_FLOAT_EQ(*(*before)[i].data<float>(), *(*after)[i].data<float>()) << i;
}

TEST_F(DeriveValuesTest, AKernelStaysWholeIfAskedOrIfItsVariableIsUpdated) {
  const Value v = b_.Variable("v", {1}), x = b_.Feed({1});
  const Value product = b_.Op("Mul", {x, v}, {1});
  b_.node(product).kernel = std::make_shared<TenTimes>();
  b_.Fetch(product);
  Derive(/*prepare_inputs=*/false);
  EXPECT_EQ(Count(b_.module, kPrepareOp), 0);
  b_.Update("v", b_.Op("AddV2", {v, x}, {1}));
  Derive(/*prepare_inputs=*/true);
  EXPECT_EQ(Count(b_.module, kPrepareOp), 0);
}

// A frozen graph has constants in place of variables.
TEST_F(DeriveValuesTest, AKernelThatCopiesAConstantIsSplit) {
  const Value product = b_.Op("Mul", {b_.Feed({1}), b_.Constant(Array::Of<float>({1}, {2}))}, {1});
  b_.node(product).kernel = std::make_shared<TenTimes>();
  b_.Fetch(product);
  Derive(/*prepare_inputs=*/true);
  EXPECT_TRUE(Only(b_.module, kPrepareOp).kept);
}

}  // namespace
}  // namespace estimator::ir
