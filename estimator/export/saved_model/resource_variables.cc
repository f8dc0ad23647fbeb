#include "estimator/export/saved_model/resource_variables.h"

#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "estimator/graphdef/graph_def_builder.h"
#include "estimator/proto/variable.pb.h"
#include "glog/logging.h"

namespace estimator {
namespace {

std::vector<std::string> Inputs(const proto::NodeDef& node) {
  return {node.input().begin(), node.input().end()};
}

}  // namespace

void UseResourceVariables(const Graph& graph, proto::GraphDef* def) {
  std::map<std::string, const Variable*> variables;
  for (const Variable& variable : graph.variables()) variables[variable.name()] = &variable;
  for (proto::NodeDef& node : *def->mutable_node()) {
    const std::vector<std::string> inputs = Inputs(node);
    const auto own = variables.find(node.name());
    if (own != variables.end()) {
      const TensorSpec spec = own->second->spec();
      ReplaceNode(&node, "VarHandleOp", inputs)
          .Type("dtype", spec.dtype)
          .ShapeAttr("shape", spec.shape)
          .Text("shared_name", node.name())
          .Text("container", "");
      continue;
    }
    if (inputs.empty()) continue;
    const auto variable = variables.find(inputs[0]);
    if (variable == variables.end()) continue;
    const DType dtype = variable->second->dtype();
    if (node.op() == "Identity") {
      ReplaceNode(&node, "ReadVariableOp", inputs).Type("dtype", dtype);
    } else if (node.op() == "Assign") {
      ReplaceNode(&node, "AssignVariableOp", inputs).Type("dtype", dtype);
    } else if (node.op() == "AssignAdd") {
      ReplaceNode(&node, "AssignAddVariableOp", inputs).Type("dtype", dtype);
    }
  }
  // Any other node that has the variable as an input reads its value instead.
  for (proto::NodeDef& node : *def->mutable_node()) {
    if (node.op() == "ReadVariableOp" || absl::EndsWith(node.op(), "VariableOp")) continue;
    CHECK(!absl::StartsWith(node.op(), "Apply")) << node.name();
    for (std::string& input : *node.mutable_input()) {
      const auto variable = variables.find(input);
      if (variable != variables.end()) input = variable->second->read().node()->name();
    }
  }
}

void AddVariableCollections(const Graph& graph, bool is_resource, proto::MetaGraphDef* meta_graph) {
  for (const Variable& variable : graph.variables()) {
    proto::VariableDef def;
    def.set_variable_name(absl::StrCat(variable.name(), ":0"));
    def.set_initializer_name(absl::StrCat(variable.name(), "/Assign"));
    def.set_snapshot_name(variable.read().name());
    def.set_initial_value_name(variable.initial_value().name());
    def.set_is_resource(is_resource);
    def.set_trainable(variable.trainable());
    const std::string bytes = def.SerializeAsString();
    auto& collections = *meta_graph->mutable_collection_def();
    const auto add = [&](const char* collection) {
      collections[collection].mutable_bytes_list()->add_value(bytes);
    };
    add(variable.local() ? "local_variables" : "variables");
    if (variable.trainable()) add("trainable_variables");
  }
}

}  // namespace estimator
