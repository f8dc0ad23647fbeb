#include "estimator/export/saved_model/saved_model_show.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "estimator/base/status.h"
#include "estimator/export/saved_model/saved_model_proto.h"
#include "estimator/proto/saved_model.pb.h"

namespace estimator {
namespace {

std::vector<std::string> Tags(const proto::MetaGraphDef& graph) {
  return {graph.meta_info_def().tags().begin(), graph.meta_info_def().tags().end()};
}

template <typename Map>
std::vector<std::string> SortedKeys(const Map& map) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : map) keys.push_back(key);
  std::sort(keys.begin(), keys.end());
  return keys;
}

std::string TensorText(const proto::TensorInfo& info, const std::string& indent) {
  // The words are those of saved_model_cli, whose output scripts may read.
  std::string shape = "unknown_rank";
  if (!info.tensor_shape().unknown_rank()) {
    shape =
        absl::StrCat("(",
                     absl::StrJoin(info.tensor_shape().dim(), ", ",
                                   [](std::string* out, const proto::TensorShapeProto::Dim& dim) {
                                     absl::StrAppend(out, dim.size());
                                   }),
                     ")");
  }
  return absl::StrCat(indent, "    dtype: ", proto::DataType_Name(info.dtype()), "\n", indent,
                      "    shape: ", shape, "\n", indent, "    name: ", info.name(), "\n");
}

std::string SignatureText(const proto::SignatureDef& signature, const std::string& indent) {
  std::string text;
  const auto add = [&](const char* what, const auto& tensors) {
    absl::StrAppend(&text, indent, "The given SavedModel SignatureDef contains the following ",
                    what, "(s):\n");
    for (const std::string& key : SortedKeys(tensors)) {
      absl::StrAppend(&text, indent, "  ", what, "s['", key, "'] tensor_info:\n",
                      TensorText(tensors.at(key), absl::StrCat(indent, "  ")));
    }
  };
  add("input", signature.inputs());
  add("output", signature.outputs());
  absl::StrAppend(&text, indent, "Method name is: ", signature.method_name(), "\n");
  return text;
}

std::string OpsText(const proto::MetaGraphDef& graph) {
  // saved_model_cli prints a Python set in no order. Sorted ops give the same text every time.
  std::set<std::string> ops;
  for (const proto::NodeDef& node : graph.graph_def().node()) ops.insert(node.op());
  for (const proto::FunctionDef& function : graph.graph_def().library().function()) {
    for (const proto::NodeDef& node : function.node_def()) ops.insert(node.op());
  }
  return absl::StrCat("The MetaGraph with tag set ['", absl::StrJoin(Tags(graph), "', '"),
                      "'] contains the following ops: {'", absl::StrJoin(ops, "', '"), "'}\n");
}

}  // namespace

struct SavedModelShow::Rep {
  std::string path;
  proto::SavedModel model;

  absl::StatusOr<const proto::MetaGraphDef*> Find(absl::string_view tag_set) const {
    const std::set<std::string> wanted = absl::StrSplit(tag_set, ',', absl::SkipEmpty());
    std::vector<std::string> others;
    for (const proto::MetaGraphDef& graph : model.meta_graphs()) {
      const std::vector<std::string> tags = Tags(graph);
      if (std::set<std::string>(tags.begin(), tags.end()) == wanted) return &graph;
      others.push_back(absl::StrCat("'", absl::StrJoin(tags, ","), "'"));
    }
    return NotFound(path, ": no graph has the tag-set '", tag_set,
                    "'; the tag-sets are: ", absl::StrJoin(others, ", "));
  }
};

SavedModelShow::SavedModelShow(std::unique_ptr<Rep> rep) : rep_(std::move(rep)) {}
SavedModelShow::~SavedModelShow() = default;
SavedModelShow::SavedModelShow(SavedModelShow&&) noexcept = default;

absl::StatusOr<SavedModelShow> SavedModelShow::Open(absl::string_view dir) {
  auto rep = std::make_unique<Rep>();
  rep->path = std::string(dir);
  if (absl::EndsWith(dir, ".meta")) {
    EST_ASSIGN_OR_RETURN(*rep->model.add_meta_graphs(), ReadMetaGraph(dir));
    return SavedModelShow(std::move(rep));
  }
  EST_ASSIGN_OR_RETURN(rep->model, ReadSavedModelProto(dir));
  return SavedModelShow(std::move(rep));
}

std::string SavedModelShow::TagSets() const {
  // saved_model_cli prints each tag-set once, sorted.
  std::set<std::string> lines;
  for (const proto::MetaGraphDef& graph : rep_->model.meta_graphs()) {
    std::vector<std::string> tags = Tags(graph);
    std::sort(tags.begin(), tags.end());
    lines.insert(absl::StrCat("'", absl::StrJoin(tags, ", "), "'\n"));
  }
  return absl::StrCat("The given SavedModel contains the following tag-sets:\n",
                      absl::StrJoin(lines, ""));
}

absl::StatusOr<std::string> SavedModelShow::SignatureKeys(absl::string_view tag_set) const {
  EST_ASSIGN_OR_RETURN(const proto::MetaGraphDef* graph, rep_->Find(tag_set));
  std::string text =
      "The given SavedModel MetaGraphDef contains SignatureDefs with the following keys:\n";
  for (const std::string& key : SortedKeys(graph->signature_def()))
    absl::StrAppend(&text, "SignatureDef key: \"", key, "\"\n");
  return text;
}

absl::StatusOr<std::string> SavedModelShow::InputsAndOutputs(
    absl::string_view tag_set, const std::string& signature_key) const {
  EST_ASSIGN_OR_RETURN(const proto::MetaGraphDef* graph, rep_->Find(tag_set));
  const auto signature = graph->signature_def().find(signature_key);
  if (signature == graph->signature_def().end()) {
    return NotFound("Could not find signature \"", signature_key, "\". Please choose from: ",
                    absl::StrJoin(SortedKeys(graph->signature_def()), ", "));
  }
  return SignatureText(signature->second, "");
}

absl::StatusOr<std::string> SavedModelShow::Ops(absl::string_view tag_set) const {
  EST_ASSIGN_OR_RETURN(const proto::MetaGraphDef* graph, rep_->Find(tag_set));
  return OpsText(*graph);
}

std::string SavedModelShow::Tensors() const {
  std::string text;
  for (const proto::MetaGraphDef& graph : rep_->model.meta_graphs()) {
    if (graph.signature_def().empty()) {
      absl::StrAppend(&text, rep_->path,
                      " has no signatures: ", HowToNameTensors(graph.graph_def()), "\n");
    }
  }
  return text;
}

std::string SavedModelShow::All() const {
  // saved_model_cli sorts the graphs by their tags.
  std::map<std::vector<std::string>, const proto::MetaGraphDef*>
      graphs;  // in the order of the tags
  for (const proto::MetaGraphDef& graph : rep_->model.meta_graphs()) graphs[Tags(graph)] = &graph;
  std::string text;
  for (const auto& [tags, graph] : graphs) {
    absl::StrAppend(&text, "\nMetaGraphDef with tag-set: '", absl::StrJoin(tags, ", "),
                    "' contains the following SignatureDefs:\n");
    for (const std::string& key : SortedKeys(graph->signature_def())) {
      absl::StrAppend(&text, "\nsignature_def['", key, "']:\n",
                      SignatureText(graph->signature_def().at(key), "  "));
    }
    absl::StrAppend(&text, OpsText(*graph));
  }
  return text;
}

}  // namespace estimator
