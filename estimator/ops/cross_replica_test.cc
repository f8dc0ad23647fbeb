#include "estimator/ops/cross_replica.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "estimator/array/compare.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/gradients.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/op_registry.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/testing/eval.h"

namespace estimator {
namespace {

using testing::CheckGradients;
using testing::Eval;
using testing::Scrambled;

using CrossReplicaTest = GraphTest;

TEST_F(CrossReplicaTest, OneReplicaSumsToItself) {
  EXPECT_EQ(
      Compare(*Eval(CrossReplicaSum(Constant({1.f, 2.f}))), Array::Of<float>({2}, {1, 2})).report,
      "");
}

TEST_F(CrossReplicaTest, GroupsAreAnInputAsInTensorFlow) {
  const Tensor sum = CrossReplicaSum(Ones({2}), {{0, 1}, {2, 3}});
  EXPECT_EQ(sum.node()->op(), "CrossReplicaSum");
  EXPECT_EQ(Compare(*Eval(sum.node()->input(1)), Array::Of<int32_t>({2, 2}, {0, 1, 2, 3})).report,
            "");
  EXPECT_EQ(CrossReplicaSum(Ones({2})).node()->input(1).shape(), (Shape{0, 0}));
}

TEST_F(CrossReplicaTest, GradientIsTheSameSum) {
  const Tensor x = Ones({2});
  const Tensor dx = Gradients({CrossReplicaSum(x, {{0, 1}})}, {x})[0];
  EXPECT_EQ(dx.node()->op(), "CrossReplicaSum");
  EXPECT_EQ(dx.node()->input(1).shape(), (Shape{1, 2}));
  const auto fn = [](const std::vector<Tensor>& in) { return CrossReplicaSum(in[0]); };
  EXPECT_EQ(CheckGradients(fn, {Scrambled({3}, -1, 1)}), absl::OkStatus());
}

TEST_F(CrossReplicaTest, ASumIsNeverAConstant) {
  // It depends on how many replicas run, even where its input does not.
  EXPECT_TRUE(CrossReplicaSum(Ones({2})).node()->rules().stateful);
}

TEST_F(CrossReplicaTest, ReplicaIdIsThatOfTheStep) {
  EXPECT_EQ(Eval(ReplicaId(), {}, {.replica = 5, .num_replicas = 8})->scalar<int32_t>(), 5);
}

TEST_F(CrossReplicaTest, GroupsThatOverlapOrDifferInSizeAreErrors) {
  EXPECT_FALSE(CrossReplicaSum(Ones({2}), {{0, 1}, {1, 2}}).valid());
  EXPECT_THAT(
      graph_.status(),
      ErrorIs("CrossReplicaSum: group_assignment names replica 1 twice (f32 [2] and i32 [2,2])"));
  Graph other;
  GraphScope scope(other);
  EXPECT_FALSE(CrossReplicaSum(Ones({2}), {{0, 1}, {2}}).valid());
  EXPECT_THAT(other.status(),
              ErrorIs("CrossReplicaSum: groups must have one size, got 2 and 1 replicas"));
}

}  // namespace
}  // namespace estimator
