// The numbers of ops that become other ops, computed by hand from TensorFlow's definitions.
#include "estimator/graphdef/import/op_conversions.h"

#include <google/protobuf/text_format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/constant_value.h"
#include "estimator/graphdef/import_graph_def.h"
#include "estimator/proto/graph.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using ::testing::DoubleNear;
using ::testing::Pointwise;
using Numbers = std::vector<double>;

class OpConversionsTest : public ::testing::Test {
 protected:
  void Node(const std::string& name, const std::string& op, const std::vector<std::string>& inputs,
            const std::string& attrs = "") {
    absl::StrAppend(&text_, "node { name: '", name, "' op: '", op, "' ");
    for (const std::string& input : inputs) absl::StrAppend(&text_, "input: '", input, "' ");
    absl::StrAppend(&text_, attrs, "}\n");
  }
  void Const(const std::string& name, const std::string& type, const std::vector<int>& shape,
             const Numbers& values) {
    std::string dims;
    for (const int size : shape) absl::StrAppend(&dims, "dim { size: ", size, " } ");
    Node(name, "Const", {},
         absl::StrCat("attr { key: 'dtype' value { type: ", type, " } } attr { key: 'value' value ",
                      "{ tensor { dtype: ", type, " tensor_shape { ", dims, "} ",
                      type == "DT_FLOAT"   ? "float_val: ["
                      : type == "DT_INT64" ? "int64_val: ["
                                           : "int_val: [",
                      absl::StrJoin(values, ","), "] } } } "));
  }
  void Floats(const std::string& name, const std::vector<int>& shape, const Numbers& values) {
    Const(name, "DT_FLOAT", shape, values);
  }
  void Ints(const std::string& name, const Numbers& values) {
    Const(name, "DT_INT32", {static_cast<int>(values.size())}, values);
  }
  void Int(const std::string& name, int value) {
    Const(name, "DT_INT32", {}, {static_cast<double>(value)});
  }
  absl::StatusOr<ImportedGraph> Import(const std::string& fetch, Graph& graph) {
    proto::GraphDef def;
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text_, &def)) << text_;
    return ImportGraphDef(def, {.fetches = {fetch}}, graph);
  }
  // The value of a tensor of the graph, which depends on constants only.
  Array Value(const std::string& fetch) {
    Graph graph;
    const auto imported = Import(fetch, graph);
    EST_EXPECT_OK(imported);
    if (!imported.ok()) return Array();
    const std::optional<Array> value = ConstantValue(imported->fetches[0]);
    EXPECT_TRUE(value.has_value()) << fetch;
    return value.value_or(Array());
  }
  void Expect(const std::string& fetch, const Numbers& numbers) {
    const Array value = Value(fetch);
    Numbers got;
    for (int64_t i = 0; i < value.num_elements(); ++i) got.push_back(value.AsDouble(i));
    EXPECT_THAT(got, Pointwise(DoubleNear(1e-6), numbers)) << fetch;
  }

  std::string text_;
};

// y = x / (1 + 0.5 * sums of squares)^2. The sums are 5, 14 and 13.
TEST_F(OpConversionsTest, LocalResponseNormalizationAndItsGradient) {
  const auto attr = [](const std::string& name, const std::string& value) {
    return absl::StrCat("attr { key: '", name, "' value { ", value, " } } ");
  };
  const std::string attrs = attr("depth_radius", "i: 1") + attr("bias", "f: 1") +
                            attr("alpha", "f: 0.5") + attr("beta", "f: 2");
  Floats("x", {1, 1, 1, 3}, {1, 2, 3});
  Floats("dy", {1, 1, 1, 3}, {1, 0, 0});
  Node("y", "LRN", {"x"}, attrs);
  Node("dx", "LRNGrad", {"dy", "x", "y"}, attrs);
  Expect("y", {1 / 12.25, 2 / 64.0, 3 / 56.25});
  const double t = 1 / 12.25 / 3.5;
  Expect("dx", {1 / 12.25 - 2 * t, -4 * t, 0});
}

TEST_F(OpConversionsTest, BlocksOfChannelsBecomeBlocksOfPixelsAndBack) {
  const std::string block = "attr { key: 'block_size' value { i: 2 } } ";
  Floats("x", {1, 1, 2, 4}, {0, 1, 2, 3, 4, 5, 6, 7});
  Node("space", "DepthToSpace", {"x"}, block);
  Node("depth", "SpaceToDepth", {"space"}, block);
  Expect("space", {0, 1, 4, 5, 2, 3, 6, 7});
  EXPECT_EQ(Value("space").shape(), (Shape{1, 2, 4, 1}));
  Expect("depth", {0, 1, 2, 3, 4, 5, 6, 7});
  EXPECT_EQ(Value("depth").shape(), (Shape{1, 1, 2, 4}));
}

TEST_F(OpConversionsTest, BlocksOfPixelsBecomeExamplesAndBack) {
  Floats("x", {1, 3, 2}, {1, 2, 3, 4, 5, 6});
  Ints("blocks", {2});
  Const("margins", "DT_INT32", {1, 2}, {1, 0});
  Node("batch", "SpaceToBatchND", {"x", "blocks", "margins"});
  Node("space", "BatchToSpaceND", {"batch", "blocks", "margins"});
  Expect("batch", {0, 0, 3, 4, 1, 2, 5, 6});
  EXPECT_EQ(Value("batch").shape(), (Shape{2, 2, 2}));
  Expect("space", {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(Value("space").shape(), (Shape{1, 3, 2}));
  Floats("image", {1, 2, 2, 1}, {1, 2, 3, 4});
  Const("none", "DT_INT32", {2, 2}, {0, 0, 0, 0});
  const std::string two = "attr { key: 'block_size' value { i: 2 } } ";
  Node("old", "SpaceToBatch", {"image", "none"}, two);
  Node("old_back", "BatchToSpace", {"old", "none"}, two);
  EXPECT_EQ(Value("old").shape(), (Shape{4, 1, 1, 1}));
  Expect("old_back", {1, 2, 3, 4});
}

TEST_F(OpConversionsTest, RollMovesTheEndToTheBegin) {
  Floats("x", {2, 3}, {1, 2, 3, 4, 5, 6});
  Int("shift", 1);
  Int("axis", 1);
  Node("y", "Roll", {"x", "shift", "axis"});
  Expect("y", {3, 1, 2, 6, 4, 5});
}

// As in tf.losses with weights, which compare shapes when the step runs.
TEST_F(OpConversionsTest, OpsOnShapesAreComputed) {
  Ints("a", {4, 1, 3});
  Ints("b", {2, 1});
  Node("both", "BroadcastArgs", {"a", "b"});
  Expect("both", {4, 2, 3});
  Const("sizes", "DT_INT32", {1, 4}, {5, 3, 5, 1});
  Const("valid", "DT_INT32", {1, 2}, {3, 9});
  Node("invalid", "DenseToDenseSetOperation", {"sizes", "valid"},
       "attr { key: 'set_operation' value { s: 'a-b' } } ");
  Expect("invalid", {0, 0, 0, 1});
  Expect("invalid:1", {1, 5});
  Expect("invalid:2", {1, 2});
  Floats("five", {}, {5});
  Node("lgamma", "Lgamma", {"five"});
  Expect("lgamma", {3.1780538});  // log(4!)
}

TEST_F(OpConversionsTest, GradientsOfRootsAreOfTheResult) {
  Floats("y", {}, {2});
  Floats("dy", {}, {3});
  Node("sqrt", "SqrtGrad", {"y", "dy"});
  Node("rsqrt", "RsqrtGrad", {"y", "dy"});
  Node("reciprocal", "ReciprocalGrad", {"y", "dy"});
  Node("inv", "InvGrad", {"y", "dy"});
  Expect("sqrt", {0.75});
  Expect("rsqrt", {-12});
  Expect("reciprocal", {-12});
  Expect("inv", {-12});
}

// Of a batch normalization that does not train: dx = dy * scale / sqrt(variance).
TEST_F(OpConversionsTest, TheOlderGradientsOfBatchNormalizationHaveFiveInputs) {
  Floats("dy", {1, 1, 1, 2}, {1, 2});
  Floats("x", {1, 1, 1, 2}, {2, 2});
  Floats("scale", {2}, {3, 3});
  Floats("mean", {2}, {1, 0});
  Floats("variance", {2}, {4, 4});
  Node("grad", "FusedBatchNormGradV2", {"dy", "x", "scale", "mean", "variance"},
       "attr { key: 'epsilon' value { f: 0 } } attr { key: 'is_training' value { b: false } } ");
  Expect("grad", {1.5, 3});
  Expect("grad:1", {0.5, 2});
  Expect("grad:2", {1, 2});
}

TEST_F(OpConversionsTest, OperandsComeInTheOrderOfTheOlderOps) {
  Floats("low", {}, {0});
  Floats("high", {}, {1});
  Floats("x", {1, 3}, {-5, 0.5, 9});
  Floats("z", {1, 1}, {7});
  Int("axis", 1);
  Node("clipped", "ClipByValue", {"x", "low", "high"});
  Node("joined", "Concat", {"axis", "x", "z"});
  Expect("clipped", {0, 0.5, 1});
  Expect("joined", {-5, 0.5, 9, 7});
  Floats("rows", {3, 2}, {1, 2, 3, 4, 5, 6});
  Ints("order", {2, 0});
  Node("gathered", "Gather", {"rows", "order"});
  Expect("gathered", {5, 6, 1, 2});
  Node("top", "TopK", {"x"}, "attr { key: 'k' value { i: 2 } } ");
  Expect("top", {9, 0.5});
  Expect("top:1", {2, 1});
  Node("sum", "AccumulateNV2", {"x", "x"});
  Expect("sum", {-10, 1, 18});
  Node("older_sum", "Add", {"x", "x"});
  Expect("older_sum", {-10, 1, 18});
  Node("mod", "Mod", {"x", "high"});
  Expect("mod", {0, 0.5, 0});
  Node("product", "Einsum", {"x", "rows"}, "attr { key: 'equation' value { s: 'ij,jk->ik' } } ");
  Expect("product", {-5 + 1.5 + 45, -10 + 2 + 54});
}

TEST_F(OpConversionsTest, SelectTakesAConditionForEachRow) {
  Floats("one", {2}, {1, 1});
  Floats("numbers", {2}, {2, 0});
  Floats("x", {2, 2}, {1, 2, 3, 4});
  Floats("y", {2, 2}, {5, 6, 7, 8});
  Node("large", "Greater", {"numbers", "one"});
  Node("small", "Less", {"numbers", "one"});
  Node("rows", "Select", {"large", "x", "y"});
  Node("other", "LogicalXor", {"large", "small"});
  Node("same", "LogicalXor", {"large", "large"});
  Expect("rows", {1, 2, 7, 8});
  Expect("other", {1, 1});
  Expect("same", {0, 0});
}

TEST_F(OpConversionsTest, InTopKTakesItsNumberFromAnAttribute) {
  Floats("predictions", {2, 3}, {0.1, 0.7, 0.2, 0.5, 0.2, 0.3});
  Ints("targets", {2, 1});
  for (const int k : {1, 2, 3})
    Node(absl::StrCat("in_", k), "InTopK", {"predictions", "targets"},
         absl::StrCat("attr { key: 'k' value { i: ", k, " } } "));
  Expect("in_1", {0, 0});
  Expect("in_2", {1, 0});
  Expect("in_3", {1, 1});
}

TEST_F(OpConversionsTest, GradientsOfShapesAreConstants) {
  Ints("a", {2, 3, 1});
  Ints("b", {3, 4});
  Node("axes", "BroadcastGradientArgs", {"a", "b"});
  Expect("axes", {2});
  Expect("axes:1", {0});
  Ints("first", {2, 3});
  Ints("second", {2, 5});
  Int("last", -1);
  Int("front", 0);
  Node("offsets", "ConcatOffset", {"last", "first", "second", "first"});
  Expect("offsets", {0, 0});
  Expect("offsets:1", {0, 3});
  Expect("offsets:2", {0, 8});
  Node("in_front", "ConcatOffset", {"front", "second", "first"});
  Expect("in_front:1", {2, 0});
  // The later of two values for an index counts.
  Ints("at", {0, 2});
  Ints("at_too", {1, 2});
  Ints("data", {10, 20});
  Ints("data_too", {30, 40});
  Node("stitched", "DynamicStitch", {"at", "at_too", "data", "data_too"});
  Expect("stitched", {10, 30, 40});
}

// The labels of tf.SparseTensor(where, tf.gather_nd(ids, where), ...), of which 9 is padding.
TEST_F(OpConversionsTest, CtcLossOfTheLabelsThatWhereFinds) {
  const auto type = [](const std::string& name, const std::string& value) {
    return absl::StrCat("attr { key: '", name, "' value { type: ", value, " } } ");
  };
  Numbers logits;
  for (int i = 0; i < 24; ++i) logits.push_back(i * 7 % 5 - 2);
  Floats("logits", {4, 2, 3}, logits);
  Const("ids", "DT_INT32", {2, 3}, {0, 1, 1, 1, 9, 9});
  Ints("lengths", {4, 3});
  Int("padding", 9);
  Node("mask", "NotEqual", {"ids", "padding"}, type("T", "DT_INT32"));
  Node("where", "Where", {"mask"}, type("T", "DT_BOOL"));
  Node("values", "GatherNd", {"ids", "where"},
       type("Tparams", "DT_INT32") + type("Tindices", "DT_INT64"));
  Int("one", 1);
  Node("more", "AddV2", {"values", "one"}, type("T", "DT_INT32"));
  Node("moved", "Sub", {"more", "one"}, type("T", "DT_INT32"));
  Node("loss", "CTCLoss", {"logits", "where", "moved", "lengths"}, type("T", "DT_FLOAT"));
  Const("few_indices", "DT_INT32", {4, 2}, {0, 0, 0, 1, 0, 2, 1, 0});
  Node("indices", "Cast", {"few_indices"}, type("SrcT", "DT_INT32") + type("DstT", "DT_INT64"));
  Ints("few_values", {0, 1, 1, 1});
  Node("same", "CTCLoss", {"logits", "indices", "few_values", "lengths"}, type("T", "DT_FLOAT"));
  const Array same = Value("same");
  ASSERT_EQ(same.num_elements(), 2);
  EXPECT_GT(same.AsDouble(0), 0);
  Expect("loss", {same.AsDouble(0), same.AsDouble(1)});

  proto::GraphDef def;
  Int("axis", 0);
  Node("sum", "Sum", {"values", "axis"}, type("T", "DT_INT32"));
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(text_, &def));
  for (const char* fetch : {"sum", "values"}) {
    Graph graph;
    EXPECT_THAT(ImportGraphDef(def, {.fetches = {fetch}}, graph),
                ErrorHas("reads the elements that tf.where finds, whose number is not static"));
  }
}

double Logistic(double x) { return 1 / (1 + std::exp(-x)); }

// The derivative of `loss` by *x.
double Derivative(double* x, const std::function<double()>& loss) {
  const double value = *x, step = 1e-5;
  *x = value + step;
  const double above = loss();
  *x = value - step;
  const double below = loss();
  *x = value;
  return (above - below) / (2 * step);
}

// A time step of one unit of LSTMBlockCell, for one row with one feature.
struct LstmCell {
  double x = 0.3, cs_prev = -0.4, h_prev = 0.6;
  Numbers w = {0.5, -0.2, 0.7, 0.1, 0.3, 0.8, -0.6, 0.4};  // of x, then of h_prev: i, ci, f, o
  Numbers peephole;                                        // of i, f and o
  Numbers b = {0.1, 0.2, -0.3, 0.4};
  double clip = 0;

  Numbers Outputs() const {  // i, cs, f, o, ci, co, h
    Numbers gates = b;
    for (size_t k = 0; k < 4; ++k) gates[k] += x * w[k] + h_prev * w[4 + k];
    const double i = Logistic(gates[0] + cs_prev * peephole[0]), ci = std::tanh(gates[1]);
    const double f = Logistic(gates[2] + 0.5 + cs_prev * peephole[1]);
    double cs = ci * i + cs_prev * f;
    if (clip > 0) cs = std::clamp(cs, -clip, clip);
    const double o = Logistic(gates[3] + cs * peephole[2]), co = std::tanh(cs);
    return {i, cs, f, o, ci, co, o * co};
  }
};

TEST_F(OpConversionsTest, LstmBlockCellAndItsGradient) {
  for (const bool has_peephole : {false, true}) {
    text_.clear();
    LstmCell cell;
    cell.peephole = has_peephole ? Numbers{0.9, -0.7, 0.2} : Numbers{0, 0, 0};
    const std::string attrs =
        absl::StrCat("attr { key: 'use_peephole' value { b: ", has_peephole, " } } ");
    const std::string bias = "attr { key: 'forget_bias' value { f: 0.5 } } ";
    const auto clip = [](double at) {
      return absl::StrCat("attr { key: 'cell_clip' value { f: ", at, " } } ");
    };
    Floats("x", {1, 1}, {cell.x});
    Floats("cs_prev", {1, 1}, {cell.cs_prev});
    Floats("h_prev", {1, 1}, {cell.h_prev});
    Floats("w", {2, 4}, cell.w);
    for (const size_t k : {0, 1, 2}) Floats(absl::StrCat("peephole_", k), {1}, {cell.peephole[k]});
    Floats("b", {4}, cell.b);
    std::vector<std::string> inputs = {"x",          "cs_prev",    "h_prev",     "w",
                                       "peephole_0", "peephole_1", "peephole_2", "b"};
    Node("cell", "LSTMBlockCell", inputs, attrs + bias + clip(-1));
    Node("clipped", "LSTMBlockCell", inputs, attrs + bias + clip(0.01));
    for (size_t k = 0; k < 6; ++k) inputs.push_back(absl::StrCat("cell:", k));
    Floats("cs_grad", {1, 1}, {0.5});
    Floats("h_grad", {1, 1}, {-1.5});
    inputs.insert(inputs.end(), {"cs_grad", "h_grad"});
    Node("grad", "LSTMBlockCellGrad", inputs, attrs);

    const auto loss = [&cell] { return 0.5 * cell.Outputs()[1] - 1.5 * cell.Outputs()[6]; };
    Expect("grad", {Derivative(&cell.cs_prev, loss)});
    Numbers of_gates;
    for (double& b : cell.b) of_gates.push_back(Derivative(&b, loss));
    Expect("grad:1", of_gates);
    for (size_t k = 0; k < 3; ++k) {
      Expect(absl::StrCat("grad:", 2 + k),
             {has_peephole ? Derivative(&cell.peephole[k], loss) : 0});
    }
    for (const auto& [name, at] : {std::pair("cell", 0.), std::pair("clipped", 0.01)}) {
      cell.clip = at;
      const Numbers outputs = cell.Outputs();
      for (size_t k = 0; k < outputs.size(); ++k) Expect(absl::StrCat(name, ":", k), {outputs[k]});
    }
  }
}

// The same of GRUBlockCell.
struct GruCell {
  double x = 0.3, h_prev = 0.6;
  Numbers w_ru = {0.5, -0.2, 0.3, 0.8};  // of x, then of h_prev: r and u
  Numbers w_c = {0.7, -0.6};
  Numbers b_ru = {0.1, 0.2};
  double b_c = -0.3;

  Numbers Outputs() const {  // r, u, c, h
    const double r = Logistic(x * w_ru[0] + h_prev * w_ru[2] + b_ru[0]);
    const double u = Logistic(x * w_ru[1] + h_prev * w_ru[3] + b_ru[1]);
    const double c = std::tanh(x * w_c[0] + r * h_prev * w_c[1] + b_c);
    return {r, u, c, u * h_prev + (1 - u) * c};
  }
};

TEST_F(OpConversionsTest, GruBlockCellAndItsGradient) {
  GruCell cell;
  Floats("x", {1, 1}, {cell.x});
  Floats("h_prev", {1, 1}, {cell.h_prev});
  Floats("w_ru", {2, 2}, cell.w_ru);
  Floats("w_c", {2, 1}, cell.w_c);
  Floats("b_ru", {2}, cell.b_ru);
  Floats("b_c", {1}, {cell.b_c});
  Floats("h_grad", {1, 1}, {-1.5});
  Node("cell", "GRUBlockCell", {"x", "h_prev", "w_ru", "w_c", "b_ru", "b_c"});
  Node("grad", "GRUBlockCellGrad",
       {"x", "h_prev", "w_ru", "w_c", "b_ru", "b_c", "cell", "cell:1", "cell:2", "h_grad"});
  const Numbers outputs = cell.Outputs();
  for (size_t k = 0; k < outputs.size(); ++k) Expect(absl::StrCat("cell:", k), {outputs[k]});
  const auto loss = [&cell] { return -1.5 * cell.Outputs()[3]; };
  Expect("grad", {Derivative(&cell.x, loss)});
  Expect("grad:1", {Derivative(&cell.h_prev, loss)});
  Expect("grad:2", {Derivative(&cell.b_c, loss)});
  Expect("grad:3", {Derivative(&cell.b_ru[0], loss), Derivative(&cell.b_ru[1], loss)});

  Floats("vector", {1}, {cell.x});
  Node("wrong", "GRUBlockCell", {"vector", "h_prev", "w_ru", "w_c", "b_ru", "b_c"});
  proto::GraphDef def;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(text_, &def));
  Graph graph;
  EXPECT_THAT(ImportGraphDef(def, {.fetches = {"wrong"}}, graph),
              ErrorHas("input 0 is f32 [1], not a matrix"));
}

// y = (x - mean) / sqrt(variance + epsilon) * gamma + beta, over two rows of one channel.
TEST_F(OpConversionsTest, EarlyBatchNormalizationAndItsGradient) {
  double x[] = {0.5, -1.2}, mean = 0.3, variance = 1.7, beta = 0.6, gamma = -1.4;
  const Numbers grads = {0.8, -0.5};
  for (const bool scaled : {false, true}) {
    text_.clear();
    const std::string attrs = absl::StrCat(
        "attr { key: 'variance_epsilon' value { f: 0.25 } } ",
        "attr { key: 'scale_after_normalization' value { b: ", scaled ? "true" : "false", " } } ");
    Floats("x", {2, 1, 1, 1}, {x[0], x[1]});
    Floats("mean", {1}, {mean});
    Floats("variance", {1}, {variance});
    Floats("beta", {1}, {beta});
    Floats("gamma", {1}, {gamma});
    Floats("dy", {2, 1, 1, 1}, grads);
    Node("y", "BatchNormWithGlobalNormalization", {"x", "mean", "variance", "beta", "gamma"},
         attrs);
    Node("grad", "BatchNormWithGlobalNormalizationGrad", {"x", "mean", "variance", "gamma", "dy"},
         attrs);
    const auto y = [&](size_t i) {
      return (x[i] - mean) / std::sqrt(variance + 0.25) * (scaled ? gamma : 1) + beta;
    };
    const auto loss = [&] { return grads[0] * y(0) + grads[1] * y(1); };
    Expect("y", {y(0), y(1)});
    Expect("grad", {Derivative(&x[0], loss), Derivative(&x[1], loss)});
    Expect("grad:1", {Derivative(&mean, loss)});
    Expect("grad:2", {Derivative(&variance, loss)});
    Expect("grad:3", {Derivative(&beta, loss)});
    Expect("grad:4", {Derivative(&gamma, loss)});
  }
}

// sampled_softmax_loss lowers the logits of samples that are true classes.
TEST_F(OpConversionsTest, SamplesThatAreTrueClassesGetTheirWeight) {
  Const("classes", "DT_INT64", {2, 2}, {7, 4, 5, 1});
  Const("samples", "DT_INT64", {3}, {4, 9, 5});
  Node("hits", "ComputeAccidentalHits", {"classes", "samples"});
  Int("one", 1);
  Node("rows", "ExpandDims", {"hits", "one"});
  Node("ids", "Cast", {"hits:1"},
       "attr { key: 'SrcT' value { type: DT_INT64 } } attr { key: 'DstT' value { type: DT_INT32 } "
       "} ");
  Node("columns", "ExpandDims", {"ids", "one"});
  Node("places", "ConcatV2", {"rows", "columns", "one"});
  Ints("shape", {2, 3});
  Floats("zero", {}, {0});
  Node("dense", "SparseToDense", {"places", "shape", "hits:2", "zero"});
  const auto least = static_cast<double>(std::numeric_limits<float>::lowest());
  Expect("dense", {least, 0, 0, 0, 0, least});

  // Only the last place of a class that is sampled again.
  Const("again", "DT_INT64", {3}, {5, 4, 5});
  Node("last", "ComputeAccidentalHits", {"classes", "again"});
  Expect("last:2", {0, least, 0, 0, 0, least});
}

TEST_F(OpConversionsTest, TheSoftmaxLossBroadcastsLabels) {
  Floats("logits", {2, 2}, {0, 1, 2, 0});
  Floats("labels", {2, 1}, {1, 3});
  Node("loss", "SoftmaxCrossEntropyWithLogits", {"logits", "labels"});
  const double first = std::log(1 + std::exp(1)), second = std::log(1 + std::exp(2));
  Expect("loss", {first + (first - 1), 3 * (second + (second - 2))});
}

TEST_F(OpConversionsTest, TheEarlyDiagonals) {
  Floats("x", {2}, {3, 4});
  Node("matrix", "Diag", {"x"});
  Node("back", "DiagPart", {"matrix"});
  Expect("matrix", {3, 0, 0, 4});
  Expect("back", {3, 4});
}

TEST_F(OpConversionsTest, ProductsOfASparseMatrix) {
  Const("places", "DT_INT64", {3, 2}, {0, 1, 1, 0, 1, 2});  // [[0, 2, 0], [3, 0, 4]]
  Floats("values", {3}, {2, 3, 4});
  Const("shape", "DT_INT64", {2}, {2, 3});
  Floats("b", {3, 2}, {1, 2, 3, 4, 5, 6});
  Floats("c", {1, 2}, {1, 10});
  Node("product", "SparseTensorDenseMatMul", {"places", "values", "shape", "b"});
  Node("flipped", "SparseTensorDenseMatMul", {"places", "values", "shape", "c"},
       "attr { key: 'adjoint_a' value { b: true } } attr { key: 'adjoint_b' value { b: true } } ");
  Node("wrong", "SparseTensorDenseMatMul", {"places", "values", "shape", "c"});
  Graph graph;
  EXPECT_THAT(std::string(Import("wrong", graph).status().message()),
              ::testing::HasSubstr("multiplies a matrix [2,3] by f32 [1,2]"));
  Expect("product", {6, 8, 23, 30});
  Expect("flipped", {30, 2, 40});
}

}  // namespace
}  // namespace estimator
