// MobileNets and EfficientNets: what their own options do, and how they refuse wrong ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "models/images/efficientnet.h"
#include "models/images/efficientnet_v2.h"
#include "models/images/mobile.h"
#include "models/images/mobilenet.h"
#include "models/images/mobilenet_v2.h"
#include "models/images/mobilenet_v3.h"

namespace estimator::images {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

using MobileNetworksTest = GraphTest;

Tensor Pixels(int64_t size = 32, DType dtype = DType::kFloat32) {
  return Constant(Array(dtype, Shape({2, size, size, 3})));
}

int NumNodes(const Graph& graph, const std::string& op) {
  int count = 0;
  for (const auto& node : graph.nodes()) count += node->op() == op ? 1 : 0;
  return count;
}

TEST(DivisibleBy8, RoundsAsKeras) {
  EXPECT_EQ(DivisibleBy8(3), 8);
  EXPECT_EQ(DivisibleBy8(44), 48);
  EXPECT_EQ(DivisibleBy8(35.9), 40);  // 32 would be less than 90 %
  EXPECT_EQ(DivisibleBy8(35.9, /*never_below_90_percent=*/false), 32);
}

TEST_F(MobileNetworksTest, RefuseWidthsThatAreNotPositiveWithAllOtherProblems) {
  EXPECT_FALSE(MobileNetV2(Pixels(16), {.classes = 0, .alpha = 0}).valid());
  EXPECT_THAT(graph_.status().ToString(),
              AllOf(HasSubstr("MobileNetV2: "), HasSubstr("alpha must be positive, got 0"),
                    HasSubstr("at least 32x32"), HasSubstr("classes must be positive")));
}

TEST_F(MobileNetworksTest, RefuseCoefficientsThatAreNotPositive) {
  EXPECT_FALSE(EfficientNet(Pixels(), {.model = 8, .width_coefficient = 0, .depth_coefficient = -1})
                   .valid());
  EXPECT_THAT(graph_.status().ToString(),
              AllOf(HasSubstr("EfficientNet: "), HasSubstr("model must be 0 to 7, got 8"),
                    HasSubstr("width_coefficient must be positive"),
                    HasSubstr("depth_coefficient must be positive")));
}

TEST_F(MobileNetworksTest, RescaleByImageNetsDeviationsOnlyThreeChannels) {
  const Tensor gray = Constant(Array(DType::kFloat32, {2, 32, 32, 1}));
  EXPECT_FALSE(EfficientNet(gray, {.imagenet_rescaling = true}).valid());
  EXPECT_THAT(graph_.status().ToString(), HasSubstr("imagenet_rescaling needs images of 3"));
}

// Dropouts of the network; initializers draw too.
struct Draws {
  int per_example = 0;
  int per_element = 0;
};
Draws DropoutsOf(const Graph& graph) {
  Draws draws;
  for (const auto& node : graph.nodes()) {
    if (node->op() != "RandomUniform" || absl::StrContains(node->name(), "Initializer")) continue;
    (node->outputs()[0].shape == Shape({2, 1, 1, 1}) ? draws.per_example : draws.per_element) += 1;
  }
  return draws;
}

// Nine of EfficientNet-B0's 16 blocks have a shortcut.
TEST_F(MobileNetworksTest, DropWholeBlocksOfAnExampleInTrainingOnly) {
  EfficientNet(Pixels(), {});
  EXPECT_EQ(DropoutsOf(graph_).per_example + DropoutsOf(graph_).per_element, 0);
  Graph training;
  const GraphScope scope(training);
  EfficientNet(Pixels(), {.training = true});
  EST_ASSERT_OK(training.status());
  EXPECT_EQ(DropoutsOf(training).per_example, 9);
  EXPECT_EQ(DropoutsOf(training).per_element, 1);  // before the top
}

// Names and shapes are compared with Keras' in networks_test; here, slim's names.
TEST_F(MobileNetworksTest, MapsFromSlimNameEveryVariableBelowTheTopOnce) {
  const auto expect_all = [](const train::AssignmentMap& map, const Graph& graph) {
    std::set<std::string> mapped, slim;
    for (const auto& [from, to] : map) {
      EXPECT_TRUE(mapped.insert(to.name()).second) << to.name();
      EXPECT_TRUE(slim.insert(from).second) << from;
    }
    std::set<std::string> variables;
    for (const Variable& variable : graph.variables()) variables.insert(variable.name());
    EXPECT_EQ(mapped, variables);
    return slim;
  };
  {
    const VariableScope scope("a");
    MobileNet(Pixels(), {.include_top = false});
  }
  EXPECT_TRUE(expect_all(MobileNetFromSlim("a/"), graph_)
                  .contains("MobilenetV1/Conv2d_13_pointwise/BatchNorm/moving_mean"));
  Graph second;
  const GraphScope scope(second);
  MobileNetV2(Pixels(), {.include_top = false});
  const std::set<std::string> slim = expect_all(MobileNetV2FromSlim(), second);
  EXPECT_TRUE(slim.contains("MobilenetV2/expanded_conv_16/depthwise/depthwise_weights"));
  EXPECT_TRUE(slim.contains("MobilenetV2/Conv_1/BatchNorm/gamma"));
}

TEST_F(MobileNetworksTest, LeaveScalingToTheirPreprocessingWhereKerasDoes) {
  MobileNetV3Small(Pixels(), {.include_preprocessing = false});
  const int without = NumNodes(graph_, "Sub");
  Graph with;
  const GraphScope scope(with);
  MobileNetV3Small(Pixels(), {});
  EXPECT_EQ(NumNodes(with, "Sub"), without + 1);
}

}  // namespace
}  // namespace estimator::images
