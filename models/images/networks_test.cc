#include "models/images/networks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "models/images/mobilenet.h"
#include "models/images/mobilenet_v2.h"
#include "models/images/mobilenet_v3.h"

namespace estimator::images {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kKerasNetworks[] = "testdata/image_networks/keras_networks.txt";

Tensor Images(int64_t size, DType dtype = DType::kFloat32, int64_t batch = 2) {
  return Constant(Array(dtype, Shape({batch, size, size, 3})));
}

// The lines of testdata/image_networks/generate.py whose options are not those of Networks().
const std::map<std::string, std::function<Tensor()>>& OtherLines() {
  static const auto* const lines = new std::map<std::string, std::function<Tensor()>>{
      {"MobileNet(alpha=0.5)", [] { return MobileNet(Images(224), {.alpha = 0.5}); }},
      {"MobileNetV2(alpha=0.35)", [] { return MobileNetV2(Images(224), {.alpha = 0.35}); }},
      {"MobileNetV2(alpha=1.4)", [] { return MobileNetV2(Images(224), {.alpha = 1.4}); }},
      {"MobileNetV3Small(minimalistic)",
       [] { return MobileNetV3Small(Images(224), {.minimalistic = true}); }},
      {"MobileNetV3Large(alpha=1.25)",
       [] { return MobileNetV3Large(Images(224), {.alpha = 1.25}); }},
      {"MobileNetV3Large(minimalistic)",
       [] { return MobileNetV3Large(Images(224), {.minimalistic = true}); }},
      {"EfficientNetV2S(include_top=False)",
       [] { return FindNetwork("EfficientNetV2S")->build(Images(224), {.include_top = false}); }},
  };
  return *lines;
}

Tensor BuildLine(const std::string& name) {
  const auto other = OtherLines().find(name);
  if (other != OtherLines().end()) return other->second();
  const absl::StatusOr<NetworkEntry> network = FindNetwork(name);
  if (!network.ok()) return Graph::Current().Fail(network.status());
  return network->build(
      Images(absl::StartsWith(name, "InceptionV3") || name == "Xception" ? 299 : 224), {});
}

// FNV-1a.
uint64_t Hash(const std::string& text) {
  uint64_t value = 0xCBF29CE484222325u;
  for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
  return value;
}

// A line as generate.py writes it.
std::string Line(const std::string& name, const Graph& graph) {
  int64_t parameters = 0, trained = 0;
  std::vector<std::string> lines;
  for (const Variable& variable : graph.variables()) {
    const int64_t elements = variable.shape().num_elements();
    parameters += elements;
    if (variable.trainable()) trained += elements;
    lines.push_back(
        absl::StrCat(variable.name(), " [", absl::StrJoin(variable.shape().dims(), ","), "]\n"));
  }
  std::sort(lines.begin(), lines.end());
  return absl::StrFormat("%s %d %d %d %016x", name, parameters, trained, lines.size(),
                         Hash(absl::StrJoin(lines, "")));
}

std::vector<std::string> KerasLines() {
  std::vector<std::string> lines;
  const std::string text = ReadFile(kKerasNetworks).value();
  for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    if (!absl::StartsWith(line, "#")) lines.emplace_back(line);
  }
  return lines;
}

std::string NameOf(const std::string& line) { return line.substr(0, line.find(' ')); }

class KerasNetworkTest : public ::testing::TestWithParam<std::string> {};

// `generate.py NAME` lists the variables of Keras' network.
TEST_P(KerasNetworkTest, HasKerasParametersAndVariables) {
  Graph graph;
  const GraphScope scope(graph);
  BuildLine(NameOf(GetParam()));
  EST_ASSERT_OK(graph.status());
  EXPECT_EQ(Line(NameOf(GetParam()), graph), GetParam());
}

INSTANTIATE_TEST_SUITE_P(Keras, KerasNetworkTest, ::testing::ValuesIn(KerasLines()),
                         [](const auto& info) {
                           std::string name = NameOf(info.param);
                           for (char& c : name) {
                             if (!absl::ascii_isalnum(static_cast<unsigned char>(c))) c = '_';
                           }
                           return name;
                         });

TEST(NetworksTest, EveryNetworkOfKerasIsRecorded) {
  std::set<std::string> recorded;
  for (const std::string& line : KerasLines()) recorded.insert(NameOf(line));
  for (const NetworkEntry& network : Networks())
    EXPECT_EQ(recorded.contains(network.name), network.in_keras) << network.name;
}

TEST(NetworksTest, EachTakesItsPreprocessedPixelsAndTheOptions) {
  for (const NetworkEntry& network : Networks()) {
    if (absl::StartsWith(network.name, "EfficientNetB") && network.name != "EfficientNetB0")
      continue;
    Graph graph;
    const GraphScope scope(graph);
    const int64_t size = network.name == "InceptionV3" || network.name == "Xception" ? 96 : 64;
    const Tensor images = network.preprocess(Images(size, DType::kUint8));
    ASSERT_TRUE(images.valid()) << network.name << ": " << graph.status();
    EXPECT_EQ(images.dtype(), DType::kFloat32) << network.name;
    const Tensor features = network.build(
        Cast(images, DType::kBfloat16),
        {.training = true, .include_top = false, .pooling = Pooling::kAvg, .trainable = false});
    EST_ASSERT_OK(graph.status());
    EXPECT_EQ(features.rank(), 2) << network.name;
    EXPECT_EQ(features.dtype(), DType::kBfloat16) << network.name;
    EXPECT_TRUE(graph.TrainableVariables().empty()) << network.name;
    EXPECT_TRUE(graph.update_ops().empty()) << network.name;  // frozen batch norms infer
  }
}

TEST(NetworksTest, NamesAreFoundInAnyCaseAndListedIfThereIsNone) {
  EST_ASSERT_OK(FindNetwork("mobilenetv2"));
  EXPECT_EQ(FindNetwork("efficientnetb7")->image_size, 600);
  EXPECT_THAT(FindNetwork("AlexNet").status().ToString(),
              AllOf(HasSubstr("no network 'AlexNet'"), HasSubstr("MobileNetV3Small, Mobile"),
                    HasSubstr("ResNet50V1.5")));
}

}  // namespace
}  // namespace estimator::images
