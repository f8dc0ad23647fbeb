#include "models/images/network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/checkpoint/bundle_writer.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/ops/testing/eval.h"
#include "estimator/training/compiled_model.h"
#include "models/images/inception_v3.h"
#include "models/images/preprocess_input.h"
#include "models/images/resnet.h"
#include "models/images/vgg16.h"
#include "models/images/vit.h"
#include "models/images/weights.h"
#include "models/images/xception.h"

namespace estimator::images {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pointwise;

Tensor Pixels(int64_t size, DType dtype = DType::kFloat32) {
  return Constant(Array(dtype, Shape({2, size, size, 3})));
}

int64_t NumTrainable(const Graph& graph) {
  int64_t count = 0;
  for (const Variable& variable : graph.TrainableVariables())
    count += variable.shape().num_elements();
  return count;
}

std::set<std::string> NamesOf(const std::vector<Variable>& variables) {
  std::set<std::string> names;
  for (const Variable& variable : variables) names.insert(variable.name());
  return names;
}

std::string ShapeOf(Graph& graph, const std::string& variable) {
  const auto found = graph.FindVariable(variable);
  return found ? found->shape().ToString() : absl::StrCat("no ", variable);
}

using NetworkTest = GraphTest;

// The numbers that Keras' imagenet_utils.preprocess_input gives for one pixel.
TEST_F(NetworkTest, PixelsAreScaledInKerasThreeModes) {
  const Tensor pixel = Constant(Array::Of<uint8_t>({1, 1, 1, 3}, {10, 100, 200}));
  const std::map<PreprocessMode, std::vector<double>> expected = {
      {PreprocessMode::kCaffe, {96.061, -16.779, -113.68}},
      {PreprocessMode::kTf, {-0.9215686, -0.2156863, 0.5686275}},
      {PreprocessMode::kTorch, {-1.9466563, -0.2850139, 1.6813944}}};
  for (const auto& [mode, values] : expected) {
    const Tensor x = PreprocessInput(pixel, mode);
    EXPECT_EQ(x.spec().ToString(), "f32 [1,1,1,3]");
    EXPECT_THAT(testing::Doubles(x), Pointwise(::testing::DoubleNear(1e-5), values));
  }
}

TEST_F(NetworkTest, MeansOfColoursNeedThreeChannels) {
  const Tensor gray = Constant(Array(DType::kUint8, Shape({1, 8, 8, 1})));
  EXPECT_TRUE(PreprocessInput(gray, PreprocessMode::kTf).valid());
  PreprocessInput(gray, PreprocessMode::kTorch);
  EXPECT_THAT(graph_.status().message(), HasSubstr("must have 3 channels, got u8 [1,8,8,1]"));
}

TEST_F(NetworkTest, NamesAllThatIsWrongWithImagesAndOptions) {
  Xception(Pixels(32), {.classes = 0, .width = 0});
  EXPECT_THAT(graph_.status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("Xception: width must be positive, got 0; images must be at least "
                                 "71x71, got 32x32: resize them; classes must be positive")));
}

TEST_F(NetworkTest, PixelsThatAreNotPreprocessedAreAnError) {
  VGG16(Pixels(32, DType::kUint8));
  EXPECT_THAT(graph_.status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("must be f32 or bf16 [N,H,W,C], got u8 [2,32,32,3]: the "
                                 "pre-processing function casts them")));
}

TEST_F(NetworkTest, ResNetNamesAnUnknownDepthAndAVersionThatTheTpuStyleLacks) {
  ResNet(Pixels(32), {.depth = 20, .version = ResNetVersion::kV2, .style = ResNetStyle::kTpu});
  EXPECT_THAT(graph_.status().message(),
              HasSubstr("depth must be one of 18, 34, 50, 101, 152, 200, got 20; "
                        "ResNetStyle::kTpu has no v2"));
}

TEST_F(NetworkTest, ViTNamesSizesThatDoNotDivide) {
  ViT(Pixels(40), {.hidden_size = 50, .heads = 3});
  EXPECT_THAT(graph_.status().message(), HasSubstr("a multiple of heads, got 16, 50 and 3"));
  Graph graph;
  const GraphScope scope(graph);
  ViT(Pixels(40));
  EXPECT_THAT(graph.status().message(), HasSubstr("multiples of 16, got 40x40"));
}

// ResNet-18 and 34: the paper's 11,689,512 and 21,797,672, and the biases of Keras' convolutions.
TEST(NetworkSizeTest, NetworksThatKerasLacksHaveThePublishedNumberOfParameters) {
  using V = ResNetVersion;
  const std::map<std::string, std::pair<ResNetOptions, int64_t>> expected = {
      {"18", {{.depth = 18}, 11694312}},
      {"34", {{.depth = 34}, 21806184}},
      {"50 v1.5", {{.depth = 50, .version = V::kV1_5}, 25583592}}};
  for (const auto& [name, network] : expected) {
    Graph graph;
    const GraphScope scope(graph);
    ResNet(Pixels(64), network.first);
    EST_ASSERT_OK(graph.status());
    EXPECT_EQ(NumTrainable(graph), network.second) << name;
  }
  Graph graph;
  const GraphScope scope(graph);
  ViT(Pixels(224));
  EST_ASSERT_OK(graph.status());
  EXPECT_EQ(NumTrainable(graph), 86567656);
}

TEST_F(NetworkTest, AFrozenNetworkHasNoTrainableVariablesAndItsBatchNormsInfer) {
  const ResNetOptions small = {.training = true, .depth = 18, .width = 1.0 / 32};
  ResNetOptions frozen = small;
  frozen.trainable = false;
  ResNet(Pixels(32), frozen);
  EST_ASSERT_OK(graph_.status());
  EXPECT_TRUE(graph_.TrainableVariables().empty());
  EXPECT_TRUE(graph_.update_ops().empty());
  Graph graph;
  const GraphScope scope(graph);
  ResNet(Pixels(32), small);
  EXPECT_EQ(graph.update_ops().size(), 2 * 20u);  // mean and variance of 20 batch norms
}

TEST_F(NetworkTest, WithoutTheTopThePoolingDecidesTheShape) {
  const std::map<Pooling, std::string> expected = {{Pooling::kNone, "f32 [2,3,3,64]"},
                                                   {Pooling::kAvg, "f32 [2,64]"},
                                                   {Pooling::kMax, "f32 [2,64]"}};
  for (const auto& [pooling, shape] : expected) {
    Graph graph;
    const GraphScope scope(graph);
    const Tensor x =
        Xception(Pixels(72), {.include_top = false, .pooling = pooling, .width = 1.0 / 32});
    EST_ASSERT_OK(graph.status());
    EXPECT_EQ(x.spec().ToString(), shape);
    EXPECT_FALSE(graph.FindVariable("predictions/kernel").has_value());
  }
}

TEST_F(NetworkTest, ViTWithoutTheTopGivesTokensOrTheirPooling) {
  ViTOptions options = {.include_top = false,
                        .patch_size = 8,
                        .hidden_size = 12,
                        .blocks = 1,
                        .heads = 2,
                        .mlp_size = 4};
  const VariableScope reuse("vit", {.reuse = Reuse::kAuto});
  EXPECT_EQ(ViT(Pixels(32), options).spec().ToString(), "f32 [2,17,12]");
  for (const Pooling pooling : {Pooling::kAvg, Pooling::kMax}) {
    options.pooling = pooling;
    EXPECT_EQ(ViT(Pixels(32), options).spec().ToString(), "f32 [2,12]");
  }
  EST_ASSERT_OK(graph_.status());
  EXPECT_EQ(ShapeOf(graph_, "vit/block1_attention/query/kernel"), "[12,2,6]");
}

TEST_F(NetworkTest, SoftmaxOfTheTopSumsToOne) {
  const Tensor x = VGG16(Pixels(32), {.classes = 4, .softmax = true, .width = 1.0 / 64});
  EST_ASSERT_OK(graph_.status());
  const std::vector<double> row = testing::Doubles(ReduceSum(x, {1}));
  EXPECT_THAT(row, ElementsAre(::testing::DoubleNear(1, 1e-6), ::testing::DoubleNear(1, 1e-6)));
}

// Keras counts conv2d, conv2d_1, ... on in a process that built another network before; its first
// releases began with 1.
TEST(WeightsTest, NumberedLayersAreFoundByTheirOrder) {
  EXPECT_THAT(
      NamesInFile({"conv2d/kernel", "conv2d_1/kernel", "conv2d_2/kernel", "dense/kernel"},
                  {"conv2d_9/kernel", "conv2d_10/kernel", "conv2d_94/kernel"}),
      ElementsAre("conv2d_9/kernel", "conv2d_10/kernel", "conv2d_94/kernel", "dense/kernel"));
  EXPECT_THAT(NamesInFile({"conv2d/kernel", "batch_normalization_1/beta"},
                          {"conv2d/kernel", "batch_normalization_1/beta"}),
              ElementsAre("conv2d/kernel", "batch_normalization_1/beta"));
  // Another number of layers: another network.
  EXPECT_THAT(NamesInFile({"conv2d/kernel"}, {"conv2d_1/kernel", "conv2d_2/kernel"}),
              ElementsAre("conv2d/kernel"));
  EXPECT_THAT(NamesInFile({"conv2d_transpose/kernel"}, {"conv2d_transpose_1/kernel"}),
              ElementsAre("conv2d_transpose/kernel"));
}

// Keras' own file of VGG16 is from its first release.
TEST(WeightsTest, KernelsAndBiasesAreFoundByTheirFirstNames) {
  EXPECT_THAT(NamesInFile({"fc1/kernel", "fc1/bias", "fc2/kernel"},
                          {"fc1_W_1", "fc1_b_1", "fc2_W_1", "fc2/kernel"}),
              ElementsAre("fc1_W_1", "fc1_b_1", "fc2/kernel"));
}

TEST(WeightsTest, TheTopIsFoundByItsEarlierNames) {
  EXPECT_THAT(NamesInFile({"predictions/kernel", "predictions/bias"}, {"fc1000/kernel"}),
              ElementsAre("fc1000/kernel", "predictions/bias"));
  EXPECT_THAT(NamesInFile({"predictions/kernel"}, {"probs/kernel", "predictions/kernel"}),
              ElementsAre("predictions/kernel"));
}

// Writes 7 for all variables, under their names without `scope`.
void WriteSevens(const std::string& prefix, const std::vector<Variable>& variables,
                 const std::string& scope) {
  const auto writer = BundleWriter::Open(prefix);
  EST_ASSERT_OK(writer);
  for (const Variable& variable : variables) {
    Array sevens(DType::kFloat32, variable.shape());
    for (float& value : sevens.values<float>()) value = 7;
    EST_ASSERT_OK((*writer)->Add(variable.name().substr(scope.size()), sevens));
  }
  EST_ASSERT_OK((*writer)->Finish());
}

// The head and a layer before the network have the names of a network's layers, and are not its.
TEST_F(NetworkTest, WeightsAreThoseOfTheNetworksOwnScope) {
  const TempDir dir;
  const VGG16Options small = {.include_top = false, .pooling = Pooling::kAvg, .width = 1.0 / 64};
  {
    Graph graph;
    const GraphScope scope(graph);
    VGG16(Pixels(32), small);
    WriteSevens(dir.File("weights"), graph.variables(), "");
  }
  const Tensor images = layers::Dense(Pixels(32), {.units = 3, .name = "block1_conv1"});
  VGG16Options with_weights = small;
  with_weights.weights = dir.File("weights");
  {
    const VariableScope scope("backbone");
    layers::Dense(VGG16(images, with_weights), {.units = 2, .name = "predictions"});
  }
  EST_ASSERT_OK(graph_.status());
  VariableStore store;
  const auto loaded = LoadCheckpointInitializers(graph_, {}, store);
  EST_ASSERT_OK(loaded);
  EXPECT_EQ(loaded->size(), 26u);  // kernels and biases of 13 convolutions
  EXPECT_TRUE(loaded->contains("backbone/block5_conv3/bias"));
  EXPECT_FALSE(loaded->contains("block1_conv1/kernel"));
  EXPECT_EQ(store.Peek("backbone/block1_conv1/kernel")->data<float>()[0], 7.0f);
}

TEST_F(NetworkTest, WeightsOfAnotherNumberOfClassesAreAnError) {
  const TempDir dir;
  VGG16Options options = {.classes = 4, .width = 1.0 / 64};
  {
    Graph graph;
    const GraphScope scope(graph);
    VGG16(Pixels(32), options);
    WriteSevens(dir.File("weights"), graph.variables(), "");
  }
  options.classes = 5;
  options.weights = dir.File("weights");
  VGG16(Pixels(32), options);
  EXPECT_THAT(graph_.status(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("include_top = false")));
}

TEST_F(NetworkTest, WeightsThatAreNotThereAreAnError) {
  VGG16(Pixels(32), {.weights = "/nowhere/vgg16.h5", .width = 1.0 / 64});
  EXPECT_THAT(graph_.status(),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("/nowhere/vgg16.h5")));
}

// The variables that a map sets, which must all be in the graph.
std::set<std::string> Targets(const train::AssignmentMap& map) {
  std::set<std::string> names;
  for (const auto& [slim, target] : map) names.insert(target.name());
  EXPECT_EQ(names.size(), map.size());  // each once
  return names;
}

std::string SlimNameOf(const train::AssignmentMap& map, const std::string& variable) {
  for (const auto& [slim, target] : map) {
    if (target.name() == variable) return slim;
  }
  return absl::StrCat("no ", variable);
}

// All variables of the network but those that slim's lacks.
std::set<std::string> Without(const Graph& graph, const std::vector<std::string>& parts) {
  std::set<std::string> names = NamesOf(graph.variables());
  for (const std::string& part : parts)
    std::erase_if(names, [&](const std::string& name) { return absl::StrContains(name, part); });
  return names;
}

TEST_F(NetworkTest, SlimHasAllVariablesOfInceptionV3) {
  const VariableScope scope("features");
  InceptionV3(Pixels(75), {.include_top = false});
  const train::AssignmentMap map = InceptionV3FromSlim("features/");
  EXPECT_EQ(Targets(map), NamesOf(graph_.variables()));
  EXPECT_EQ(SlimNameOf(map, "features/conv2d/kernel"), "InceptionV3/Conv2d_1a_3x3/weights");
  EXPECT_EQ(SlimNameOf(map, "features/conv2d_14/kernel"),
            "InceptionV3/Mixed_5c/Branch_1/Conv_1_0c_5x5/weights");
  EXPECT_EQ(SlimNameOf(map, "features/batch_normalization_93/moving_mean"),
            "InceptionV3/Mixed_7c/Branch_3/Conv2d_0b_1x1/BatchNorm/moving_mean");
}

TEST_F(NetworkTest, SlimHasTheVariablesOfVGG16BelowTheTop) {
  VGG16(Pixels(32), {.include_top = false});
  const train::AssignmentMap map = VGG16FromSlim();
  EXPECT_EQ(Targets(map), NamesOf(graph_.variables()));
  EXPECT_EQ(SlimNameOf(map, "block3_conv2/bias"), "vgg_16/conv3/conv3_2/biases");
}

TEST_F(NetworkTest, SlimHasTheVariablesOfResNetBelowTheTop) {
  {
    const VariableScope scope("v1");
    ResNet(Pixels(32), {.include_top = false});
    // Slim's convolutions before a batch norm have no biases.
    const train::AssignmentMap map = ResNetFromSlim({}, "v1/");
    EXPECT_EQ(Targets(map), Without(graph_, {"_conv/bias"}));
    EXPECT_EQ(SlimNameOf(map, "v1/conv3_block1_0_conv/kernel"),
              "resnet_v1_50/block2/unit_1/bottleneck_v1/shortcut/weights");
  }
  Graph graph;
  const GraphScope in(graph);
  const ResNetOptions options = {.include_top = false, .depth = 101, .version = ResNetVersion::kV2};
  ResNet(Pixels(32), options);
  const train::AssignmentMap map = ResNetFromSlim(options);
  EXPECT_EQ(Targets(map), Without(graph, {}));
  EXPECT_EQ(SlimNameOf(map, "conv4_block23_preact_bn/gamma"),
            "resnet_v2_101/block3/unit_23/bottleneck_v2/preact/gamma");
  EXPECT_EQ(SlimNameOf(map, "conv2_block1_2_bn/beta"),
            "resnet_v2_101/block1/unit_1/bottleneck_v2/conv2/BatchNorm/beta");
}

TEST_F(NetworkTest, SlimHasNoResNet18) {
  ResNetFromSlim({.depth = 18});
  EXPECT_THAT(graph_.status().message(), HasSubstr("slim has depths 50, 101, 152 and 200"));
}

}  // namespace
}  // namespace estimator::images
