#include "estimator/export/saved_model/export_graph_def.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "estimator/base/status.h"
#include "estimator/export/any_batch/any_batch_graph_def.h"
#include "estimator/export/saved_model/parse_example_node.h"
#include "estimator/graphdef/graph_def.h"
#include "estimator/graphdef/graph_def_builder.h"
#include "estimator/graphdef/tensor_proto.h"

namespace estimator {
namespace {

proto::TensorInfo MakeTensorInfo(const Tensor& tensor, const BatchAnalysis& analysis) {
  proto::TensorInfo info;
  info.set_name(absl::StrCat(tensor.node()->name(), ":", tensor.output()));
  info.set_dtype(ProtoType(tensor.dtype()));
  WriteShapeProto(analysis.ShapeOf(tensor), info.mutable_tensor_shape());
  return info;
}

proto::SignatureDef MakeSignatureDef(const Signature& signature, const BatchAnalysis& analysis) {
  proto::SignatureDef def;
  def.set_method_name(signature.method_name);
  for (const auto& [name, tensor] : signature.inputs)
    (*def.mutable_inputs())[name] = MakeTensorInfo(tensor, analysis);
  for (const auto& [name, tensor] : signature.outputs)
    (*def.mutable_outputs())[name] = MakeTensorInfo(tensor, analysis);
  return def;
}

}  // namespace

void PruneGraphDef(const std::vector<std::string>& keep, proto::GraphDef* graph) {
  std::map<std::string, const proto::NodeDef*> nodes;
  for (const proto::NodeDef& node : graph->node()) nodes[node.name()] = &node;
  std::set<std::string> needed;
  std::vector<std::string> pending = keep;
  while (!pending.empty()) {
    const std::string name = std::move(pending.back());
    pending.pop_back();
    const auto found = nodes.find(name);
    if (found == nodes.end() || !needed.insert(name).second) continue;
    for (const std::string& input : found->second->input()) {
      const absl::string_view node = absl::StripPrefix(input, "^");
      pending.emplace_back(node.substr(0, node.find(':')));
    }
  }
  auto* all = graph->mutable_node();
  all->erase(
      std::remove_if(all->begin(), all->end(),
                     [&](const proto::NodeDef& node) { return needed.count(node.name()) == 0; }),
      all->end());
}

absl::StatusOr<ExportGraphDef> MakeExportGraphDef(const ExportGraphFn& build,
                                                  const BatchSearchOptions& options) {
  EST_ASSIGN_OR_RETURN(BatchModel found, FindBatchModel(build, options));
  ExportGraphDef model;
  model.obstacles = std::move(found.obstacles);
  model.refused = std::move(found.refused);
  model.built = std::move(found.built);
  WriteGraphDef(*model.built.graph, &model.graph_def);
  if (options.prune) {
    std::vector<std::string> keep;
    for (const BatchRoot& root : ExportRoots(model.built))
      keep.push_back(root.tensor.node()->name());
    // The collections of variables name the initializers, though no signature needs them.
    for (const Variable& variable : model.built.graph->variables())
      keep.push_back(absl::StrCat(variable.name(), "/Assign"));
    PruneGraphDef(keep, &model.graph_def);
  }
  MakeAnyBatch(found.analysis, &model.graph_def);
  // After MakeAnyBatch, which corrects the shapes of the placeholders that this replaces.
  if (model.built.parsing.has_value()) WriteParseExample(*model.built.parsing, &model.graph_def);
  for (const auto& [key, signature] : model.built.signatures)
    model.signature_defs[key] = MakeSignatureDef(signature, found.analysis);
  return model;
}

}  // namespace estimator
