// Nodes with data_format NCHW give the numbers of the same nodes in NHWC between transposes.
#include "estimator/graphdef/import/layout/channels_first.h"

#include <google/protobuf/text_format.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/array/compare.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/constant_value.h"
#include "estimator/graphdef/import_graph_def.h"
#include "estimator/proto/graph.pb.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using Sizes = std::vector<int64_t>;

struct Op {
  std::string name;
  // Shapes in NCHW; an image is marked by `images`. Vectors of sizes are constants.
  std::vector<Sizes> inputs;
  std::vector<int> images;
  Sizes strides = {};  // of rows and columns
  Sizes ksize = {};
  std::string attrs = "";
  int output = 0;
  bool of_images = true;
  Sizes image_sizes = {};  // NCHW: an input 0 with the sizes of the result
  Sizes filter_sizes = {};
};

std::string IntList(const std::string& key, const Sizes& values) {
  return absl::StrCat("attr { key: '", key, "' value { list { i: [", absl::StrJoin(values, ","),
                      "] } } } ");
}

class GraphText {
 public:
  void Node(const std::string& name, const std::string& op, const std::vector<std::string>& inputs,
            const std::string& attrs = "") {
    absl::StrAppend(&text_, "node { name: '", name, "' op: '", op, "' ");
    for (const std::string& input : inputs) absl::StrAppend(&text_, "input: '", input, "' ");
    absl::StrAppend(&text_, attrs, "}\n");
  }
  void Const(const std::string& name, const Sizes& shape, const std::vector<double>& values,
             bool floating) {
    std::string dims;
    for (const int64_t size : shape) absl::StrAppend(&dims, "dim { size: ", size, " } ");
    const std::string type = floating ? "DT_FLOAT" : "DT_INT32";
    Node(name, "Const", {},
         absl::StrCat("attr { key: 'dtype' value { type: ", type, " } } attr { key: 'value' value ",
                      "{ tensor { dtype: ", type, " tensor_shape { ", dims, "} ",
                      floating ? "float_val: [" : "int_val: [", absl::StrJoin(values, ","),
                      "] } } } "));
  }
  void Ints(const std::string& name, const Sizes& values) {
    Const(name, {static_cast<int64_t>(values.size())}, {values.begin(), values.end()}, false);
  }
  // The value of a tensor of the graph, which depends on constants only.
  Array Value(const std::string& fetch) const {
    proto::GraphDef def;
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text_, &def)) << text_;
    Graph graph;
    const auto imported = ImportGraphDef(def, {.fetches = {fetch}}, graph);
    EST_EXPECT_OK(imported);
    if (!imported.ok()) return Array();
    const std::optional<Array> value = ConstantValue(imported->fetches[0]);
    EXPECT_TRUE(value.has_value()) << fetch;
    return value.value_or(Array());
  }

 private:
  std::string text_;
};

// Adds the op in NCHW, or in NHWC with its images transposed, and returns the name of its output.
std::string Add(const Op& op, bool channels_first, GraphText& graph) {
  const std::string prefix = channels_first ? "first" : "last";
  const auto in_order = [&](Sizes s) {
    return channels_first || s.size() != 4 ? s : Sizes{s[0], s[2], s[3], s[1]};
  };
  std::vector<std::string> inputs;
  for (const Sizes& sizes : {in_order(op.image_sizes), op.filter_sizes}) {
    if (sizes.empty()) continue;
    inputs.push_back(prefix + "/sizes");
    graph.Ints(inputs.back(), sizes);
  }
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    const std::string name = absl::StrCat(prefix, "/in", i);
    int64_t count = 1;
    for (const int64_t size : op.inputs[i]) count *= size;
    std::vector<double> values;
    for (int64_t k = 0; k < count; ++k)
      values.push_back(static_cast<double>((k * 37 + static_cast<int64_t>(i) * 11) % 23) / 8 + 0.5);
    graph.Const(name, op.inputs[i], values, true);
    bool image = false;
    for (const int k : op.images) image = image || k == static_cast<int>(i);
    if (image && !channels_first) {
      graph.Ints(name + "/perm", {0, 2, 3, 1});
      graph.Node(name + "/last", "Transpose", {name, name + "/perm"});
    }
    inputs.push_back(image && !channels_first ? name + "/last" : name);
  }
  // The filter's sizes come second.
  if (!op.filter_sizes.empty()) std::swap(inputs[0], inputs[1]);
  std::string attrs = op.attrs;
  const auto list = [&](const char* key, const Sizes& rows_columns) {
    if (rows_columns.empty()) return;
    attrs += IntList(key, in_order({1, 1, rows_columns[0], rows_columns[1]}));
  };
  list("strides", op.strides);
  list("ksize", op.ksize);
  attrs += absl::StrCat("attr { key: 'data_format' value { s: '", channels_first ? "NCHW" : "NHWC",
                        "' } } ");
  graph.Node(prefix, op.name, inputs, attrs);
  const std::string output = absl::StrCat(prefix, ":", op.output);
  if (channels_first || !op.of_images) return output;
  graph.Ints("perm", {0, 3, 1, 2});
  graph.Node("back", "Transpose", {output, "perm"});
  return "back:0";
}

void ExpectSame(const Op& op) {
  SCOPED_TRACE(op.name);
  GraphText graph;
  const std::string first = Add(op, true, graph), last = Add(op, false, graph);
  const Array got = graph.Value(first), expected = graph.Value(last);
  EXPECT_GT(expected.num_elements(), 0);
  EXPECT_EQ(Compare(got, expected).report, "");
}

const char kSame[] = "attr { key: 'padding' value { s: 'SAME' } } ";

TEST(ChannelsFirst, Convolutions) {
  const Sizes image = {2, 3, 5, 7}, filter = {3, 2, 3, 4}, result = {2, 4, 3, 7};
  ExpectSame({.name = "Conv2D",
              .inputs = {image, filter},
              .images = {0},
              .strides = {2, 1},
              .attrs = kSame});
  ExpectSame({.name = "Conv2DBackpropInput",
              .inputs = {filter, result},
              .images = {1},
              .strides = {2, 1},
              .attrs = kSame,
              .image_sizes = image});
  ExpectSame({.name = "Conv2DBackpropFilter",
              .inputs = {image, result},
              .images = {0, 1},
              .strides = {2, 1},
              .attrs = kSame,
              .of_images = false,
              .filter_sizes = filter});
  ExpectSame({.name = "DepthwiseConv2dNative",
              .inputs = {image, {3, 2, 3, 2}},
              .images = {0},
              .strides = {2, 2},
              .attrs = kSame});
}

TEST(ChannelsFirst, ExplicitPaddingsFollowTheirAxes) {
  const std::string padding = "attr { key: 'padding' value { s: 'EXPLICIT' } } ";
  GraphText graph;
  const auto conv = [&](bool first) {
    return Op{
        .name = "Conv2D",
        .inputs = {{1, 2, 4, 5}, {3, 2, 2, 3}},
        .images = {0},
        .strides = {1, 1},
        .attrs = padding + IntList("explicit_paddings", first ? Sizes{0, 0, 0, 0, 1, 2, 3, 0}
                                                              : Sizes{0, 0, 1, 2, 3, 0, 0, 0})};
  };
  const std::string first = Add(conv(true), true, graph), last = Add(conv(false), false, graph);
  EXPECT_EQ(Compare(graph.Value(first), graph.Value(last)).report, "");
}

TEST(ChannelsFirst, Pools) {
  const Sizes image = {2, 3, 5, 7}, result = {2, 3, 3, 4};
  for (const char* name : {"MaxPool", "AvgPool"})
    ExpectSame({.name = name,
                .inputs = {image},
                .images = {0},
                .strides = {2, 2},
                .ksize = {3, 2},
                .attrs = kSame});
  ExpectSame({.name = "MaxPoolGrad",
              .inputs = {image, result, result},
              .images = {0, 1, 2},
              .strides = {2, 2},
              .ksize = {3, 2},
              .attrs = kSame});
  ExpectSame({.name = "AvgPoolGrad",
              .inputs = {result},
              .images = {0},
              .strides = {2, 2},
              .ksize = {3, 2},
              .attrs = kSame,
              .image_sizes = image});
}

TEST(ChannelsFirst, BatchNormalizationBiasAndBlocks) {
  const Sizes image = {2, 4, 2, 6}, channels = {4};
  for (const int output : {0, 1})
    ExpectSame({.name = "FusedBatchNormV3",
                .inputs = {image, channels, channels, {0}, {0}},
                .images = {0},
                .output = output,
                .of_images = output == 0});
  for (const int output : {0, 1})
    ExpectSame({.name = "FusedBatchNormGrad",
                .inputs = {image, image, channels, channels, channels},
                .images = {0, 1},
                .output = output,
                .of_images = output == 0});
  ExpectSame({.name = "BiasAdd", .inputs = {image, channels}, .images = {0}});
  ExpectSame({.name = "BiasAddGrad", .inputs = {image}, .images = {0}, .of_images = false});
  const std::string two = "attr { key: 'block_size' value { i: 2 } } ";
  ExpectSame({.name = "DepthToSpace", .inputs = {image}, .images = {0}, .attrs = two});
  ExpectSame({.name = "SpaceToDepth", .inputs = {image}, .images = {0}, .attrs = two});
}

}  // namespace
}  // namespace estimator
