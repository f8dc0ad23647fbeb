#include "estimator/export/saved_model/export_graph_def.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/export/saved_model/frozen_graph.h"
#include "estimator/graph/graph.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/identity_n.h"
#include "estimator/ops/manipulation.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/matmul.h"
#include "estimator/ops/shape_ops.h"

namespace estimator {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Model = std::function<Tensor(const Tensor& x)>;  // of the feature x: f32 [batch, 4]

// `model` behind a receiver, its result as `y`.
ExportGraphFn GraphOf(Model model, ServingInputReceiverFn receiver_fn) {
  return [=](int64_t batch_size) -> absl::StatusOr<ExportGraph> {
    ExportGraph built;
    built.graph = std::make_unique<Graph>();
    const GraphScope scope(*built.graph);
    const InputReceiver receiver = receiver_fn(batch_size);
    std::map<std::string, std::string> excluded;
    built.signatures = BuildServingSignatures(
        {{"serving_default", PredictOutput({{"y", model(receiver.features.at("x"))}})}}, receiver,
        excluded);
    built.parsing = receiver.parsing;
    if (!built.graph->status().ok()) return built.graph->status();
    return built;
  };
}
ExportGraphFn RawGraphOf(Model model) {
  return GraphOf(std::move(model),
                 BuildRawServingInputReceiverFn({{"x", {DType::kFloat32, {-1, 4}}}}));
}

const proto::NodeDef* Find(const proto::GraphDef& graph, const std::string& name) {
  for (const proto::NodeDef& node : graph.node()) {
    if (node.name() == name) return &node;
  }
  return nullptr;
}
std::vector<std::string> Inputs(const proto::GraphDef& graph, const std::string& name) {
  const proto::NodeDef* node = Find(graph, name);
  if (node == nullptr) return {"no node " + name};
  return {node->input().begin(), node->input().end()};
}

TEST(ExportGraphDefTest, ThePlaceholderAndTheSignatureLeaveTheBatchOpen) {
  const auto model = MakeExportGraphDef(RawGraphOf([](const Tensor& x) { return Exp(x, "y"); }));
  EST_ASSERT_OK(model);
  EXPECT_THAT(model->obstacles, IsEmpty());
  const proto::NodeDef* x = Find(model->graph_def, "x");
  EXPECT_EQ(x->attr().at("shape").shape().dim(0).size(), -1);
  EXPECT_EQ(x->attr().at("shape").shape().dim(1).size(), 4);
  const proto::SignatureDef& signature = model->signature_defs.at("serving_default");
  EXPECT_EQ(signature.inputs().at("x").name(), "x:0");
  EXPECT_EQ(signature.inputs().at("x").tensor_shape().dim(0).size(), -1);
  EXPECT_EQ(signature.outputs().at("y").tensor_shape().dim(0).size(), -1);
}

TEST(ExportGraphDefTest, SizesAreComputedFromTheBatch) {
  const auto model = MakeExportGraphDef(RawGraphOf(
      [](const Tensor& x) { return Multiply(x, BroadcastTo(Constant(2.0f), x.shape(), "twos")); }));
  EST_ASSERT_OK(model);
  EXPECT_THAT(model->obstacles, IsEmpty());
  const proto::NodeDef* dims = Find(model->graph_def, "twos/shape");
  ASSERT_NE(dims, nullptr);
  EXPECT_EQ(dims->op(), "AddV2");
  EXPECT_THAT(Inputs(model->graph_def, "twos/shape/mul"),
              ElementsAre("twos/shape/slope", "batch_size"));
  EXPECT_THAT(Inputs(model->graph_def, "batch_size/Shape"), ElementsAre("x"));
}

TEST(ExportGraphDefTest, AModelTiedToOneBatchSizeIsWrittenForItAndSaysWhy) {
  const auto model =
      MakeExportGraphDef(RawGraphOf([](const Tensor& x) {
                           return Multiply(x, 1.0 / static_cast<double>(x.dim(0)), "mean");
                         }),
                         {.static_batch_size = 6});
  EST_ASSERT_OK(model);
  EXPECT_THAT(model->obstacles, ElementsAre(HasSubstr("depend on the batch size")));
  EXPECT_EQ(Find(model->graph_def, "x")->attr().at("shape").shape().dim(0).size(), 6);
  EXPECT_EQ(
      model->signature_defs.at("serving_default").outputs().at("y").tensor_shape().dim(0).size(),
      6);
}

TEST(ExportGraphDefTest, ZerosThatChangeFromConstantToFillAreNoObstacle) {
  // 3 * 300 elements are a Const, 5 * 300 a Fill.
  const auto model = MakeExportGraphDef(RawGraphOf([](const Tensor& x) {
    return Concat({x, Zeros({x.dim(0), 300})}, 1, "both");
  }));
  EST_ASSERT_OK(model);
  EXPECT_THAT(model->obstacles, IsEmpty());
}

TEST(ExportGraphDefTest, AReceiverThatFixesTheBatchSizeIsObeyed) {
  const auto model = MakeExportGraphDef(
      GraphOf([](const Tensor& x) { return Exp(x, "y"); },
              BuildRawServingInputReceiverFn({{"x", {DType::kFloat32, {-1, 4}}}}, 7)));
  EST_ASSERT_OK(model);
  EXPECT_THAT(model->obstacles, IsEmpty());
  EXPECT_EQ(Find(model->graph_def, "x")->attr().at("shape").shape().dim(0).size(), 7);
}

TEST(ExportGraphDefTest, ExamplesAreParsedInTheGraph) {
  const auto model = MakeExportGraphDef(
      GraphOf([](const Tensor& x) { return Exp(x, "y"); },
              BuildParsingServingInputReceiverFn(
                  {{"x", FixedLenFeature{.shape = {4}}},
                   {"unused", FixedLenFeature{.dtype = DType::kInt64,
                                              .default_value = Array::Scalar<int64_t>(3)}}})));
  EST_ASSERT_OK(model);
  const proto::GraphDef& graph = model->graph_def;
  const proto::NodeDef* parse = Find(graph, "ParseExample/ParseExampleV2");
  ASSERT_NE(parse, nullptr);
  EXPECT_EQ(parse->input(0), "input_example_tensor");
  EXPECT_EQ(parse->input_size(), 7);  // and the two defaults
  EXPECT_EQ(parse->attr().at("Tdense").list().type(0), proto::DT_INT64);
  EXPECT_EQ(parse->attr().at("Tdense").list().type(1), proto::DT_FLOAT);
  EXPECT_EQ(parse->attr().at("dense_shapes").list().shape(1).dim(0).size(), 4);
  EXPECT_EQ(Find(graph, "ParseExample/x")->op(), "Identity");
  EXPECT_THAT(Inputs(graph, "ParseExample/x"), ElementsAre("ParseExample/ParseExampleV2:1"));
  // A required feature has an empty default.
  EXPECT_EQ(Find(graph, "ParseExample/ParseExampleV2/default_1")
                ->attr()
                .at("value")
                .tensor()
                .tensor_shape()
                .dim(0)
                .size(),
            0);
  EXPECT_EQ(Find(graph, "ParseExample/ParseExampleV2/default_0")
                ->attr()
                .at("value")
                .tensor()
                .int64_val(0),
            3);
}

TEST(ExportGraphDefTest, ErrorsOfTheModelAreReturned) {
  EXPECT_THAT(MakeExportGraphDef(RawGraphOf([](const Tensor& x) {
                return Reshape(x, {x.dim(0), 3});
              })),
              ErrorHas("cannot reshape"));
}

TEST(FrozenGraphTest, VariablesAreConstantsAndIdentitiesAreGone) {
  const auto model = MakeExportGraphDef(RawGraphOf([](const Tensor& x) {
    const Variable w = GetVariable("w", {4, 2}, {});
    GetVariable("unused", {3}, {});
    return Exp(Identity(MatMul(StopGradient(x), w, {}, "product")), "y");
  }));
  EST_ASSERT_OK(model);
  VariableStore variables;
  EXPECT_THAT(FreezeGraph(*model, variables, "serving_default"),
              ErrorHas("variable 'w' has no value to freeze"));
  for (const auto& [name, shape] : {std::pair("w", Shape{4, 2}), std::pair("unused", Shape{3})})
    EST_ASSERT_OK(variables.Set(name, Array(DType::kFloat32, shape)));
  const auto frozen = FreezeGraph(*model, variables, "serving_default");
  EST_ASSERT_OK(frozen);
  EXPECT_EQ(frozen->inputs.at("x"), "x");
  EXPECT_EQ(frozen->outputs.at("y"), "y");
  proto::GraphDef graph;
  ASSERT_TRUE(graph.ParseFromString(frozen->graph_def));
  std::vector<std::string> names;
  for (const proto::NodeDef& node : graph.node()) names.push_back(node.name());
  EXPECT_THAT(names, ::testing::UnorderedElementsAre("x", "w", "product", "y"));
  EXPECT_EQ(Find(graph, "w")->op(), "Const");
  EXPECT_THAT(Inputs(graph, "product"), ElementsAre("x", "w"));
  EXPECT_THAT(Inputs(graph, "y"), ElementsAre("product"));
}

TEST(FrozenGraphTest, BothOutputsOfAnIdentityNAreGone) {
  const auto model = MakeExportGraphDef(RawGraphOf([](const Tensor& x) {
    const std::vector<Tensor> copies = IdentityN({Exp(x, "e"), x});
    return Add(copies[0], copies[1], "y");
  }));
  EST_ASSERT_OK(model);
  const auto frozen = FreezeGraph(*model, VariableStore(), "serving_default");
  EST_ASSERT_OK(frozen);
  proto::GraphDef graph;
  ASSERT_TRUE(graph.ParseFromString(frozen->graph_def));
  EXPECT_EQ(graph.node_size(), 3);
  EXPECT_THAT(Inputs(graph, "y"), ElementsAre("e", "x"));
}

TEST(FrozenGraphTest, AnUnknownSignatureIsRefusedWithTheNamesThatThereAre) {
  const auto model = MakeExportGraphDef(RawGraphOf([](const Tensor& x) { return Exp(x); }));
  EST_ASSERT_OK(model);
  EXPECT_THAT(FreezeGraph(*model, VariableStore(), "other"),
              ErrorHas("no signature 'other'; the model has serving_default"));
}

}  // namespace
}  // namespace estimator
