#include "models/mnist/network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "absl/strings/match.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/ops/constant.h"

namespace estimator::mnist {
namespace {

Tensor Images(int64_t n) { return Constant(Array(DType::kUint8, Shape({n, 28, 28}))); }

int CountOps(const Graph& graph, absl::string_view op) {
  int count = 0;
  for (const auto& node : graph.nodes()) count += node->op() == op;
  return count;
}

using MnistNetworkTest = GraphTest;

TEST_F(MnistNetworkTest, VariablesHaveTensorFlowsNamesAndShapes) {
  const Tensor logits = Inference(Images(8), Mode::kTrain);
  EST_ASSERT_OK(graph_.status());
  EXPECT_EQ(logits.spec().ToString(), "f32 [8,10]");
  std::map<std::string, std::string> variables;
  int64_t num_parameters = 0;
  for (const Variable& variable : graph_.TrainableVariables()) {
    variables[variable.name()] = variable.spec().ToString();
    num_parameters += variable.shape().num_elements();
  }
  const std::map<std::string, std::string> expected = {
      {"conv2d/kernel", "f32 [5,5,1,32]"},    {"conv2d/bias", "f32 [32]"},
      {"conv2d_1/kernel", "f32 [5,5,32,64]"}, {"conv2d_1/bias", "f32 [64]"},
      {"dense/kernel", "f32 [3136,1024]"},    {"dense/bias", "f32 [1024]"},
      {"dense_1/kernel", "f32 [1024,10]"},    {"dense_1/bias", "f32 [10]"},
  };
  EXPECT_EQ(variables, expected);
  EXPECT_EQ(num_parameters, 3274634);
}

TEST_F(MnistNetworkTest, ComputesInBfloat16WithFloat32VariablesAndLogits) {
  const Tensor logits = Inference(Images(8), Mode::kTrain, DType::kBfloat16);
  EST_ASSERT_OK(graph_.status());
  EXPECT_EQ(logits.spec().ToString(), "f32 [8,10]");
  for (const Variable& variable : graph_.TrainableVariables())
    EXPECT_EQ(variable.dtype(), DType::kFloat32) << variable.name();
  for (const auto& node : graph_.nodes()) {
    if (node->op() == "Conv2D" || node->op() == "MatMul") {
      EXPECT_EQ(node->outputs()[0].dtype, DType::kBfloat16) << node->name();
    }
  }
}

TEST_F(MnistNetworkTest, DropsOutInTrainingOnly) {
  for (const Mode mode : {Mode::kTrain, Mode::kEval, Mode::kPredict}) {
    Graph graph;
    const GraphScope scope(graph);
    Inference(Images(2), mode);
    EST_ASSERT_OK(graph.status());
    int num_dropout = 0;
    for (const auto& node : graph.nodes()) num_dropout += absl::StartsWith(node->name(), "dropout");
    EXPECT_EQ(num_dropout > 0, mode == Mode::kTrain) << ModeName(mode);
    EXPECT_EQ(CountOps(graph, "Conv2D"), 2);
    EXPECT_EQ(CountOps(graph, "MaxPool"), 2);
    EXPECT_EQ(CountOps(graph, "MatMul"), 2);
  }
}

TEST_F(MnistNetworkTest, TakesFlatImagesToo) {
  const Tensor logits = Inference(Constant(Array(DType::kUint8, Shape({3, 784}))), Mode::kEval);
  EST_ASSERT_OK(graph_.status());
  EXPECT_EQ(logits.spec().ToString(), "f32 [3,10]");
}

TEST_F(MnistNetworkTest, ImagesOfAnotherSizeAreAnError) {
  Inference(Constant(Array(DType::kUint8, Shape({3, 783}))), Mode::kEval);
  EXPECT_THAT(graph_.status(), StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace estimator::mnist
