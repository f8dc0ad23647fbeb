#include "estimator/export/saved_model/variable_nodes.h"

#include <map>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "estimator/graph/node.h"
#include "estimator/graphdef/graph_def_builder.h"
#include "estimator/proto/variable.pb.h"
#include "glog/logging.h"

namespace estimator {
namespace {

std::vector<std::string> Inputs(const proto::NodeDef& node) {
  return {node.input().begin(), node.input().end()};
}

std::string AddFilename(const std::string& scope, GraphDefBuilder& builder) {
  const std::string input =
      builder.AddConst(absl::StrCat(scope, "/filename/input"), Array::String("model"));
  // TensorFlow's Saver has both placeholders, because older programs feed save/Const.
  std::string previous = input;
  for (const char* name : {"/filename", "/Const"}) {
    const std::string node = absl::StrCat(scope, name);
    builder.Add(node, "PlaceholderWithDefault", {previous}, {{"dtype", DType::kString}})
        .ShapeAttr("shape", {});
    previous = node;
  }
  return previous;
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
      ReplaceNode(&node, "VarHandleOp", inputs, {{"dtype", spec.dtype}})
          .ShapeAttr("shape", spec.shape)
          .Text("shared_name", node.name())
          .Text("container", "");
      continue;
    }
    if (inputs.empty()) continue;
    const auto variable = variables.find(inputs[0]);
    if (variable == variables.end()) continue;
    const DTypeAttrs types = {{"dtype", variable->second->dtype()}};
    if (node.op() == "Identity") {
      ReplaceNode(&node, "ReadVariableOp", inputs, types);
    } else if (node.op() == "Assign") {
      ReplaceNode(&node, "AssignVariableOp", inputs, types);
    } else if (node.op() == "AssignAdd") {
      ReplaceNode(&node, "AssignAddVariableOp", inputs, types);
    }
  }
  // Any other node that has the variable as an input reads its value instead.
  for (proto::NodeDef& node : *def->mutable_node()) {
    // These take the handle itself.
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

void AddSaverNodes(const std::vector<Variable>& variables, bool is_resource,
                   proto::MetaGraphDef* meta_graph) {
  if (variables.empty()) return;
  GraphDefBuilder builder(meta_graph->mutable_graph_def());
  const std::string scope = builder.UniqueScope("save");
  const auto in_scope = [&](const auto&... parts) { return absl::StrCat(scope, "/", parts...); };
  const std::string filename = AddFilename(scope, builder);
  std::vector<std::string> names, values, restores;
  std::vector<DType> dtypes;
  for (const Variable& variable : variables) {
    names.push_back(variable.name());
    dtypes.push_back(variable.dtype());
    values.push_back(is_resource ? variable.read().node()->name() : variable.name());
  }
  const std::vector<std::string> whole(names.size());  // "" for each name: no slices

  std::vector<std::string> inputs = {
      filename, builder.AddConst(in_scope("SaveV2/tensor_names"), Array::Strings(names)),
      builder.AddConst(in_scope("SaveV2/shape_and_slices"), Array::Strings(whole))};
  inputs.insert(inputs.end(), values.begin(), values.end());
  builder.Add(in_scope("SaveV2"), "SaveV2", inputs).Types("dtypes", dtypes);
  const std::string saved = in_scope("control_dependency");
  builder.Add(saved, "Identity", {filename, absl::StrCat("^", in_scope("SaveV2"))},
              {{"T", DType::kString}});

  inputs = {filename, builder.AddConst(in_scope("RestoreV2/tensor_names"), Array::Strings(names)),
            builder.AddConst(in_scope("RestoreV2/shape_and_slices"), Array::Strings(whole))};
  builder.Add(in_scope("RestoreV2"), "RestoreV2", inputs).Types("dtypes", dtypes);
  for (size_t i = 0; i < names.size(); ++i) {
    std::string value = in_scope("RestoreV2");
    if (i > 0) absl::StrAppend(&value, ":", i);
    const std::string assign = in_scope(is_resource ? "AssignVariableOp_" : "Assign_", i);
    // As TensorFlow's Saver writes it: each restored value has an Identity.
    if (is_resource) {
      const std::string identity = in_scope("Identity_", i);
      builder.Add(identity, "Identity", {value}, {{"T", dtypes[i]}});
      builder.Add(assign, "AssignVariableOp", {names[i], identity}, {{"dtype", dtypes[i]}});
    } else {
      builder.Add(assign, "Assign", {names[i], value}, {{"T", dtypes[i]}});
    }
    restores.push_back(absl::StrCat("^", assign));
  }
  builder.Add(in_scope("restore_all"), "NoOp", restores);

  proto::SaverDef& saver = *meta_graph->mutable_saver_def();
  saver.set_filename_tensor_name(absl::StrCat(filename, ":0"));
  saver.set_save_tensor_name(absl::StrCat(saved, ":0"));
  saver.set_restore_op_name(in_scope("restore_all"));
  // The defaults of TensorFlow's Saver.
  saver.set_max_to_keep(5);
  saver.set_keep_checkpoint_every_n_hours(10000);
  saver.set_version(proto::SaverDef::V2);
}

}  // namespace estimator
