#include "estimator/runtime/neutral_module.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/runtime/testing/testing_ops.h"

namespace estimator::ir {
namespace {

using ::estimator::testing::Add;
using ::estimator::testing::Const;
using ::estimator::testing::CrossReplicaSum;
using ::estimator::testing::F32;
using ::estimator::testing::Identity;
using ::estimator::testing::Mul;
using ::estimator::testing::Placeholder;

using NeutralModuleTest = GraphTest;

int CountOps(const Module& module, absl::string_view op) {
  int count = 0;
  for (const Node& node : module.nodes) count += node.op == op;
  return count;
}

TEST_F(NeutralModuleTest, ConstantsAreFoldedAndEqualNodesMerged) {
  const Tensor x = Placeholder({2});
  const Tensor constant = Add(Const(F32({2}, {1, 2})), Const(F32({2}, {3, 4})));
  const Tensor y = Add(Mul(x, constant), Mul(Identity(x), constant));
  const auto module = BuildNeutralModule(graph_, {.feeds = {x}, .fetches = {y}, .updates = {}});
  EST_ASSERT_OK(module);
  EXPECT_EQ(CountOps(*module, "Mul"), 1);
  EXPECT_EQ(CountOps(*module, "Identity"), 0);
  EXPECT_EQ(CountOps(*module, "Const"), 1);
  EXPECT_EQ(CountOps(*module, "AddV2"), 1);
}

TEST_F(NeutralModuleTest, EqualNodesAreKeptOnRequest) {
  const Tensor x = Placeholder({2});
  const Tensor y = Add(Mul(x, x), Mul(x, x));
  const auto module = BuildNeutralModule(graph_, {.feeds = {x}, .fetches = {y}, .updates = {}},
                                         {.merge_equal = false});
  EST_ASSERT_OK(module);
  EXPECT_EQ(CountOps(*module, "Mul"), 2);
}

TEST_F(NeutralModuleTest, OneReplicaNeedsNoCollectives) {
  const Tensor x = Placeholder({2});
  const ProgramSpec spec = {.feeds = {x}, .fetches = {CrossReplicaSum(x)}, .updates = {}};
  const auto several = BuildNeutralModule(graph_, spec);
  EST_ASSERT_OK(several);
  EXPECT_EQ(CountOps(*several, "CrossReplicaSum"), 1);
  const auto single = BuildNeutralModule(graph_, spec, {.single_replica = true});
  EST_ASSERT_OK(single);
  EXPECT_EQ(CountOps(*single, "CrossReplicaSum"), 0);
}

}  // namespace
}  // namespace estimator::ir
