// The fixture of tests that build a graph.
#ifndef ESTIMATOR_GRAPH_TESTING_GRAPH_FIXTURE_H_
#define ESTIMATOR_GRAPH_TESTING_GRAPH_FIXTURE_H_

#include <gtest/gtest.h>

#include "estimator/graph/graph.h"

namespace estimator {

// Ops and variables of the test are built into `graph_`.
//   using DenseTest = GraphTest;
//   TEST_F(DenseTest, ...) { EXPECT_EQ(Dense(x, {...}), ...); }
class GraphTest : public ::testing::Test {
 protected:
  Graph graph_;
  const GraphScope scope_{graph_};
};

}  // namespace estimator

#endif  // ESTIMATOR_GRAPH_TESTING_GRAPH_FIXTURE_H_
