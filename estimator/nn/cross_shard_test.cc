#include "estimator/nn/cross_shard.h"

#include <vector>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/gradients.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/op_registry.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/cross_replica.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/random.h"
#include "estimator/ops/reduction.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

// A random op of the user's own: what has a seed draws other numbers on each replica.
EST_REGISTER_OP({.name = "Noise",
                 .num_inputs = 1,
                 .shape = [](const ShapeContext& c) -> absl::StatusOr<std::vector<TensorSpec>> {
                   return std::vector<TensorSpec>{c.input(0)};
                 },
                 .stateful = true});

// A stateful op that is no source: a check that passes its input through.
EST_REGISTER_OP({.name = "Checked",
                 .num_inputs = 1,
                 .shape = [](const ShapeContext& c) -> absl::StatusOr<std::vector<TensorSpec>> {
                   return std::vector<TensorSpec>{c.input(0)};
                 },
                 .gradient = [](const Node&, const std::vector<Tensor>& grads) { return grads; },
                 .stateful = true});

class CrossShardTest : public GraphTest {
 protected:
  Tensor Gradient(const Tensor& loss) { return Gradients(loss, {w_})[0]; }
  // Whether the optimizer sums the gradient, as the model has not.
  bool IsSummed(const Tensor& gradient) {
    const Tensor applied = SumGradientsNotYetSummed({{gradient, w_}})[0].gradient;
    EST_EXPECT_OK(graph_.status());
    return applied.node() != gradient.node();
  }
  const Variable w_ = GetVariable("w", {2});
  const Tensor x_ = Placeholder(DType::kFloat32, {2});
};

TEST_F(CrossShardTest, WhatGradientsReturnsIsSummed) {
  EXPECT_TRUE(IsSummed(Gradient(ReduceSum(Square(w_ * x_)))));
  EXPECT_TRUE(IsSummed(Gradient(ReduceSum(Square(w_))))) << "a penalty";
}

TEST_F(CrossShardTest, ASumInTheForwardPassIsNoSumOfGradients) {
  const Tensor gathered = CrossReplicaSum(x_);
  EXPECT_TRUE(IsSummed(Gradient(ReduceSum(Square(w_ * gathered - 1)))));
  EXPECT_TRUE(IsSummed(Gradient(ReduceSum(CrossReplicaSum(w_ * 2))))) << "nor is its gradient";
  const Tensor norm = Sqrt(ReduceSum(Square(gathered)));
  EXPECT_TRUE(IsSummed(Gradient(ReduceSum(w_ * x_)) / norm));
}

TEST_F(CrossShardTest, ASumOfGradientsIsNotSummedAgain) {
  const Tensor sum = CrossReplicaSum(Gradient(ReduceSum(Square(w_ * CrossReplicaSum(x_)))));
  EXPECT_FALSE(IsSummed(sum));
  EXPECT_FALSE(IsSummed(sum * 2 / Sqrt(ReduceSum(Square(sum))))) << "clipped";
  EXPECT_FALSE(IsSummed(sum + w_ * 0.1)) << "with weight decay";
  EXPECT_FALSE(IsSummed(CrossReplicaSum(x_))) << "of the model's own making";
}

TEST_F(CrossShardTest, ASumOverGroupsIsNoSumOverAllShards) {
  EXPECT_TRUE(IsSummed(CrossReplicaSum(Gradient(ReduceSum(w_ * x_)), {{0, 1}, {2, 3}})));
}

TEST_F(CrossShardTest, ASumWithSomethingOfEachShardIsSummed) {
  const Tensor sum = CrossReplicaSum(Gradient(ReduceSum(w_ * x_)));
  EXPECT_TRUE(IsSummed(sum + x_));
  EXPECT_TRUE(IsSummed(sum + RandomNormal({2})));
  EXPECT_TRUE(IsSummed(sum + RandomUniform({2})));
  EXPECT_TRUE(IsSummed(sum + TruncatedNormal({2})));
  EXPECT_TRUE(IsSummed(RandomShuffle(sum)));
  EXPECT_TRUE(IsSummed(AddOp("Noise", {sum}, {{"seed", int64_t{1}}, {"seed2", int64_t{2}}})));
  EXPECT_TRUE(IsSummed(sum * Cast(ReplicaId(), DType::kFloat32)));
}

TEST_F(CrossShardTest, AStatefulOpThatPassesItsInputThroughChangesNothing) {
  const Tensor gradient = Gradient(ReduceSum(w_ * x_));
  EXPECT_TRUE(IsSummed(AddOp("Checked", {gradient})));
  EXPECT_FALSE(IsSummed(AddOp("Checked", {CrossReplicaSum(gradient)})));
}

TEST_F(CrossShardTest, WhatKeepsGradientsOfOneReplicaIsNamed) {
  const Variable local = GetVariable("local", {2}, {.local = true}),
                 kept = GetVariable("kept", {2});
  const Tensor gradient = Gradient(ReduceSum(w_ * x_)), sum = CrossReplicaSum(gradient);
  EST_EXPECT_OK(CheckGradientsAreSummed(graph_, 4,
                                        {Group({Assign(w_, w_ - sum), AssignAdd(kept, sum * 2),
                                                Assign(kept, x_), Assign(local, gradient)})}))
      << "a value of the features' is the model's own affair";
  const Operation updates = Group({AssignAdd(kept, gradient), Assign(w_, w_ - sum * gradient)});
  const absl::Status status = CheckGradientsAreSummed(graph_, 4, {updates});
  EXPECT_THAT(status, ErrorHas("in 'kept', 'w': they are not summed over the 4 replicas"));
  EST_EXPECT_OK(CheckGradientsAreSummed(graph_, 1, {updates}));
}

// As batch normalization's averages of images that were moved along their gradients; a model may
// group them with its train_op itself.
TEST_F(CrossShardTest, UpdateOpsMayKeepGradientsOfOneReplicaWhereverTheyAreRun) {
  const Variable average = GetVariable("average", {2}), kept = GetVariable("kept", {2});
  const Tensor gradient = Gradient(ReduceSum(w_ * x_)), sum = CrossReplicaSum(gradient);
  graph_.update_ops().push_back(Assign(average, gradient));
  const Operation updates = Group({Assign(w_, w_ - sum), Group(graph_.update_ops())});
  EXPECT_EQ(CheckGradientsAreSummed(graph_, 4, {updates}).ToString(), "OK");
  EXPECT_THAT(CheckGradientsAreSummed(graph_, 4, {Group({updates, Assign(kept, gradient)})}),
              ErrorHas("in 'kept': they are not summed"));
}

// Backward in two halves: what comes out is a gradient even where it is what went in.
TEST_F(CrossShardTest, AGradientThatPassesThroughUnchangedIsStillAGradient) {
  const Tensor sum = CrossReplicaSum(x_);
  const Tensor through = Gradients({w_.read()}, {w_.read()}, {sum})[0];
  EXPECT_TRUE(IsSummed(through));
  EXPECT_FALSE(IsSummed(sum));
}

}  // namespace
}  // namespace estimator
