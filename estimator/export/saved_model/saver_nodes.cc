#include "estimator/export/saved_model/saver_nodes.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "estimator/graph/node.h"
#include "estimator/graphdef/graph_def_builder.h"

namespace estimator {
namespace {

Array Strings(const std::vector<std::string>& values) {
  return Array::FromSpan<std::string>({static_cast<int64_t>(values.size())}, values);
}

std::string AddFilename(const std::string& scope, GraphDefBuilder& builder) {
  const std::string input =
      builder.AddConst(absl::StrCat(scope, "/filename/input"), Array::String("model"));
  std::string previous = input;
  for (const char* name : {"/filename", "/Const"}) {
    const std::string node = absl::StrCat(scope, name);
    builder.Add(node, "PlaceholderWithDefault", {previous})
        .Type("dtype", DType::kString)
        .ShapeAttr("shape", {});
    previous = node;
  }
  return previous;
}

}  // namespace

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
      filename, builder.AddConst(in_scope("SaveV2/tensor_names"), Strings(names)),
      builder.AddConst(in_scope("SaveV2/shape_and_slices"), Strings(whole))};
  inputs.insert(inputs.end(), values.begin(), values.end());
  builder.Add(in_scope("SaveV2"), "SaveV2", inputs).Types("dtypes", dtypes);
  const std::string saved = in_scope("control_dependency");
  builder.Add(saved, "Identity", {filename, absl::StrCat("^", in_scope("SaveV2"))})
      .Type("T", DType::kString);

  inputs = {filename, builder.AddConst(in_scope("RestoreV2/tensor_names"), Strings(names)),
            builder.AddConst(in_scope("RestoreV2/shape_and_slices"), Strings(whole))};
  builder.Add(in_scope("RestoreV2"), "RestoreV2", inputs).Types("dtypes", dtypes);
  for (size_t i = 0; i < names.size(); ++i) {
    std::string value = in_scope("RestoreV2");
    if (i > 0) absl::StrAppend(&value, ":", i);
    const std::string assign = in_scope(is_resource ? "AssignVariableOp_" : "Assign_", i);
    if (is_resource) {
      const std::string identity = in_scope("Identity_", i);
      builder.Add(identity, "Identity", {value}).Type("T", dtypes[i]);
      builder.Add(assign, "AssignVariableOp", {names[i], identity}).Type("dtype", dtypes[i]);
    } else {
      builder.Add(assign, "Assign", {names[i], value}).Type("T", dtypes[i]);
    }
    restores.push_back(absl::StrCat("^", assign));
  }
  builder.Add(in_scope("restore_all"), "NoOp", restores);

  proto::SaverDef& saver = *meta_graph->mutable_saver_def();
  saver.set_filename_tensor_name(absl::StrCat(filename, ":0"));
  saver.set_save_tensor_name(absl::StrCat(saved, ":0"));
  saver.set_restore_op_name(in_scope("restore_all"));
  saver.set_max_to_keep(5);
  saver.set_keep_checkpoint_every_n_hours(10000);
  saver.set_version(proto::SaverDef::V2);
}

}  // namespace estimator
