#include "estimator/graphdef/graph_def.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/gradients.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/ops/activations.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/identity_n.h"
#include "estimator/ops/manipulation.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/matmul.h"
#include "estimator/ops/optimizer_ops.h"
#include "estimator/ops/recurrent.h"
#include "estimator/ops/reduction.h"
#include "estimator/proto/graph.pb.h"

namespace estimator {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class GraphDefTest : public GraphTest {
 protected:
  proto::GraphDef Def() {
    EST_EXPECT_OK(graph_.status());
    proto::GraphDef def;
    EXPECT_TRUE(def.ParseFromString(GraphToGraphDef(graph_)));
    return def;
  }
  proto::NodeDef Find(const std::string& name) {
    const proto::GraphDef def = Def();
    for (const proto::NodeDef& node : def.node()) {
      if (node.name() == name) return node;
    }
    ADD_FAILURE() << "no node " << name;
    return {};
  }
  static std::vector<std::string> Inputs(const proto::NodeDef& node) {
    return {node.input().begin(), node.input().end()};
  }
};

TEST_F(GraphDefTest, NodesHaveTensorFlowsOpsInputsAttributesAndShapes) {
  const Tensor x = Placeholder(DType::kFloat32, {8, 4}, "x");
  MatMul(x, Constant(Array(DType::kFloat32, {4, 2}), "w"), {}, "dense");
  const proto::NodeDef node = Find("dense");
  EXPECT_EQ(node.op(), "MatMul");
  EXPECT_THAT(Inputs(node), ElementsAre("x", "w"));
  EXPECT_EQ(node.attr().at("T").type(), proto::DT_FLOAT);
  EXPECT_FALSE(node.attr().at("transpose_b").b());
  ASSERT_EQ(node.attr().at("_output_shapes").list().shape_size(), 1);
  EXPECT_EQ(node.attr().at("_output_shapes").list().shape(0).dim(0).size(), 8);
  EXPECT_EQ(Find("x").attr().at("dtype").type(), proto::DT_FLOAT);
  EXPECT_EQ(Find("x").attr().at("shape").shape().dim(1).size(), 4);
  EXPECT_EQ(Def().versions().producer(), kGraphDefProducer);
}

TEST_F(GraphDefTest, DTypesOfInputsAndLengthsOfListsAreAttributes) {
  const Tensor x = Placeholder(DType::kFloat32, {8, 4}, "x");
  Concat({x, x, x}, 1, "joined");
  ReduceSum(x, {1}, {.name = "total"});
  EXPECT_EQ(Find("joined").attr().at("N").i(), 3);
  EXPECT_EQ(Find("joined").attr().at("Tidx").type(), proto::DT_INT32);
  EXPECT_EQ(Find("total").attr().at("Tidx").type(), proto::DT_INT32);
  EXPECT_FALSE(Find("total").attr().at("keep_dims").b());
}

TEST_F(GraphDefTest, AnIdentityNHasAListOfDTypes) {
  IdentityN({Placeholder(DType::kFloat32, {2}), Placeholder(DType::kInt64, {})}, "copies");
  const proto::NodeDef node = Find("copies");
  const auto& types = node.attr().at("T").list();
  ASSERT_EQ(types.type_size(), 2);
  EXPECT_EQ(types.type(0), proto::DT_FLOAT);
  EXPECT_EQ(types.type(1), proto::DT_INT64);
}

TEST_F(GraphDefTest, OutputsAfterTheFirstAndControlInputsAreNamed) {
  const Tensor x = Placeholder(DType::kFloat32, {8, 4}, "x");
  const std::vector<Tensor> parts = Split(x, 2, {.axis = 1, .name = "parts"});
  Relu(parts[1]);
  const Variable v = GetVariable("v", {}, {});
  (void)Group({Assign(v, Constant(Array::Scalar(1.0f)), "set")}, "all");
  EXPECT_THAT(Inputs(Find("Relu")), ElementsAre("parts:1"));
  EXPECT_THAT(Inputs(Find("all")), ElementsAre("^set"));
  EXPECT_EQ(Find("set").attr().at("_output_shapes").list().shape_size(), 1);
}

TEST_F(GraphDefTest, AnUpdateRuleTakesTheVariablesThemselves) {
  const Variable w = GetVariable("w", {3}, {});
  const Variable slot = GetVariable("w/Momentum", {3}, {.trainable = false});
  const Tensor rate = Constant(Array::Scalar(0.1f), "rate");
  const std::vector<Tensor> updated = ApplyUpdate(
      *FindUpdateOp("ApplyMomentum"),
      {w, slot, rate, Constant(Array(DType::kFloat32, {3}), "grad"), rate}, false, "rule");
  (void)Assign(w, updated[0], "set_w");
  (void)Assign(slot, updated[1], "set_slot");
  EXPECT_THAT(Inputs(Find("rule")), ElementsAre("w", "w/Momentum", "rate", "grad", "rate"));
  EXPECT_EQ(Find("rule").attr().at("_output_shapes").list().shape_size(), 1);
  EXPECT_THAT(Inputs(Find("set_w")), ElementsAre("w", "rule"));
  EXPECT_THAT(Inputs(Find("set_slot")), ElementsAre("w/Momentum", "w/Momentum", "^rule"));
}

TEST_F(GraphDefTest, UpdatesComeAfterWhatReadsTheirVariables) {
  const Variable w = GetVariable("w", {3}, {});
  const Tensor reader = Exp(w, "reader");
  const UpdateDef& descent = *FindUpdateOp("ApplyGradientDescent");
  const Tensor one = Constant(1.0f, "rate"), grad = Constant(Array(DType::kFloat32, {3}), "grad");
  const Tensor updated = ApplyUpdate(descent, {w, one, grad}, false, "rule")[0];
  Exp(updated, "later");
  (void)Assign(w, updated, "set");
  EXPECT_THAT(Inputs(Find("rule")), ElementsAre("w", "rate", "grad", "^reader"));
  EXPECT_THAT(Inputs(Find("set")), ElementsAre("w", "rule"));
  EXPECT_EQ(Inputs(Find("w/Assign")).size(), 2u);
  const Variable count = GetVariable("count", {3}, {});
  Exp(count, "count_reader");
  (void)AssignAdd(count, reader, "add");
  EXPECT_THAT(Inputs(Find("add")), ElementsAre("count", "reader", "^count_reader"));
  const Variable rate = GetVariable("decayed_rate", {}, {});
  const Variable v = GetVariable("v", {3}, {});
  ApplyUpdate(descent, {v, rate, grad}, false, "rule_of_v");
  (void)Assign(rate, Constant(0.5f, "half"), "decay");
  EXPECT_THAT(Inputs(Find("decay")), ElementsAre("decayed_rate", "half", "^rule_of_v"));
}

TEST_F(GraphDefTest, ConstantsAreWholeInTheBytesAndLargeOnesLeftOutOfTheText) {
  Constant(Array::Of<float>({2}, {1, 2}), "small");
  Constant(Array(DType::kFloat32, {257}), "large");
  Constant(Array::Scalar<int64_t>(7), "seven");
  Constant(Array::Of<std::string>({2}, {"a", "b"}), "words");
  Constant(Array(DType::kFloat32, {256}), "largest");
  EXPECT_EQ(Find("small").attr().at("value").tensor().tensor_content().size(), 8u);
  EXPECT_EQ(Find("large").attr().at("value").tensor().tensor_content().size(), 257u * 4);
  EXPECT_EQ(Find("seven").attr().at("value").tensor().int64_val(0), 7);
  EXPECT_EQ(Find("words").attr().at("value").tensor().string_val(1), "b");
  proto::GraphDef text;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(GraphToText(graph_), &text));
  EXPECT_EQ(text.node(0).attr().at("value").tensor().tensor_content().size(), 8u);
  EXPECT_EQ(text.node(1).attr().at("value").tensor().tensor_content().size(), 0u);
  EXPECT_EQ(text.node(1).attr().at("value").tensor().tensor_shape().dim(0).size(), 257);
  EXPECT_EQ(text.node(4).attr().at("value").tensor().tensor_content().size(), 1024u);
}

TEST_F(GraphDefTest, TheSameGraphGivesTheSameBytes) {
  const Tensor x = Placeholder(DType::kFloat32, {8, 4}, "x");
  ReduceSum(Relu(x), {0}, {.keepdims = true});
  EXPECT_EQ(GraphToGraphDef(graph_), GraphToGraphDef(graph_));
  EXPECT_THAT(GraphToText(graph_), HasSubstr("op: \"Relu\""));
  EXPECT_THAT(GraphToText(graph_), Not(HasSubstr("Softmax")));
}

// TensorFlow has no op for all time steps of a GRU.
TEST_F(GraphDefTest, AGruIsWrittenAsThePlainOpsOfEachTimeStep) {
  const Tensor x = Placeholder(DType::kFloat32, {3, 2, 4}, "x");
  const Tensor h =
      BlockGRU(x, Zeros({2, 5}), Zeros({9, 10}), Zeros({9, 5}), Zeros({10}), Zeros({5}), "gru");
  Gradients({h}, {x});
  const proto::GraphDef def = Def();
  std::set<std::string> names;
  int products = 0;
  for (const proto::NodeDef& node : def.node()) {
    EXPECT_TRUE(names.insert(node.name()).second) << node.name();
    EXPECT_NE(node.op()[0], '_') << node.name();
    products += node.op() == "MatMul" ? 1 : 0;
  }
  for (const proto::NodeDef& node : def.node()) {
    for (const std::string& input : node.input())
      EXPECT_EQ(names.count(input.substr(0, input.find(':'))), 1u) << node.name() << ": " << input;
  }
  // Two in each time step, forward and backward, and two for the gradients of the weights.
  EXPECT_EQ(products, 14);
  const proto::NodeDef node = Find("gru");
  EXPECT_EQ(node.op(), "IdentityN");
  EXPECT_EQ(node.attr().at("T").list().type_size(), 4);
  EXPECT_THAT(Inputs(node), ElementsAre("gru/unrolled/stack", "gru/unrolled/stack_1",
                                        "gru/unrolled/stack_2", "gru/unrolled/stack_3"));
}

}  // namespace
}  // namespace estimator
