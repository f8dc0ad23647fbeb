#include "estimator/export/saved_model/frozen_graph.h"

#include <set>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "estimator/base/status.h"
#include "estimator/export/saved_model/export_graph_def.h"
#include "estimator/export/signature/join_keys.h"
#include "estimator/graphdef/graph_def_builder.h"
#include "estimator/proto/serialize.h"

namespace estimator {
namespace {

// Returns "node" for "node:0": inputs of nodes are written without ":0".
std::string InputName(const std::string& tensor) {
  return std::string(absl::StripSuffix(tensor, ":0"));
}

bool IsIdentity(const proto::NodeDef& node) {
  return node.op() == "Identity" || node.op() == "StopGradient" || node.op() == "EnsureShape";
}

void DropControlInputs(proto::NodeDef* node) {
  auto* inputs = node->mutable_input();
  while (!inputs->empty() && absl::StartsWith(inputs->Get(inputs->size() - 1), "^"))
    inputs->RemoveLast();
}

// Makes the readers of an identity read the identity's input.
//   keep: nodes that are outputs, which stay.
void FoldIdentities(const std::set<std::string>& keep, proto::GraphDef* graph) {
  std::map<std::string, std::string> source;  // output of an identity -> its input
  for (const proto::NodeDef& node : graph->node()) {
    if (keep.count(node.name()) > 0) continue;
    if (IsIdentity(node) || node.op() == "IdentityN") source[node.name()] = node.input(0);
    for (int i = 1; node.op() == "IdentityN" && i < node.input_size(); ++i)
      source[absl::StrCat(node.name(), ":", i)] = node.input(i);
  }
  for (proto::NodeDef& node : *graph->mutable_node()) {
    for (std::string& input : *node.mutable_input()) {
      // An identity may read another one.
      for (auto found = source.find(input); found != source.end(); found = source.find(input))
        input = found->second;
    }
  }
}

}  // namespace

absl::StatusOr<FrozenGraph> FreezeGraph(const ExportGraphDef& model, const VariableStore& variables,
                                        const std::string& signature_key) {
  const auto signature = model.signature_defs.find(signature_key);
  if (signature == model.signature_defs.end()) {
    return NotFound("no signature '", signature_key, "'; the model has ",
                    JoinKeys(model.signature_defs));
  }
  FrozenGraph frozen;
  proto::GraphDef graph_def = model.graph_def;
  for (proto::NodeDef& node : *graph_def.mutable_node()) {
    // Tools that rewrite frozen graphs do not update it.
    node.mutable_attr()->erase("_output_shapes");
    // They order updates and checks, and a frozen graph has neither.
    DropControlInputs(&node);
    if (node.op() != "VariableV2") continue;
    const Array* value = variables.Peek(node.name());
    if (value == nullptr || !variables.initialized(node.name())) {
      return FailedPrecondition("variable '", node.name(), "' has no value to freeze");
    }
    ReplaceByConst(&node, *value);
  }
  GraphDefBuilder builder(&graph_def);
  std::vector<std::string> keep;
  for (const auto& [name, info] : signature->second.inputs()) {
    frozen.inputs[name] = InputName(info.name());
    keep.push_back(frozen.inputs[name]);
  }
  for (const auto& [name, info] : signature->second.outputs()) {
    std::string node = InputName(info.name());
    if (absl::StrContains(node, ":")) {  // an output of a node with several
      const std::string source = node;
      node = builder.UniqueScope(name.empty() ? "output" : name);
      builder.Add(node, "Identity", {source}, {{"T", static_cast<DType>(info.dtype())}});
    }
    frozen.outputs[name] = node;
    keep.push_back(node);
  }
  FoldIdentities({keep.begin(), keep.end()}, &graph_def);
  PruneGraphDef(keep, &graph_def);
  EST_ASSIGN_OR_RETURN(
      frozen.graph_def,
      SerializeWithinLimit(graph_def, "the frozen graph",
                           "export a SavedModel, which stores variables in a separate file"));
  return frozen;
}

}  // namespace estimator
