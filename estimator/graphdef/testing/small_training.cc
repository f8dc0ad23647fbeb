#include "estimator/graphdef/testing/small_training.h"

#include <google/protobuf/text_format.h>

#include "absl/strings/str_cat.h"
#include "estimator/proto/variable.pb.h"
#include "glog/logging.h"

namespace estimator::testing {
namespace {

std::string ShapeText(const std::vector<int>& shape) {
  std::string text;
  for (const int size : shape) absl::StrAppend(&text, " dim { size: ", size, " }");
  return text;
}

}  // namespace

std::string SmallTraining::TypeAttr(const std::string& name, const std::string& dtype) {
  return absl::StrCat(" attr { key: '", name, "' value { type: ", dtype, " } }");
}

std::string SmallTraining::ShapeAttr(const std::string& name, const std::vector<int>& shape) {
  return absl::StrCat(" attr { key: '", name, "' value { shape {", ShapeText(shape), " } } }");
}

SmallTraining SmallTraining::WithCondition() {
  SmallTraining training = Small();
  training.Float("limit", 1);
  training.Node("pred", "Less", {"loss", "limit"}, TypeAttr("T"));
  return training;
}

SmallTraining& SmallTraining::Node(const std::string& name, const std::string& op,
                                   const std::vector<std::string>& inputs,
                                   const std::string& attrs) {
  std::string text = absl::StrCat("name: '", name, "' op: '", op, "'");
  for (const std::string& input : inputs) absl::StrAppend(&text, " input: '", input, "'");
  absl::StrAppend(&text, attrs);
  proto::NodeDef* const node = meta_graph_.mutable_graph_def()->add_node();
  CHECK(google::protobuf::TextFormat::ParseFromString(text, node)) << text;
  return *this;
}

SmallTraining& SmallTraining::Float(const std::string& name, double value) {
  return Node(name, "Const", {},
              absl::StrCat(TypeAttr("dtype"),
                           " attr { key: 'value' value { tensor { dtype: DT_FLOAT tensor_shape { }"
                           " float_val: ",
                           value, " } } }"));
}

SmallTraining& SmallTraining::Variable(const std::string& name, const std::vector<int>& shape,
                                       double value, bool trainable) {
  const bool is_step = name == "global_step";
  const std::string dtype = is_step ? "DT_INT64" : "DT_FLOAT";
  const std::string initial = name + "/Initializer/Const";
  Node(initial, "Const", {},
       absl::StrCat(TypeAttr("dtype", dtype), " attr { key: 'value' value { tensor { dtype: ",
                    dtype, " tensor_shape {", ShapeText(shape), " } ",
                    is_step ? "int64_val: " : "float_val: ", value, " } } }"));
  Node(name, "VariableV2", {}, TypeAttr("dtype", dtype) + ShapeAttr("shape", shape));
  Node(name + "/Assign", "Assign", {name, initial}, TypeAttr("T", dtype));
  Node(name + "/read", "Identity", {name}, TypeAttr("T", dtype));
  proto::VariableDef def;
  def.set_variable_name(name + ":0");
  def.set_initializer_name(name + "/Assign");
  def.set_snapshot_name(name + "/read:0");
  def.set_initial_value_name(initial + ":0");
  def.set_trainable(trainable);
  auto& collections = *meta_graph_.mutable_collection_def();
  collections["variables"].mutable_bytes_list()->add_value(def.SerializeAsString());
  if (trainable)
    collections["trainable_variables"].mutable_bytes_list()->add_value(def.SerializeAsString());
  return *this;
}

SmallTraining& SmallTraining::AddTo(const std::string& collection, const std::string& node) {
  (*meta_graph_.mutable_collection_def())[collection].mutable_node_list()->add_value(node);
  return *this;
}

SmallTraining& SmallTraining::Rewire(const std::string& name,
                                     const std::vector<std::string>& inputs) {
  for (proto::NodeDef& node : *meta_graph_.mutable_graph_def()->mutable_node()) {
    if (node.name() != name) continue;
    node.clear_input();
    for (const std::string& input : inputs) node.add_input(input);
    return *this;
  }
  LOG(FATAL) << "no node " << name;
}

SmallTraining SmallTraining::Small(int inputs, int outputs) {
  SmallTraining graph;
  const std::string t = TypeAttr("T");
  graph.Variable("global_step", {}, 0, /*trainable=*/false);
  graph.Variable("w", {inputs, outputs}, 2, /*trainable=*/true);
  graph.Node(
      "IteratorGetNext", "IteratorGetNext", {},
      absl::StrCat(" attr { key: 'output_types' value { list { type: DT_FLOAT type: DT_FLOAT } } }"
                   " attr { key: 'output_shapes' value { list { shape {",
                   ShapeText({-1, inputs}), " } shape {", ShapeText({-1, outputs}), " } } } }"));
  graph.Node("MatMul", "MatMul", {"IteratorGetNext", "w/read"}, t);
  graph.Node("sub", "Sub", {"MatMul", "IteratorGetNext:1"}, t);
  graph.Node("square", "Square", {"sub"}, t);
  graph.Node("axes", "Const", {},
             TypeAttr("dtype", "DT_INT32") +
                 " attr { key: 'value' value { tensor { dtype: DT_INT32 tensor_shape {"
                 " dim { size: 2 } } int_val: 0 int_val: 1 } } }");
  graph.Node("loss", "Mean", {"square", "axes"}, t + TypeAttr("Tidx", "DT_INT32"));
  // d loss / d w = x^T (x w - y) * 2 / n
  graph.Node("gradients/size", "Size", {"square"}, t + TypeAttr("out_type", "DT_INT32"));
  graph.Node("gradients/n", "Cast", {"gradients/size"},
             TypeAttr("SrcT", "DT_INT32") + TypeAttr("DstT"));
  graph.Float("gradients/two", 2);
  graph.Node("gradients/scale", "RealDiv", {"gradients/two", "gradients/n"}, t);
  graph.Node("gradients/sub", "Mul", {"sub", "gradients/scale"}, t);
  graph.Node("gradients/MatMul", "MatMul", {"IteratorGetNext", "gradients/sub"},
             t + " attr { key: 'transpose_a' value { b: true } }");
  graph.Float("rate", 0.1);
  graph.Node("apply", "ApplyGradientDescent", {"w", "rate", "gradients/MatMul"}, t);
  graph.Node("one", "Const", {},
             TypeAttr("dtype", "DT_INT64") +
                 " attr { key: 'value' value { tensor { dtype: DT_INT64 tensor_shape { }"
                 " int64_val: 1 } } }");
  graph.Node("step", "AssignAdd", {"global_step", "one", "^apply"}, TypeAttr("T", "DT_INT64"));
  graph.Node("train", "NoOp", {"^step"});
  graph.AddTo("train_op", "train").AddTo("losses", "loss:0");
  return graph;
}

}  // namespace estimator::testing
