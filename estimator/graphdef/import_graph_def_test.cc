#include "estimator/graphdef/import_graph_def.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "estimator/array/compare.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/constant_value.h"
#include "estimator/graphdef/graph_def.h"
#include "estimator/ops/activations.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/reduction.h"
#include "estimator/proto/graph.pb.h"

namespace estimator {
namespace {

// node { name: "x" op: "Relu" input: "a" } for "x = Relu a".
std::string Node(const std::string& name, const std::string& op,
                 const std::vector<std::string>& inputs, const std::string& attrs = "") {
  std::string text = absl::StrCat("node { name: '", name, "' op: '", op, "' ");
  for (const std::string& input : inputs) absl::StrAppend(&text, "input: '", input, "' ");
  return absl::StrCat(text, attrs, "}\n");
}
std::string Type(const std::string& name, const std::string& type) {
  return absl::StrCat("attr { key: '", name, "' value { type: ", type, " } } ");
}
std::string Text(const std::string& name, const std::string& value) {
  return absl::StrCat("attr { key: '", name, "' value { s: '", value, "' } } ");
}
std::string Int(const std::string& name, int64_t value) {
  return absl::StrCat("attr { key: '", name, "' value { i: ", value, " } } ");
}
std::string Input(const std::string& name) {
  return Node(name, "Placeholder", {}, Type("dtype", "DT_FLOAT"));
}
std::string Ints(const std::string& name, const std::vector<int>& values, bool scalar = false) {
  std::string text = "attr { key: 'value' value { tensor { dtype: DT_INT32 tensor_shape { ";
  if (!scalar) absl::StrAppend(&text, "dim { size: ", values.size(), " } ");
  absl::StrAppend(&text, "} ");
  for (const int value : values) absl::StrAppend(&text, "int_val: ", value, " ");
  return Node(name, "Const", {}, absl::StrCat(Type("dtype", "DT_INT32"), text, "} } }"));
}

class ImportTest : public ::testing::Test {
 protected:
  absl::StatusOr<ImportedGraph> Import(const std::string& text, const ImportOptions& options) {
    proto::GraphDef def;
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &def)) << text;
    return ImportGraphDef(def, options, graph_);
  }
  absl::Status Error(const std::string& text, const ImportOptions& options) {
    return Import(text, options).status();
  }

  Graph graph_;
  const ImportOptions fed_ = {.feeds = {{"x", {DType::kFloat32, {2, 6}}}}, .fetches = {"y"}};
};

TEST_F(ImportTest, BuildsOnlyWhatTheFetchesNeed) {
  const auto imported = Import(Input("x") + Node("y", "Relu", {"x", "^check"}) +
                                   Node("check", "Assert", {"x"}) + Node("z", "NoSuchOp", {"y"}),
                               fed_);
  EST_ASSERT_OK(imported);
  EXPECT_EQ(imported->fetches[0].node()->op(), "Relu");
  EXPECT_EQ(imported->fetches[0].spec().ToString(), "f32 [2,6]");
  EXPECT_EQ(imported->feeds.at("x").name(), "x:0");
  EXPECT_EQ(graph_.nodes().size(), 2u);
}

TEST_F(ImportTest, ComputesShapesFromTheShapesOfTheFeeds) {
  const std::string slice = Int("begin_mask", 0) + Int("shrink_axis_mask", 1);
  const auto imported =
      Import(Input("x") + Node("shape", "Shape", {"x"}) + Ints("zero", {0}) + Ints("one", {1}) +
                 Node("batch", "StridedSlice", {"shape", "zero", "one", "one"}, slice) +
                 Ints("three", {3}, true) + Ints("left", {-1}, true) +
                 Node("to", "Pack", {"batch", "three", "left"}, Int("N", 3)) +
                 Node("y", "Reshape", {"x", "to"}),
             fed_);
  EST_ASSERT_OK(imported);
  EXPECT_EQ(imported->fetches[0].shape(), (Shape{2, 3, 2}));
  EXPECT_EQ(imported->fetches[0].node()->input(1).node()->op(), "Const");
}

TEST_F(ImportTest, ListsAllThatIsNotSupportedAtOnce) {
  const std::string conv = "attr { key: 'strides' value { list { i: [1, 1, 1, 1] } } } " +
                           Text("padding", "SAME") + Text("data_format", "NCHW_VECT_C");
  const auto imported =
      Import(Input("x") + Input("other") + Node("a", "Unknown", {"x"}) +
                 Node("b", "Unknown", {"a"}) + Node("c", "Conv2D", {"b", "x"}, conv) +
                 Node("d", "Abs", {"c"}, Type("T", "DT_COMPLEX64")) +
                 Node("e", "Split", {"d", "other"}) + Node("y", "AddN", {"e", "x"}),
             fed_);
  EXPECT_THAT(imported, StatusIs(absl::StatusCode::kUnimplemented));
  EXPECT_THAT(imported, ErrorHas("6 nodes that cannot be imported"));
  EXPECT_THAT(imported, ErrorIs(::testing::ContainsRegex("Unknown +not supported +2 +b")));
  EXPECT_THAT(imported,
              ErrorIs(::testing::ContainsRegex("Conv2D +data_format = NCHW_VECT_C +1 +c")));
  EXPECT_THAT(imported, ErrorIs(::testing::ContainsRegex("Abs +dtype DT_COMPLEX64 +1 +d")));
  EXPECT_THAT(imported, ErrorIs(::testing::ContainsRegex("Split +without num_split +1 +e")));
  EXPECT_THAT(imported, ErrorIs(::testing::ContainsRegex("Placeholder +not fed +1 +other")));
  EST_EXPECT_OK(graph_.status());
}

TEST_F(ImportTest, SaysWhatIsWrongWithAGraphThatIsNotWellFormed) {
  EXPECT_THAT(Error(Input("x") + Node("y", "Relu", {"z"}) + Node("z", "Relu", {"y"}), fed_),
              ErrorHas("' (Relu) depends on itself"));
  EXPECT_THAT(
      Error(Input("x") + Node("y", "Relu", {"hiden"}) + Node("hidden", "Relu", {"x"}), fed_),
      ErrorHas("'y' (Relu): the graph has no node 'hiden' (did you mean 'hidden'?)"));
  EXPECT_THAT(Error(Input("x") + Node("y", "Relu", {"x"}) + Node("y", "Relu", {"x"}), fed_),
              ErrorHas("two nodes are called 'y'"));
  EXPECT_THAT(Error(Input("x") + Node("a", "Relu", {"x"}) + Node("y", "Relu", {"a:1"}), fed_),
              ErrorHas("'a' (Relu) has no output 1"));
  EXPECT_THAT(Error(Input("x") + Node("y", "Select", {"x"}), fed_),
              ErrorHas("takes 3 inputs, not 1"));
  EXPECT_THAT(Error(Input("x"), fed_), ErrorHas("fetch 'y': the graph has no node 'y'"));
  EXPECT_THAT(Error(Node("y", "Const", {}), fed_), ErrorHas("feed 'x'"));
  EXPECT_THAT(Error(Input("image") + Node("y", "Relu", {"image"}), fed_),
              ErrorHas("the graph has no node 'x'; the graph's placeholders are 'image'"));
  EXPECT_THAT(ImportSerializedGraphDef("\x0a", fed_, graph_), ErrorHas("as a GraphDef"));
}

TEST_F(ImportTest, HoldsFeedsAgainstThePlaceholders) {
  const std::string graph =
      Node("x", "Placeholder", {},
           Type("dtype", "DT_FLOAT") +
               "attr { key: 'shape' value { shape { dim { size: -1 } dim { size: 3 } } } }") +
      Node("y", "Relu", {"x"});
  EXPECT_THAT(Error(graph, fed_), ErrorHas("feed 'x' is f32 [2,6], but the graph takes [?,3]"));
  EXPECT_THAT(Error(graph, {.feeds = {{"x", {DType::kInt32, {2, 3}}}}, .fetches = {"y"}}),
              ErrorHas("the graph takes DT_FLOAT"));
  EXPECT_THAT(Error(graph, {.feeds = {{"x", {DType::kFloat32, {-1, 3}}}}, .fetches = {"y"}}),
              ErrorHas("give the batch size"));
  EST_EXPECT_OK(Import(graph, {.feeds = {{"x", {DType::kFloat32, {7, 3}}}}, .fetches = {"y"}}));
}

TEST_F(ImportTest, KeepsTheErrorOfAnOpWhoseShapesDoNotFit) {
  const auto imported =
      Import(Input("x") + Ints("to", {5}) + Node("y", "Reshape", {"x", "to"}), fed_);
  EXPECT_THAT(imported, ErrorHas("y: cannot reshape [2,6], 12 elements, to [5]"));
  EXPECT_EQ(graph_.status(), imported.status());
}

TEST_F(ImportTest, RefusesTensorsThatNobodyCouldHold) {
  EXPECT_THAT(Error(Ints("dims", {2000000000, 3000}) + Ints("v", {1}, true) +
                        Node("y", "Fill", {"dims", "v"}),
                    {.fetches = {"y"}}),
              ErrorHas("is too large"));
  const std::string large =
      "attr { key: 'value' value { tensor { dtype: DT_FLOAT float_val: 1 tensor_shape { dim { "
      "size: 1000 } dim { size: 1000 } } } } }";
  EXPECT_THAT(Error(Node("y", "Const", {}, large), {.fetches = {"y"}, .max_constant_bytes = 1000}),
              ErrorHas("larger than 1000 bytes"));
}

TEST_F(ImportTest, RefusesSizesAndAxesThatAGraphOfOursCouldNotHave) {
  const auto error = [this](const std::string& graph) {
    Graph graph_of_its_own;
    proto::GraphDef def;
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(Input("x") + graph, &def));
    return ImportGraphDef(def, fed_, graph_of_its_own).status();
  };
  EXPECT_THAT(error(Ints("axis", {}) + Node("y", "ArgMax", {"x", "axis"})),
              ErrorHas("must hold one number, not 0"));
  EXPECT_THAT(error(Ints("axis", {0, 1}) + Node("y", "Split", {"axis", "x"}, Int("num_split", 2))),
              ErrorHas("must hold one number, not 2"));
  EXPECT_THAT(error(Ints("axis", {0}, true) +
                    Node("y", "Split", {"axis", "x"}, Int("num_split", int64_t{1} << 60))),
              ErrorHas("num_split = 1152921504606846976"));
  EXPECT_THAT(error(Ints("n", {2147483647, 2147483647}) + Node("y", "Tile", {"x", "n"})),
              ErrorHas("has more elements than any memory holds"));
}

TEST_F(ImportTest, PutsNodesUnderAPrefixAndTakesTensorsOfTheGraph) {
  const GraphScope scope(graph_);
  const Tensor ours = Constant(Array::Of<float>({2}, {-1, 2}), "ours");
  const auto imported =
      Import(Input("x") + Node("y", "Relu", {"x"}),
             {.fetches = {"y"}, .input_map = {{"x", ours}}, .prefix = "imported"});
  EST_ASSERT_OK(imported);
  EXPECT_TRUE(SameBits(*ConstantValue(imported->fetches[0]), Array::Of<float>({2}, {0, 2})));
  EXPECT_EQ(graph_.nodes()[1]->name(), "imported/y");
  Graph other;
  EXPECT_THAT(
      ImportSerializedGraphDef(GraphToGraphDef(graph_), {.input_map = {{"ours", ours}}}, other),
      ErrorHas("not a tensor of the graph imported into"));
}

TEST_F(ImportTest, ReadsTheGraphsThatWeWrite) {
  Graph ours;
  const GraphScope scope(ours);
  const Tensor x = Placeholder(DType::kFloat32, {2, 6}, "x");
  const Tensor y = ReduceSum(Relu(x) * 2.0f, {1}, {.keepdims = true, .name = "y"});
  const auto imported = ImportSerializedGraphDef(GraphToGraphDef(ours), fed_, graph_);
  EST_ASSERT_OK(imported);
  EXPECT_EQ(imported->fetches[0].spec(), y.spec());
  EXPECT_EQ(imported->fetches[0].node()->op(), "Sum");
}

TEST_F(ImportTest, InlinesFunctions) {
  const std::string call = "attr { key: 'f' value { func { name: 'twice' } } }";
  const std::string library =
      "library { function { signature { name: 'twice' input_arg { name: 'v' type: DT_FLOAT } "
      "output_arg { name: 'r' type: DT_FLOAT } output_arg { name: 'same' type: DT_FLOAT } } "
      "node_def { name: 'sum' op: 'AddV2' input: 'v' input: 'v' } "
      "ret { key: 'r' value: 'sum:z:0' } ret { key: 'same' value: 'v' } } }";
  const auto imported = Import(Input("x") + Node("first", "PartitionedCall", {"x"}, call) +
                                   Node("second", "StatefulPartitionedCall", {"first"}, call) +
                                   Node("y", "Sub", {"second", "second:1"}) + library,
                               fed_);
  EST_ASSERT_OK(imported);
  const estimator::Node& y = *imported->fetches[0].node();
  EXPECT_EQ(y.input(0).node()->name(), "second/sum");
  EXPECT_EQ(y.input(1).node()->name(), "first/sum");
}

TEST_F(ImportTest, RefusesFunctionsThatCallThemselves) {
  const std::string call = "attr { key: 'f' value { func { name: 'f' } } }";
  const std::string body =
      "library { function { signature { name: 'f' input_arg { name: 'v' type: DT_FLOAT } "
      "output_arg { name: 'r' type: DT_FLOAT } } node_def { name: 'again' op: 'PartitionedCall' "
      "input: 'v' " +
      call + " } ret { key: 'r' value: 'again:output:0' } } }";
  EXPECT_THAT(Error(Input("x") + Node("y", "PartitionedCall", {"x"}, call) + body, fed_),
              ErrorHas("'f'"));
  EXPECT_THAT(Error(Input("x") + Node("y", "PartitionedCall", {}, call) +
                        "library { function { signature { name: 'f' input_arg { name: 'v' } "
                        "output_arg { name: 'r' } } ret { key: 'r' value: 'v' } } }",
                    fed_),
              ErrorHas("without its argument 'v'"));
}

// Each call is a way into the function and one out of it.
TEST_F(ImportTest, ATensorGoesThroughAtMost100CallsThatReturnIt) {
  const auto status = [this](int num_calls) {
    std::string text = Input("x"), last = "x";
    for (int i = 0; i < num_calls; ++i) {
      const std::string name = absl::StrCat("call", i);
      text +=
          Node(name, "PartitionedCall", {last}, "attr { key: 'f' value { func { name: 'f' } } }");
      last = name;
    }
    return Error(text + Node("y", "Relu", {last}) +
                     "library { function { signature { name: 'f' input_arg { name: 'v' type: "
                     "DT_FLOAT } output_arg { name: 'r' type: DT_FLOAT } } "
                     "ret { key: 'r' value: 'v' } } }",
                 fed_);
  };
  EXPECT_THAT(status(101), ErrorHas("goes through more than 200 functions"));
  EST_EXPECT_OK(status(100));
}

TEST_F(ImportTest, BindsVariablesToTheirCheckpointNames) {
  const std::string shape = "attr { key: 'shape' value { shape { dim { size: 6 } } } }";
  const auto imported =
      Import(Input("x") + Node("w", "VariableV2", {}, Type("dtype", "DT_FLOAT") + shape) +
                 Node("w/read", "Identity", {"w"}) +
                 Node("handle", "VarHandleOp", {},
                      Type("dtype", "DT_FLOAT") + shape + Text("shared_name", "bias")) +
                 Node("read", "ReadVariableOp", {"handle"}, Type("dtype", "DT_FLOAT")) +
                 Node("sum", "AddV2", {"x", "w/read"}) + Node("y", "AddV2", {"sum", "read"}),
             fed_);
  EST_ASSERT_OK(imported);
  ASSERT_EQ(imported->variables.size(), 2u);
  EXPECT_EQ(imported->variables[0].source.name, "w");
  EXPECT_EQ(imported->variables[1].source.name, "bias");
  EXPECT_EQ(imported->variables[1].variable.spec().ToString(), "f32 [6]");
}

TEST_F(ImportTest, SlicesWithEllipsisAndNewAxis) {
  const auto shape = [this](int ellipsis, int new_axis, int shrink) {
    const auto imported = Import(
        Input("x") + Ints("begin", {0, 0, 1}) + Ints("end", {0, 0, 2}) + Ints("one", {1, 1, 1}) +
            Node("y", "StridedSlice", {"x", "begin", "end", "one"},
                 Int("ellipsis_mask", ellipsis) + Int("new_axis_mask", new_axis) +
                     Int("shrink_axis_mask", shrink)),
        {.feeds = {{"x", {DType::kFloat32, {2, 3, 4}}}}, .fetches = {"y"}});
    EST_EXPECT_OK(imported);
    return imported.ok() ? imported->fetches[0].shape() : Shape{};
  };
  EXPECT_EQ(shape(1, 2, 4), (Shape{2, 3, 1}));        // x[..., newaxis, 1]
  EXPECT_EQ(shape(2, 1, 0), (Shape{1, 2, 3, 1}));     // x[newaxis, ..., 1:2]
  EXPECT_EQ(shape(4, 3, 0), (Shape{1, 1, 2, 3, 4}));  // x[newaxis, newaxis, ...]
}

TEST_F(ImportTest, ChecksOfNumbersAreRun) {
  const auto imported =
      Import(Input("x") + Node("checked", "CheckNumerics", {"x"}, Text("message", "the_input")) +
                 Node("y", "Exp", {"checked"}),
             fed_);
  EST_ASSERT_OK(imported);
  const auto& check = *imported->fetches[0].node()->input(0).node();
  EXPECT_EQ(check.op(), "CheckNumerics");
  EXPECT_EQ(check.attrs().s("message"), "the_input");
}

TEST_F(ImportTest, NumbersBecomeStringsByTheAttributesOfAsString) {
  const auto imported = Import(
      Input("x") + Node("y", "AsString", {"x"}, Type("T", "DT_FLOAT") + Int("width", 8)), fed_);
  EST_ASSERT_OK(imported);
  const auto& node = *imported->fetches[0].node();
  EXPECT_EQ(node.outputs()[0].dtype, DType::kString);
  EXPECT_EQ(node.attrs().i("width"), 8);
  EXPECT_EQ(node.attrs().i("precision"), -1) << "the default, which files leave out";
  EXPECT_EQ(node.attrs().s("fill"), "");
  EXPECT_THAT(
      Error(Input("x") + Node("y", "AsString", {"x"}, Type("T", "DT_FLOAT") + Text("fill", "x")),
            fed_),
      ErrorHas("Fill argument not supported"));
}

// What tf.linalg.diag and diag_part of TensorFlow 2 write.
TEST_F(ImportTest, TheMainDiagonalIsTakenFromLaterVersionsOfItsOps) {
  const std::string constants =
      Ints("k", {0}, true) + Ints("any", {-1}, true) + Ints("other", {1}, true) + Input("x");
  const auto matrix = [&](const std::string& k) {
    return constants + Node("y", "MatrixDiagV3", {"x", k, "any", "any", "k"});
  };
  const ImportOptions options{.feeds = {{"x", {DType::kFloat32, {2, 3}}}}, .fetches = {"y"}};
  const auto diag = Import(matrix("k"), options);
  EST_ASSERT_OK(diag);
  EXPECT_EQ(diag->fetches[0].node()->op(), "MatrixDiag");
  EXPECT_EQ(diag->fetches[0].spec().ToString(), "f32 [2,3,3]");
  EXPECT_THAT(Error(matrix("other"), options), ErrorHas("only the main diagonal"));
  const auto part = Import(constants + Node("y", "MatrixDiagPartV3", {"x", "k", "k"}), options);
  EST_ASSERT_OK(part);
  EXPECT_EQ(part->fetches[0].spec().ToString(), "f32 [2]");
}

TEST_F(ImportTest, DecompositionsKeepTheirAttributesAndOutputs) {
  const ImportOptions options{.feeds = {{"x", {DType::kFloat32, {2, 4, 3}}}},
                              .fetches = {"svd:1", "svd:2", "qr:1", "log:1"}};
  const auto imported = Import(
      Input("x") + Node("svd", "Svd", {"x"}, "attr { key: 'full_matrices' value { b: true } }") +
          Node("qr", "Qr", {"x"}) +
          Node("square", "BatchMatMulV2", {"x", "x"}, "attr { key: 'adj_x' value { b: true } }") +
          Node("log", "LogMatrixDeterminant", {"square"}),
      options);
  EST_ASSERT_OK(imported);
  std::vector<std::string> specs;
  for (const Tensor& fetch : imported->fetches) specs.push_back(fetch.spec().ToString());
  EXPECT_THAT(specs,
              ::testing::ElementsAre("f32 [2,4,4]", "f32 [2,3,3]", "f32 [2,3,3]", "f32 [2]"));
  EXPECT_TRUE(imported->fetches[0].node()->attrs().b("compute_uv")) << "the default";
}

TEST_F(ImportTest, StringsAreMovedButNotComputedWith) {
  const std::string strings = Type("T", "DT_STRING");
  const auto joined =
      Import(Node("x", "Placeholder", {}, Type("dtype", "DT_STRING")) + Ints("axis", {0}) +
                 Node("y", "ExpandDims", {"x", "axis"}, strings),
             {.feeds = {{"x", {DType::kString, {2}}}}, .fetches = {"y"}});
  EST_ASSERT_OK(joined);
  EXPECT_EQ(joined->fetches[0].spec().ToString(), "str [1,2]");
  EXPECT_THAT(Error(Node("x", "Placeholder", {}, Type("dtype", "DT_STRING")) +
                        Node("y", "AddV2", {"x", "x"}, strings),
                    {.feeds = {{"x", {DType::kString, {2}}}}, .fetches = {"y"}}),
              ErrorIs(::testing::ContainsRegex("AddV2 +dtype DT_STRING")));
}

// A ParseExampleV2 "a" and the older ParseExample "b", which parse the feature "key", f32 [1], of
// the feed "x".
//   default_b: the default of the second one; that of the first one is 1.
std::string TwoParsers(float default_b) {
  const auto strings = [](const std::string& name, const std::string& values, int size) {
    return Node(
        name, "Const", {},
        absl::StrCat(Type("dtype", "DT_STRING"),
                     "attr { key: 'value' value { tensor { dtype: DT_STRING tensor_shape { ",
                     "dim { size: ", size, " } } ", values, " } } } "));
  };
  const auto number = [](const std::string& name, float value) {
    return Node(name, "Const", {},
                absl::StrCat(Type("dtype", "DT_FLOAT"),
                             "attr { key: 'value' value { tensor { dtype: DT_FLOAT tensor_shape { ",
                             "dim { size: 1 } } float_val: ", value, " } } } "));
  };
  const std::string parse = absl::StrCat(
      "attr { key: 'Tdense' value { list { type: DT_FLOAT } } } attr { key: 'dense_shapes' value "
      "{ ",
      "list { shape { dim { size: 1 } } } } } ", Int("num_sparse", 0));
  return absl::StrCat(
      Node("x", "Placeholder", {}, Type("dtype", "DT_STRING")), strings("none", "", 0),
      strings("keys", "string_val: 'key'", 1), number("default_a", 1),
      number("default_b", default_b),
      Node("a", "ParseExampleV2", {"x", "none", "none", "keys", "none", "default_a"}, parse),
      Node("b", "ParseExample", {"x", "none", "keys", "default_b"},
           parse + Int("Nsparse", 0) + Int("Ndense", 1)),
      Node("y", "AddV2", {"a", "b"}, Type("T", "DT_FLOAT")));
}

TEST_F(ImportTest, TwoNodesThatParseOneFeatureShareItsPlaceholder) {
  const ImportOptions options = {.feeds = {{"x", {DType::kString, {2}}}}, .fetches = {"y"}};
  const auto graph = Import(TwoParsers(1), options);
  EST_ASSERT_OK(graph);
  ASSERT_EQ(graph->parsers.size(), 1u);
  EXPECT_EQ(graph->parsers[0].features.size(), 1u);
  const Tensor& sum = graph->fetches[0];
  EXPECT_EQ(sum.node()->input(0), sum.node()->input(1));
  EXPECT_THAT(Error(TwoParsers(2), options), ErrorHas("the feature 'key' is parsed twice"));
}

TEST_F(ImportTest, SparseFeaturesOfExamplesAreListed) {
  const std::string parse =
      "attr { key: 'Tdense' value { list { } } } attr { key: 'dense_shapes' value { list { } } } " +
      Int("num_sparse", 1);
  EXPECT_THAT(Error(Node("x", "Placeholder", {}, Type("dtype", "DT_STRING")) +
                        Node("parse", "ParseExampleV2", {"x", "x", "x", "x", "x"}, parse) +
                        Node("y", "Identity", {"parse:1"}),
                    {.feeds = {{"x", {DType::kString, {2}}}}, .fetches = {"y"}}),
              ErrorIs(::testing::ContainsRegex("ParseExampleV2 +a sparse or ragged feature")));
}

TEST_F(ImportTest, DenseFeaturesOfVariableLengthAreListed) {
  const auto error = [&](int size) {
    const std::string parse = absl::StrCat(
        "attr { key: 'Tdense' value { list { type: DT_FLOAT } } } attr { key: 'dense_shapes' ",
        "value { list { shape { dim { size: ", size, " } } } } } ", Int("num_sparse", 0));
    return Error(Node("x", "Placeholder", {}, Type("dtype", "DT_STRING")) +
                     Node("parse", "ParseExampleV2", {"x", "x", "x", "x", "x", "x"}, parse) +
                     Node("y", "Identity", {"parse"}),
                 {.feeds = {{"x", {DType::kString, {2}}}}, .fetches = {"y"}})
        .ToString();
  };
  const char* const what = "a dense feature of variable length";
  EXPECT_THAT(error(-1), ::testing::HasSubstr(what));
  EXPECT_THAT(error(0), ::testing::Not(::testing::HasSubstr(what)));
}

}  // namespace
}  // namespace estimator
