#include "estimator/nn/replica_scope.h"

#include <gtest/gtest.h>

namespace estimator {
namespace {

TEST(ReplicaScopeTest, TheInnermostScopeCounts) {
  EXPECT_EQ(ReplicaScope::Current().num_replicas, 1);
  EXPECT_FALSE(ReplicaScope::Current().dense_gradients);
  const ReplicaScope outer({.num_replicas = 8, .dense_gradients = true});
  {
    const ReplicaScope inner({.num_replicas = 2});
    EXPECT_EQ(ReplicaScope::Current().num_replicas, 2);
    ReplicaScope::NoteSummedBareOptimizer();
    EXPECT_TRUE(inner.summed_bare_optimizer());
  }
  EXPECT_EQ(ReplicaScope::Current().num_replicas, 8);
  EXPECT_TRUE(ReplicaScope::Current().dense_gradients);
  EXPECT_FALSE(outer.summed_bare_optimizer());
}

TEST(ReplicaScopeTest, WithoutAScopeNothingIsNoted) { ReplicaScope::NoteSummedBareOptimizer(); }

}  // namespace
}  // namespace estimator
