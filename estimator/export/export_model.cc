#include "estimator/export/export_model.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "estimator/base/status.h"
#include "estimator/export/batch_free.h"
#include "estimator/export/node_defs.h"
#include "estimator/export/parse_example_node.h"
#include "estimator/graphdef/graph_def.h"
#include "estimator/graphdef/tensor_proto.h"
#include "glog/logging.h"

namespace estimator {
namespace {

// Sizes to compare. No 1: it broadcasts. The large ones are for models that treat small tensors in
// another way (zeros of up to 1000 elements are constants).
constexpr int64_t kBatchSizes[][3] = {{2, 3, 5}, {1021, 1031, 1033}};

std::vector<Tensor> Roots(const ExportGraph& built) {
  std::vector<Tensor> roots;
  for (const auto& [key, signature] : built.signatures) {
    for (const auto& [name, tensor] : signature.inputs) roots.push_back(tensor);
    for (const auto& [name, tensor] : signature.outputs) roots.push_back(tensor);
  }
  for (const Variable& variable : built.graph->variables()) {
    roots.push_back(variable.read());
    roots.push_back(variable.initial_value());
  }
  return roots;
}

// Roots, and every other node, which a whole graph keeps.
std::vector<Tensor> AllRoots(const ExportGraph& built) {
  std::vector<Tensor> roots;
  for (const auto& node : built.graph->nodes())
    roots.emplace_back(built.graph.get(), node.get(), 0);
  return roots;
}

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

struct Compared {
  ExportGraph built;
  BatchAnalysis analysis;
};

// The model without an own batch size, or what stands in the way.
absl::StatusOr<Compared> Compare(const ExportGraphFn& build, const int64_t (&sizes)[3],
                                 bool prune) {
  std::vector<ExportGraph> built;
  std::vector<SizedGraph> graphs;
  for (const int64_t size : sizes) {
    EST_ASSIGN_OR_RETURN(ExportGraph one, build(size));
    EST_RETURN_IF_ERROR(one.graph->status());
    graphs.push_back({one.graph.get(), size, prune ? Roots(one) : AllRoots(one)});
    built.push_back(std::move(one));
  }
  BatchAnalysis analysis = AnalyzeBatch(graphs);
  return Compared{std::move(built[0]), std::move(analysis)};
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

absl::StatusOr<ExportModel> MakeExportModel(const ExportGraphFn& build,
                                            const ExportModelOptions& options) {
  std::optional<Compared> compared;
  std::vector<std::string> obstacles;
  for (const auto& sizes : kBatchSizes) {
    EST_ASSIGN_OR_RETURN(compared, Compare(build, sizes, options.prune));
    if (obstacles.empty()) obstacles = compared->analysis.obstacles;
    if (compared->analysis.obstacles.empty()) break;
  }
  ExportModel model;
  if (compared->analysis.obstacles.empty()) {
    model.built = std::move(compared->built);
  } else {
    model.obstacles = std::move(obstacles);
    compared->analysis = BatchAnalysis();
    EST_ASSIGN_OR_RETURN(model.built, build(options.static_batch_size));
    EST_RETURN_IF_ERROR(model.built.graph->status());
  }
  CHECK(model.graph_def.ParseFromString(GraphToGraphDef(*model.built.graph)));
  if (options.prune) {
    std::vector<std::string> keep;
    for (const Tensor& root : Roots(model.built)) keep.push_back(root.node()->name());
    for (const Variable& variable : model.built.graph->variables())
      keep.push_back(absl::StrCat(variable.name(), "/Assign"));
    PruneGraphDef(keep, &model.graph_def);
  }
  MakeBatchFree(compared->analysis, &model.graph_def);
  if (model.built.parsing.has_value()) WriteParseExample(*model.built.parsing, &model.graph_def);
  for (const auto& [key, signature] : model.built.signatures)
    model.signature_defs[key] = MakeSignatureDef(signature, compared->analysis);
  return model;
}

}  // namespace estimator
