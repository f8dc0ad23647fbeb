#include "estimator/training/warm_start/checkpoint_initializer.h"

#include <map>
#include <vector>

#include "estimator/base/status.h"
#include "estimator/graph/op_registry.h"
#include "estimator/training/warm_start/load_variables.h"
#include "estimator/training/warm_start/moving_averages.h"
#include "glog/logging.h"

namespace estimator {
namespace {

// TensorFlow's Restore has no shape attribute. Attributes that begin with '_' are not checked
// against the op's definition.
constexpr char kShape[] = "_shape";

absl::StatusOr<std::vector<TensorSpec>> RestoreShape(const ShapeContext& context) {
  return std::vector<TensorSpec>{{context.attrs.dtype("dt"), context.attrs.get<Shape>(kShape)}};
}

EST_REGISTER_OP("Restore", RestoreShape);

Tensor StringConstant(Graph& graph, absl::string_view value, absl::string_view name) {
  return graph.AddOp("Const", {}, {{"value", Array::String(value)}, {"dtype", DType::kString}},
                     name);
}

std::string StringOf(const Tensor& constant) {
  return constant.node()->attrs().get<Array>("value").scalar<std::string>();
}

}  // namespace

void AddCheckpointInitializer(const Variable& variable, absl::string_view prefix,
                              absl::string_view stored_name) {
  Graph& graph = *variable.graph();
  const NameScope scope("checkpoint_initializer", graph);
  const Tensor value = graph.AddOp("Restore",
                                   {StringConstant(graph, prefix, "file_pattern"),
                                    StringConstant(graph, stored_name, "tensor_name")},
                                   {{"dt", variable.dtype()}, {kShape, variable.shape()}});
  graph.AddNode("Assign", {Tensor(&graph, variable.node(), 0), value});
}

RestoreAdvice CheckpointInitializerAdvice() {
  return {
      .renamed = "renamed: map it in assignment_map",
      .missing = "not in the checkpoint: leave it out of assignment_map",
      .slot = "a slot or an average that was not saved: leave it out of assignment_map",
      .other_size =
          "another size of the network: use its settings, or leave it out of "
          "assignment_map",
      .other_network = "another size: leave it out of assignment_map",
      .unwanted = "",
      .maps_scopes = true,
      .closing =
          "A map of names leaves variables out: that of GetAssignmentMapFromCheckpoint has those "
          "that the checkpoint has, of any size. Remove those of another size, as a new head: "
          "std::erase_if(map, [](const auto& entry) { return entry.first == \"head/kernel\"; })"};
}

absl::StatusOr<std::set<std::string>> LoadCheckpointInitializers(const Graph& graph,
                                                                 const std::set<std::string>& done,
                                                                 VariableStore& store,
                                                                 absl::string_view done_by) {
  // Variable's name -> (prefix, stored name).
  std::map<std::string, std::pair<std::string, std::string>> sources;
  for (const auto& node : graph.nodes()) {
    if (node->op() != "Assign" || node->input(1).node()->op() != "Restore") continue;
    const Node& restore = *node->input(1).node();
    // A later call for the same variable replaces an earlier one, as in TensorFlow.
    sources[node->input(0).node()->name()] = {StringOf(restore.input(0)),
                                              StringOf(restore.input(1))};
  }
  std::map<std::string, std::vector<WantedVariable>> by_prefix;
  std::set<std::string> names, all = done;
  std::vector<std::string> dropped;
  for (const auto& [name, source] : sources) {
    if (done.count(name) > 0) {
      dropped.push_back(name);
      continue;
    }
    const std::optional<Variable> variable = graph.FindVariable(name);
    by_prefix[source.first].push_back(
        {.name = name, .spec = variable->spec(), .stored_name = source.second});
    names.insert(name);
    all.insert(name);
  }
  LOG_IF(WARNING, !done_by.empty() && !dropped.empty())
      << done_by << " takes precedence over InitFromCheckpoint, which has no effect on "
      << dropped.size() << " of " << sources.size() << " variables, such as " << dropped[0];
  for (const auto& [prefix, wanted] : by_prefix) {
    EST_ASSIGN_OR_RETURN(const std::unique_ptr<BundleReader> reader, BundleReader::Open(prefix));
    EST_RETURN_IF_ERROR(CheckRestorable(*reader, wanted, CheckpointInitializerAdvice()));
    EST_RETURN_IF_ERROR(LoadVariables(*reader, wanted, store));
    LogLoaded("Initialized", prefix, wanted, graph);
    WarnOfMovingAverages(graph, *reader, wanted, all);
  }
  return names;
}

}  // namespace estimator
