#include "estimator/graph/testing/graph_fixture.h"

#include <gtest/gtest.h>

namespace estimator {
namespace {

using GraphFixtureTest = GraphTest;

TEST_F(GraphFixtureTest, ItsGraphIsTheCurrentOne) {
  ASSERT_TRUE(Graph::HasCurrent());
  EXPECT_EQ(&Graph::Current(), &graph_);
}

TEST_F(GraphFixtureTest, AnotherScopeCanBeOpened) {
  Graph other;
  {
    const GraphScope scope(other);
    EXPECT_EQ(&Graph::Current(), &other);
  }
  EXPECT_EQ(&Graph::Current(), &graph_);
}

}  // namespace
}  // namespace estimator
