#include "models/imagenet/resnet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/testing/graph_fixture.h"

namespace estimator::imagenet {
namespace {

Tensor Images(int64_t n, int64_t size, DType dtype = DType::kFloat32) {
  return Constant(Array(dtype, Shape({n, size, size, 3})));
}

int64_t NumParameters(Graph& graph) {
  int64_t count = 0;
  for (const Variable& variable : graph.TrainableVariables())
    count += variable.shape().num_elements();
  return count;
}

std::map<std::string, std::string> Kernels(Graph& graph) {
  std::map<std::string, std::string> kernels;
  for (const Variable& variable : graph.TrainableVariables()) {
    if (absl::EndsWith(variable.name(), "/kernel"))
      kernels[variable.name()] = variable.spec().ToString();
  }
  return kernels;
}

std::string ShapeOf(Graph& graph, const std::string& node_name) {
  const Tensor tensor = graph.FindTensor(node_name);
  return tensor.valid() ? tensor.shape().ToString() : absl::StrCat("no ", node_name);
}

using ResnetTest = GraphTest;

// With 1000 classes. ResNet-18 and 34 have 4,224 more than the paper's: the first block has a
// shortcut with a convolution, as in TensorFlow's official TPU ResNet.
TEST_F(ResnetTest, HasTheNumberOfParametersOfTensorFlowsNetworks) {
  const std::map<int, int64_t> expected = {{18, 11693736},  {34, 21801896},  {50, 25557032},
                                           {101, 44549160}, {152, 60192808}, {200, 64673832}};
  EXPECT_EQ(ResnetDepths().size(), expected.size());
  for (const auto& [depth, num_parameters] : expected) {
    for (const ResnetVersion version : {ResnetVersion::kV1, ResnetVersion::kV1_5}) {
      Graph graph;
      const GraphScope scope(graph);
      const Tensor logits =
          Resnet(Images(2, 64), Mode::kTrain, {.resnet_depth = depth, .resnet_version = version});
      EST_ASSERT_OK(graph.status());
      EXPECT_EQ(logits.spec().ToString(), "f32 [2,1000]");
      EXPECT_EQ(NumParameters(graph), num_parameters) << depth;
    }
  }
}

TEST_F(ResnetTest, VariablesHaveTensorFlowsNamesAndOrder) {
  Resnet(Images(2, 64), Mode::kTrain, {.resnet_depth = 50});
  EST_ASSERT_OK(graph_.status());
  const std::map<std::string, std::string> kernels = Kernels(graph_);
  EXPECT_EQ(kernels.size(), 54u);  // 53 convolutions and the dense layer
  const std::map<std::string, std::string> expected = {
      {"conv2d/kernel", "f32 [7,7,3,64]"},
      {"conv2d_1/kernel", "f32 [1,1,64,256]"},  // the shortcut of the first block
      {"conv2d_2/kernel", "f32 [1,1,64,64]"},
      {"conv2d_3/kernel", "f32 [3,3,64,64]"},
      {"conv2d_4/kernel", "f32 [1,1,64,256]"},
      {"conv2d_5/kernel", "f32 [1,1,256,64]"},
      {"conv2d_11/kernel", "f32 [1,1,256,512]"},  // the shortcut of the second group
      {"conv2d_52/kernel", "f32 [1,1,512,2048]"},
      {"dense/kernel", "f32 [2048,1000]"}};
  for (const auto& [name, spec] : expected) EXPECT_EQ(kernels.at(name), spec) << name;
  std::set<std::string> names;
  for (const Variable& variable : graph_.variables()) names.insert(variable.name());
  for (const char* part : {"gamma", "beta", "moving_mean", "moving_variance"}) {
    EXPECT_TRUE(names.contains(absl::StrCat("batch_normalization/", part)));
    EXPECT_TRUE(names.contains(absl::StrCat("batch_normalization_52/", part)));
  }
  EXPECT_EQ(names.size(), 53u + 53 * 4 + 2);
}

TEST_F(ResnetTest, HalvesTheSizeFiveTimes) {
  Resnet(Images(2, 224), Mode::kEval, {.resnet_depth = 18});
  EST_ASSERT_OK(graph_.status());
  EXPECT_EQ(ShapeOf(graph_, "initial_conv"), "[2,112,112,64]");
  EXPECT_EQ(ShapeOf(graph_, "initial_max_pool"), "[2,56,56,64]");
  EXPECT_EQ(ShapeOf(graph_, "block_group1"), "[2,56,56,64]");
  EXPECT_EQ(ShapeOf(graph_, "block_group2"), "[2,28,28,128]");
  EXPECT_EQ(ShapeOf(graph_, "block_group3"), "[2,14,14,256]");
  EXPECT_EQ(ShapeOf(graph_, "block_group4"), "[2,7,7,512]");
  EXPECT_EQ(ShapeOf(graph_, "final_avg_pool"), "[2,1,1,512]");
  EXPECT_EQ(ShapeOf(graph_, "final_dense"), "[2,1000]");
}

// conv2d_11 is the shortcut of the second group's first block, conv2d_12 to 14 its convolutions.
TEST_F(ResnetTest, VersionsDifferInThePlaceOfTheStride) {
  for (const ResnetVersion version : {ResnetVersion::kV1, ResnetVersion::kV1_5}) {
    Graph graph;
    const GraphScope scope(graph);
    Resnet(Images(1, 64), Mode::kEval, {.resnet_version = version});
    EST_ASSERT_OK(graph.status());
    const bool v1 = version == ResnetVersion::kV1;
    EXPECT_EQ(ShapeOf(graph, "conv2d_11/Conv2D"), "[1,8,8,512]");
    EXPECT_EQ(ShapeOf(graph, "conv2d_12/Conv2D"), v1 ? "[1,8,8,128]" : "[1,16,16,128]");
    EXPECT_EQ(ShapeOf(graph, "conv2d_13/Conv2D"), "[1,8,8,128]");
    EXPECT_EQ(ShapeOf(graph, "block_group2"), "[1,8,8,512]");
  }
}

TEST_F(ResnetTest, UpdatesMovingAveragesInTrainingOnly) {
  for (const Mode mode : {Mode::kTrain, Mode::kEval, Mode::kPredict}) {
    Graph graph;
    const GraphScope scope(graph);
    Resnet(Images(2, 32), mode, {.resnet_depth = 18, .num_label_classes = 5, .width = 8});
    EST_ASSERT_OK(graph.status());
    EXPECT_EQ(graph.update_ops().empty(), mode != Mode::kTrain) << ModeName(mode);
  }
}

TEST_F(ResnetTest, WeightsAreFloat32ForBfloat16Images) {
  const Tensor logits = Resnet(Images(2, 32, DType::kBfloat16), Mode::kTrain,
                               {.resnet_depth = 18, .num_label_classes = 5, .width = 8});
  EST_ASSERT_OK(graph_.status());
  EXPECT_EQ(logits.spec().ToString(), "bf16 [2,5]");
  for (const Variable& variable : graph_.variables())
    EXPECT_EQ(variable.spec().dtype, DType::kFloat32) << variable.name();
}

TEST_F(ResnetTest, OddSizesWorkToo) {
  const Tensor logits = Resnet(Images(1, 33), Mode::kEval, {.resnet_depth = 34, .width = 8});
  EST_ASSERT_OK(graph_.status());
  EXPECT_EQ(ShapeOf(graph_, "initial_conv"), "[1,17,17,8]");
  EXPECT_EQ(logits.spec().ToString(), "f32 [1,1000]");
}

TEST_F(ResnetTest, NamesEveryOptionThatIsOutOfRange) {
  Resnet(Images(1, 32), Mode::kEval, {.resnet_depth = 20, .num_label_classes = 0, .width = 0});
  EXPECT_THAT(graph_.status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       ::testing::HasSubstr(
                           "resnet_depth must be one of 18, 34, 50, 101, 152, 200, got 20; "
                           "num_label_classes must be positive, got 0; width must be positive")));
}

TEST_F(ResnetTest, ImagesOfAnotherTypeAreAnError) {
  Resnet(Constant(Array(DType::kUint8, Shape({1, 32, 32, 3}))), Mode::kEval);
  EXPECT_THAT(graph_.status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       ::testing::HasSubstr("f32 or bf16 [N,H,W,3], got u8 [1,32,32,3]")));
}

TEST(ResnetVersionTest, IsParsedFromItsName) {
  EXPECT_EQ(*ParseResnetVersion("1"), ResnetVersion::kV1);
  EXPECT_EQ(*ParseResnetVersion("1.5"), ResnetVersion::kV1_5);
  EXPECT_THAT(ParseResnetVersion("2").status(),
              StatusIs(absl::StatusCode::kInvalidArgument, ::testing::HasSubstr("1 or 1.5")));
}

}  // namespace
}  // namespace estimator::imagenet
