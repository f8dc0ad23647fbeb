// Copies of variables in bf16, which the updates write (passes/write_copies.h): a training gives
// the same bits with and without them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "estimator/array/compare.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/gradients.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/matmul.h"
#include "estimator/ops/optimizer_ops.h"
#include "estimator/ops/reduction.h"
#include "estimator/runtime/cpu_backend.h"
#include "estimator/runtime/initialize_variables.h"
#include "estimator/runtime/passes/testing/pass_module.h"
#include "estimator/runtime/program.h"
#include "estimator/runtime/trace.h"

namespace estimator {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kBatch = 32, kIn = 300, kHidden = 130, kOut = 70;

// Two dense layers in bf16. The larger weights have more elements than a block of the sweep.
class Bfloat16CopiesTest : public GraphTest {
 protected:
  static Variable Make(absl::string_view name, const Shape& shape, int seed) {
    const Array value = ir::Numbers(shape, seed);
    return GetVariable(name, shape,
                       {.initializer = [value](const Shape&, DType) { return Constant(value); }});
  }

  void SetUp() override {
    const Tensor hidden =
        MatMul(Cast(x_, DType::kBfloat16), Cast(first_, DType::kBfloat16, "first_copy"));
    const Tensor y =
        Cast(MatMul(hidden, Cast(second_, DType::kBfloat16, "second_copy")), DType::kFloat32);
    loss_ = ReduceMean(y * y);
    const std::vector<Tensor> gradients = Gradients(loss_, {first_, second_});
    for (size_t v = 0; v < 2; ++v) {
      const Variable& variable = v == 0 ? first_ : second_;
      const Variable& slot = v == 0 ? first_slot_ : second_slot_;
      const std::vector<Tensor> next =
          ApplyUpdate(*FindUpdateOp("ApplyMomentum"),
                      {variable, slot, Constant(0.01f), gradients[v], Constant(0.9f)});
      updates_.push_back(Assign(variable, next[0]));
      updates_.push_back(Assign(slot, next[1]));
    }
  }

  std::unique_ptr<Executable> Compile(VariableStore& store,
                                      const std::vector<std::string>& disabled = {}) {
    EST_EXPECT_OK(InitializeVariables(graph_, store));
    auto executable =
        MakeCpuBackend(store, {.disable_passes = disabled})
            ->Compile(graph_, {.feeds = {x_}, .fetches = {loss_}, .updates = updates_});
    EST_EXPECT_OK(executable);
    return executable.ok() ? *std::move(executable) : nullptr;
  }

  // Runs one step. num_casts_ is the number of casts of variables in it.
  absl::Status Step(Executable& executable) {
    const auto trace = std::make_shared<Trace>();
    SetThreadTrace(trace);
    const absl::Status status =
        executable
            .RunLoop(
                1,
                []() -> absl::StatusOr<std::optional<StepFeeds>> {
                  return StepFeeds{{ir::Numbers({kBatch, kIn}, 3)}};
                },
                [this](int64_t, const StepFetches&) { return outfeed_status_; })
            .status();
    SetThreadTrace(nullptr);
    num_casts_ = 0;
    for (const TraceEvent& event : trace->events)
      num_casts_ += absl::EndsWith(event.name, "_copy") ? 1 : 0;
    return status;
  }

  std::vector<Array> Values(const VariableStore& store) const {
    std::vector<Array> values;
    for (const std::string& name : store.Names()) values.push_back(*store.Get(name));
    return values;
  }

  const Variable first_ = Make("first", {kIn, kHidden}, 1),
                 second_ = Make("second", {kHidden, kOut}, 2),
                 first_slot_ = Make("first/Momentum", {kIn, kHidden}, 3),
                 second_slot_ = Make("second/Momentum", {kHidden, kOut}, 4);
  const Tensor x_ = Placeholder(DType::kFloat32, {kBatch, kIn});
  Tensor loss_;
  std::vector<Operation> updates_;
  absl::Status outfeed_status_;
  int num_casts_ = 0;
};

TEST_F(Bfloat16CopiesTest, AreComputedOnceAndThenWrittenByTheUpdates) {
  VariableStore store;
  const auto executable = Compile(store);
  EST_ASSERT_OK(Step(*executable));
  EXPECT_EQ(num_casts_, 2);
  for (int step = 0; step < 3; ++step) {
    EST_ASSERT_OK(Step(*executable));
    EXPECT_EQ(num_casts_, 0);
  }
}

TEST_F(Bfloat16CopiesTest, GiveTheBitsOfATrainingWithoutThem) {
  std::vector<std::vector<Array>> results;
  for (const std::vector<std::string>& disabled :
       {std::vector<std::string>{}, {"write_copies"}, {"derive_values"}, {"sweep_updates"}}) {
    VariableStore store;
    const auto executable = Compile(store, disabled);
    for (int step = 0; step < 5; ++step) EST_ASSERT_OK(Step(*executable));
    EXPECT_EQ(num_casts_, disabled.empty() ? 0 : 2) << absl::StrJoin(disabled, ",");
    results.push_back(Values(store));
  }
  for (size_t other = 1; other < results.size(); ++other) {
    for (size_t v = 0; v < results[0].size(); ++v)
      EXPECT_TRUE(SameBits(results[0][v], results[other][v])) << other << " " << v;
  }
}

TEST_F(Bfloat16CopiesTest, FollowAVariableThatIsSet) {
  std::vector<std::vector<Array>> results;
  for (const std::vector<std::string>& disabled : {std::vector<std::string>{}, {"write_copies"}}) {
    VariableStore store;
    const auto executable = Compile(store, disabled);
    for (int step = 0; step < 2; ++step) EST_ASSERT_OK(Step(*executable));
    EST_ASSERT_OK(store.Set("first", ir::Numbers({kIn, kHidden}, 9)));
    EST_ASSERT_OK(Step(*executable));
    EXPECT_EQ(num_casts_, disabled.empty() ? 1 : 2) << "only that of the variable that was set";
    results.push_back(Values(store));
  }
  for (size_t v = 0; v < results[0].size(); ++v)
    EXPECT_TRUE(SameBits(results[0][v], results[1][v])) << v;
}

TEST_F(Bfloat16CopiesTest, StayAfterAStepThatChangesNothing) {
  VariableStore store, undisturbed;
  const auto executable = Compile(store), other = Compile(undisturbed);
  for (int step = 0; step < 2; ++step) EST_ASSERT_OK(Step(*executable));
  outfeed_status_ = absl::InternalError("the loss is not finite");
  EXPECT_THAT(Step(*executable), ErrorHas("not finite"));
  outfeed_status_ = absl::OkStatus();
  EST_ASSERT_OK(Step(*executable));
  EXPECT_EQ(num_casts_, 0);
  for (int step = 0; step < 3; ++step) EST_ASSERT_OK(Step(*other));
  const std::vector<Array> values = Values(store), expected = Values(undisturbed);
  for (size_t v = 0; v < values.size(); ++v) EXPECT_TRUE(SameBits(values[v], expected[v])) << v;
}

TEST_F(Bfloat16CopiesTest, AreOutputsOfTheSweepInThePlan) {
  const auto program =
      Program::Compile(graph_, {.feeds = {x_}, .fetches = {loss_}, .updates = updates_});
  EST_ASSERT_OK(program);
  EXPECT_THAT((*program)->Plan(), HasSubstr("bf16 [300,130], bf16 [130,70])"));
}

}  // namespace
}  // namespace estimator
