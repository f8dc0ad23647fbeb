#include "estimator/nn/train/optimizer.h"

#include <string>
#include <vector>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/nn/initializers.h"
#include "estimator/nn/moving_average.h"
#include "estimator/nn/replica_scope.h"
#include "estimator/nn/testing/step.h"
#include "estimator/nn/train/adam.h"
#include "estimator/nn/train/gradient_descent.h"
#include "estimator/nn/train/momentum.h"
#include "estimator/ops/branches.h"
#include "estimator/ops/comparison.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/reduction.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using testing::ExpectError;
using testing::ExpectNear;
using testing::Stepper;
using testing::VariableNames;

Variable Weight(absl::string_view name = "w") {
  return GetVariable(name, {2}, {.initializer = [](const Shape&, DType) {
                       return Constant({1.f, -2.f});
                     }});
}

int CountOps(const Graph& graph, absl::string_view op) {
  int count = 0;
  for (const auto& node : graph.nodes()) count += node->op() == op;
  return count;
}

// The example of optimizer.h.
class HeavyBall : public train::Optimizer {
 public:
  explicit HeavyBall(Schedule rate) : Optimizer("HeavyBall", std::move(rate)) {}

 protected:
  std::vector<Operation> ApplyDense(const Tensor& gradient, const Variable& variable) override {
    const Variable m = GetSlot(variable, "m");
    const Tensor new_m = m * 0.5 + gradient;
    return {Assign(m, new_m), Assign(variable, variable - Rate(variable) * new_m)};
  }
};

// Averages in 64 bits, by column, with a counter of its own: all that a subclass may keep.
class ColumnMeans : public train::Optimizer {
 public:
  ColumnMeans() : Optimizer("ColumnMeans", 0.5) {}

 protected:
  void Prepare(const std::vector<Variable>&) override {
    count_ = GetNonSlot("count", 1, DType::kInt32);
  }
  std::vector<Operation> ApplyDense(const Tensor& gradient, const Variable& variable) override {
    const Variable mean = GetSlot(variable, "mean",
                                  {.initializer = initializers::Constant(3),
                                   .name = "Columns",
                                   .shape = Shape{},
                                   .dtype = DType::kFloat64});
    const Tensor next =
        mean + Cast(ReduceMean(gradient) * Cast(count_, DType::kFloat32), DType::kFloat64);
    const Tensor step = Cast(GetOrCreateGlobalStep(), DType::kFloat32);
    return {Assign(mean, next), Assign(variable, variable - Rate(variable) * step * gradient)};
  }
  std::vector<Operation> Finish() override { return {AssignAdd(count_, Constant(1))}; }

 private:
  Variable count_;
};

// Holds another optimizer, as CrossShardOptimizer does.
class Wrapper : public train::Optimizer {
 public:
  template <typename Inner>
  explicit Wrapper(Inner inner)
      : Optimizer("Wrapper", 0), inner_(std::make_shared<Inner>(std::move(inner))) {}
  std::vector<train::GradientAndVariable> ComputeGradients(
      const Tensor& loss, const std::vector<Variable>& variables) override {
    const CrossShardScope scope;
    return inner_->ComputeGradients(
        ScaleLossForReplicas(loss, Reduction::kMean, ReplicaScope::Current().num_replicas),
        variables);
  }
  Operation ApplyGradients(const std::vector<train::GradientAndVariable>& pairs,
                           const train::ApplyOptions& options) override {
    const CrossShardScope scope;
    return inner_->ApplyGradients(SumGradientsOverReplicas(pairs), options);
  }

 protected:
  std::vector<Operation> ApplyDense(const Tensor&, const Variable&) override { return {}; }

 private:
  std::shared_ptr<Optimizer> inner_;
};

class OptimizerTest : public GraphTest {
 protected:
  Stepper stepper_{graph_};
};

TEST_F(OptimizerTest, MinimizeStepsDownTheGradientAndCountsTheStep) {
  const Variable w = Weight();
  const Operation step = train::GradientDescent(0.1).Minimize(ReduceSum(Square(w)));
  stepper_.Run(step);
  ExpectNear(stepper_.Value("w"), {0.8, -1.6});
  ExpectNear(stepper_.Value("global_step"), {1});
  EXPECT_EQ(graph_.GlobalStep()->dtype(), DType::kInt64);
}

TEST_F(OptimizerTest, TheStepIsNotCountedWhereThatIsTurnedOff) {
  const Variable w = Weight();
  (void)train::GradientDescent(0.1).Minimize(ReduceSum(Square(w)),
                                             {.increment_global_step = false});
  EXPECT_FALSE(graph_.GlobalStep().has_value());
}

TEST_F(OptimizerTest, OnlyTheVariablesOfVarListMove) {
  const Variable a = Weight("a"), b = Weight("b");
  const Operation step = train::GradientDescent(0.1).Minimize(ReduceSum(a * b), {.var_list = {b}});
  stepper_.Run(step);
  ExpectNear(stepper_.Value("a"), {1, -2});
  ExpectNear(stepper_.Value("b"), {0.9, -1.8});
}

TEST_F(OptimizerTest, AnOptimizerOfTheUsersOwnKeepsItsSlots) {
  const Variable w = Weight();
  const Operation step = HeavyBall(0.1).Minimize(ReduceSum(w * Constant({1.f, 2.f})));
  stepper_.Run(step, {}, 2);
  ExpectNear(stepper_.Value("w/m"), {1.5, 3});
  ExpectNear(stepper_.Value("w"), {1 - 0.1 - 0.15, -2 - 0.2 - 0.3});
  EXPECT_FALSE(graph_.FindVariable("w/m")->trainable());
}

TEST_F(OptimizerTest, AnOptimizerOfTheUsersOwnMayKeepSlotsOfAnyTypeAndVariablesOfItsOwn) {
  const Variable w = Weight();
  Operation step;
  {
    const NameScope scope("training", graph_);
    step = ColumnMeans().Minimize(ReduceSum(w * Constant({1.f, 3.f})));
  }
  stepper_.Run(step, {}, 2);
  EXPECT_EQ(VariableNames(graph_),
            (std::vector<std::string>{"w", "training/count", "w/Columns", "global_step"}));
  EXPECT_EQ(graph_.FindVariable("w/Columns")->dtype(), DType::kFloat64);
  ExpectNear(stepper_.Value("training/count"), {3});
  ExpectNear(stepper_.Value("w/Columns"), {3 + 2 * 1 + 2 * 2});
  ExpectNear(stepper_.Value("w"), {1 - 0.5, -2 - 1.5});  // the first step, number 0, moves nothing
}

TEST_F(OptimizerTest, SlotsHaveTensorFlowsNamesInsideAndOutsideOfScopes) {
  Variable w;
  {
    const VariableScope scope("train");
    w = Weight();
  }
  {
    const VariableScope scope("opt", {.reuse = Reuse::kTrue});
    (void)train::Momentum(0.1, 0.9).Minimize(ReduceSum(Square(w)),
                                             {.increment_global_step = false});
  }
  (void)train::Momentum(0.1, 0.9).Minimize(ReduceSum(Square(w)), {.increment_global_step = false});
  (void)train::Momentum(0.1, 0.9).Minimize(ReduceSum(Square(w)), {.increment_global_step = false});
  EST_ASSERT_OK(graph_.status());
  EXPECT_EQ(VariableNames(graph_),
            (std::vector<std::string>{"train/w", "opt/train/w/Momentum", "train/w/Momentum",
                                      "train/w/Momentum_1"}));
}

TEST_F(OptimizerTest, OneOptimizerAppliedTwiceSharesItsSlots) {
  const Variable w = Weight();
  train::Momentum optimizer(0.1, 0.9);
  (void)optimizer.Minimize(ReduceSum(Square(w)));
  (void)optimizer.Minimize(ReduceSum(w));
  EXPECT_EQ(VariableNames(graph_), (std::vector<std::string>{"w", "w/Momentum", "global_step"}));
}

TEST_F(OptimizerTest, UpdatedValueIsWhatTheVariableWillBe) {
  const Variable w = Weight();
  const Operation step = train::GradientDescent(0.1).Minimize(ReduceSum(Square(w)));
  ExpectNear(stepper_.Eval(UpdatedValue(step, w)), {0.8, -1.6});
  ExpectNear(stepper_.Eval(UpdatedValue(step, *graph_.GlobalStep())), {1});
  ExpectNear(stepper_.Eval(UpdatedValue(Operation(), w)), {1, -2});
}

TEST_F(OptimizerTest, OnReplicasABareOptimizerMeansAndSums) {
  const ReplicaScope replicas({.num_replicas = 4});
  const Variable w = Weight();
  const Operation step = train::GradientDescent(0.1).Minimize(ReduceSum(Square(w)));
  EXPECT_TRUE(replicas.summed_bare_optimizer());
  EXPECT_EQ(CountOps(graph_, "CrossReplicaSum"), 1);
  // One replica stands for four here, so a quarter of the step is made.
  stepper_.Run(step);
  ExpectNear(stepper_.Value("w"), {0.95, -1.9});
}

TEST_F(OptimizerTest, AWrappedOptimizerIsNotWrappedTwice) {
  const ReplicaScope replicas({.num_replicas = 4});
  const Variable w = Weight();
  const Operation step = Wrapper(train::GradientDescent(0.1)).Minimize(ReduceSum(Square(w)));
  EXPECT_FALSE(replicas.summed_bare_optimizer());
  EXPECT_EQ(CountOps(graph_, "CrossReplicaSum"), 1);
  stepper_.Run(step);
  ExpectNear(stepper_.Value("w"), {0.95, -1.9});
  EXPECT_FALSE(CrossShardScope::Active());
}

TEST_F(OptimizerTest, GradientsOfTheModelsOwnAreSummedNotMeaned) {
  const ReplicaScope replicas({.num_replicas = 4});
  const Variable w = Weight();
  const Operation step = train::GradientDescent(0.1).ApplyGradients({{Constant({1.f, 1.f}), w}});
  EXPECT_EQ(CountOps(graph_, "CrossReplicaSum"), 1);
  stepper_.Run(step);
  ExpectNear(stepper_.Value("w"), {0.9, -2.1});
}

TEST_F(OptimizerTest, WithoutReplicasNothingIsSummed) {
  const ReplicaScope replicas({.num_replicas = 1});
  (void)train::GradientDescent(0.1).Minimize(ReduceSum(Square(Weight())));
  EXPECT_EQ(CountOps(graph_, "CrossReplicaSum"), 0);
}

// One of two optimizers makes the step.
Operation AdamOrMomentum(const Tensor& loss) {
  train::Adam adam(0.1);
  train::Momentum momentum(0.1, 0.9);
  return Cond(
      Equal(GetOrCreateGlobalStep(), 1), [&] { return adam.Minimize(loss); },
      [&] { return momentum.Minimize(loss); });
}

// As TF 2.15 names them without control flow of version 2.
TEST_F(OptimizerTest, InABranchTheOptimizersVariablesHaveTheScopeOfTheCond) {
  const VariableScope scope("train");
  (void)AdamOrMomentum(ReduceSum(Square(Weight())));
  EST_ASSERT_OK(graph_.status());
  EXPECT_EQ(VariableNames(graph_),
            (std::vector<std::string>{"train/w", "global_step", "train/cond/beta1_power",
                                      "train/cond/beta2_power", "train/train/w/Adam",
                                      "train/train/w/Adam_1", "train/train/w/Momentum"}));
}

TEST_F(OptimizerTest, OnReplicasAnOptimizerInABranchSumsOutsideOfIt) {
  const ReplicaScope replicas({.num_replicas = 4});
  const Operation step = AdamOrMomentum(ReduceSum(Square(Weight())));
  EST_ASSERT_OK(graph_.status());
  EXPECT_EQ(CountOps(graph_, "CrossReplicaSum"), 2);  // passes merge them
  EXPECT_EQ(CountOps(graph_, "If"), 1);
  // A quarter of the step of Momentum, and then one of Adam, whose size is its rate.
  stepper_.Run(step);
  ExpectNear(stepper_.Value("w"), {0.95, -1.9});
  stepper_.Run(step);
  ExpectNear(stepper_.Value("w"), {0.85, -1.8}, 1e-5);
}

TEST_F(OptimizerTest, ALossThatNoVariableReachesIsNamed) {
  Weight("a"), Weight("b"), Weight("c"), Weight("d");
  const Operation step = train::GradientDescent(0.1).Minimize(Constant(1.0f, "my_loss"));
  EXPECT_FALSE(step.valid());
  ExpectError(graph_,
              {"does not depend on any trainable variable", "my_loss", "'a', 'b', 'c' and 1 more"});
}

TEST_F(OptimizerTest, ALossThatIsNoScalarIsNamed) {
  (void)train::GradientDescent(0.1).Minimize(Square(Weight()));
  ExpectError(graph_, {"Square", "f32 [2]", "scalar"});
}

TEST_F(OptimizerTest, AGraphWithoutVariablesIsNamed) {
  (void)train::GradientDescent(0.1).Minimize(Constant(1.0f));
  ExpectError(graph_, {"no trainable variable"});
}

TEST_F(OptimizerTest, AMissingLossIsNamed) {
  Weight();
  (void)train::GradientDescent(0.1).Minimize(Tensor());
  ExpectError(graph_, {"loss is not a tensor"});
}

TEST_F(OptimizerTest, AGradientOfAnotherShapeIsNamed) {
  (void)train::GradientDescent(0.1).ApplyGradients({{Constant(1.0f), Weight()}});
  ExpectError(graph_, {"'w'", "f32 [2]", "f32 []"});
}

}  // namespace
}  // namespace estimator
