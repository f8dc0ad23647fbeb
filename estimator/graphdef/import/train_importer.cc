#include "estimator/graphdef/import/train_importer.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "estimator/graphdef/import/add_summaries.h"
#include "estimator/graphdef/import/node_builder.h"
#include "estimator/graphdef/import/obstacles.h"
#include "estimator/graphdef/import/op_kinds.h"
#include "estimator/graphdef/import/op_rules.h"
#include "estimator/graphdef/import/variable_maker.h"
#include "estimator/graphdef/import/write_rules.h"
#include "estimator/graphdef/step_counter.h"
#include "estimator/ops/cross_replica.h"
#include "estimator/ops/manipulation.h"
#include "estimator/ops/math_binary.h"

namespace estimator {
namespace {

class TrainImporter {
 public:
  TrainImporter(const ImportSource& source, const ImportPlan& plan,
                const ImportTrainGraphOptions& options, Graph& graph, std::set<int> absent)
      : source_(source),
        nodes_(*source.nodes),
        plan_(plan),
        options_(options),
        graph_(graph),
        averages_gradients_(options.training && options.num_shards > 1),
        variables_(source, plan.needed, graph),
        step_(nodes_, *plan.order, *plan.branches, graph,
              [this](int variable, int reader) { return Read(variable, reader); },
              {.unique_rows = &plan.unique_rows,
               .where_rows = &plan.where_rows,
               .branch_rows = &plan.branch_rows,
               // What can be built without nodes that are left out does not depend on branches.
               .bodies = absent.empty() ? &plan.bodies : nullptr,
               .transfer = [this](FlatTensor from, int to,
                                  const Tensor& value) { return Averaged(from, to, value); }}),
        absent_(std::move(absent)) {}

  absl::StatusOr<ImportedTrainGraph> Run(const std::map<std::string, FlatTensor>& fetches) {
    EST_RETURN_IF_ERROR(CheckShards());
    EST_RETURN_IF_ERROR(GiveInputs(fetches));
    if (source_.counts_steps) MarkCountedSteps(graph_, source_.stored_step_name);
    EST_RETURN_IF_ERROR(variables_.Make());
    for (int i = 0; i < nodes_.size(); ++i)
      is_gradient_.push_back(IsGradientName(nodes_.node(i).name));
    EST_RETURN_IF_ERROR(BuildNodes());
    EST_RETURN_IF_ERROR(CheckAveraged());
    // The rest would read what is absent.
    if (!absent_.empty()) return std::move(result_);
    for (const auto& [name, at] : fetches) {
      EST_ASSIGN_OR_RETURN(result_.fetches[name], Fetch(at));
    }
    if (options_.with_loss || options_.training) {
      EST_ASSIGN_OR_RETURN(result_.loss, Fetch(source_.loss));
      graph_.losses().push_back(result_.loss);
    }
    AssignVariables();
    // After the assignments, because a metric's update is a group of them.
    if (options_.with_metrics) EST_RETURN_IF_ERROR(AddMetrics());
    if (options_.training) {
      std::vector<Operation> updates;
      for (const auto& [node, update] : updates_) updates.push_back(update);
      if (source_.counts_steps) {
        updates.push_back(AssignAdd(GetOrCreateGlobalStep(),
                                    graph_.AddConst(Array::Scalar<int64_t>(1), "one_step")));
      }
      const bool one = source_.train_ops.size() == 1;
      result_.train_op = Group(updates, one ? source_.info.train_op : "train_ops");
      AddSummaries(
          plan_.summaries, [this](FlatTensor at) { return Fetch(at); }, graph_, &result_.warnings);
    }
    EST_RETURN_IF_ERROR(graph_.status());
    std::vector<std::string>& warnings = result_.warnings;
    warnings.insert(warnings.begin(), plan_.warnings.begin(), plan_.warnings.end());
    const std::vector<std::string>& choices = source_.info.choices;
    if (options_.training) warnings.insert(warnings.begin(), choices.begin(), choices.end());
    const std::vector<std::string> of_variables = variables_.warnings();
    warnings.insert(warnings.end(), of_variables.begin(), of_variables.end());
    return std::move(result_);
  }

  int failed_node() const { return failed_node_; }

 private:
  bool ReadsAbsent(int i) const {
    const auto absent = [this](FlatTensor from) {
      return !nodes_.IsGiven(from) && absent_.count(from.node) > 0;
    };
    const std::vector<FlatTensor>& inputs = nodes_.node(i).inputs;
    const Branches::Choice* const choice = plan_.branches->ChoiceOf(i);
    return std::any_of(inputs.begin(), inputs.end(), absent) ||
           (choice != nullptr && absent(plan_.branches->SelectorOf(choice->condition)));
  }

  absl::Status CheckShards() {
    Obstacles obstacles;
    for (const int i : plan_.writes) {
      // Each replica looks up other rows, so their gradients do not belong to each other.
      if (averages_gradients_ && FindWriteRule(nodes_.op(i))->by_rows) {
        obstacles.Add(nodes_.node(i), "updates rows, which cannot be averaged over replicas");
      }
    }
    return ObstacleError(obstacles.list(), kImporter, "");
  }

  absl::Status GiveInputs(const std::map<std::string, FlatTensor>& fetches) {
    std::vector<FlatTensor> read;
    for (const auto& [name, at] : fetches) read.push_back(at);
    if (options_.with_loss || options_.training) read.push_back(source_.loss);
    if (options_.with_metrics)
      for (const SourceMetric& metric : source_.metrics) read.push_back(metric.value);
    const std::set<FlatTensor> used = UsedTensors(source_, plan_, read);
    if (options_.inputs.size() != source_.inputs.size()) {
      return InvalidArgument("the graph takes ", source_.inputs.size(), " inputs, but ",
                             options_.inputs.size(), " are given; it takes ",
                             InputList(source_.info));
    }
    for (size_t k = 0; k < source_.inputs.size(); ++k) {
      const Tensor& given = options_.inputs[k];
      const TrainGraphInput& wanted = source_.info.inputs[k];
      // An input that nothing reads may be missing, or differ in dtype and shape.
      if (!given.valid()) {
        if (used.count(source_.inputs[k]) == 0) continue;
        return InvalidArgument("input ", k, " of the graph, ", wanted.ToString(), ", is not given");
      }
      const bool fits = given.graph() == &graph_ && FitsInput(given, wanted);
      if (!fits && used.count(source_.inputs[k]) > 0) {
        return InvalidArgument("input ", k, " is ", given.spec().ToString(),
                               ", but the graph takes ", wanted.ToString());
      }
      step_.Give(source_.inputs[k], given);
    }
    for (const auto& [at, value] : source_.feeds)
      step_.Give(at, graph_.AddConst(value, absl::StrCat("feed/", nodes_.node(at.node).name)));
    return absl::OkStatus();
  }

  absl::StatusOr<Tensor> Read(int variable, int reader) {
    if (variables_.all().count(variable) == 0) {
      return InvalidArgument("variable ", nodes_.Where(variable), " was not made");
    }
    const size_t visible = plan_.order->NumVisible(variable, reader);
    const std::vector<Tensor>& versions = versions_[variable];
    // An evaluation builds no writes, so every read has the value from the checkpoint.
    if (visible == 0 || versions.size() < visible) return variables_.Value(variable);
    return versions[visible - 1];
  }

  absl::StatusOr<Tensor> Fetch(FlatTensor at) {
    const int variable = plan_.order->VariableOf(at);
    // No write is visible to a fetched reference: its value is that before the step.
    if (variable >= 0) return variables_.Value(variable);
    return step_.Value(at, at.node);
  }

  // The mean over the replicas of a gradient that leaves its scope; any other value unchanged.
  Tensor Averaged(FlatTensor from, int to, const Tensor& value) {
    const auto node = static_cast<size_t>(from.node);
    // Constants and integers in the scope are shapes and indices, the same on all replicas.
    if (!averages_gradients_ || !is_gradient_[node] || is_gradient_[static_cast<size_t>(to)] ||
        !IsFloating(value.dtype()) || value.node()->op() == "Const")
      return value;
    averaged_.insert(to);
    // A gradient with several readers is summed over the replicas once.
    Tensor& mean = averages_[from];
    // A branch that reads it cannot sum.
    const GraphScope scope(*value.graph());
    if (!mean.valid())
      mean = Multiply(CrossReplicaSum(value), 1.0 / options_.num_shards, "mean_over_shards");
    return mean;
  }

  absl::Status BuildNodes() {
    for (const int i : plan_.order->sorted()) {
      // A loop builds its own nodes.
      if (!plan_.Needs(i) || IsVariableOp(nodes_.op(i)) || nodes_.node(i).loop >= 0) continue;
      if (!absent_.empty() && (absent_.count(i) > 0 || ReadsAbsent(i))) {
        absent_.insert(i);
        continue;
      }
      failed_node_ = i;
      const size_t before = graph_.nodes().size();
      const bool writes = FindWriteRule(nodes_.op(i)) != nullptr;
      const absl::Status status = writes ? BuildWrite(i) : step_.Build(i);
      if (step_.failed_node() >= 0) failed_node_ = step_.failed_node();
      EST_RETURN_IF_ERROR(status);
      if (!is_gradient_[static_cast<size_t>(i)]) continue;
      for (size_t k = before; k < graph_.nodes().size(); ++k)
        // The check that gradients are summed over the replicas looks for the nodes in this set.
        graph_.gradient_nodes().insert(graph_.nodes()[k].get());
    }
    failed_node_ = -1;
    return absl::OkStatus();
  }

  absl::Status BuildWrite(int i) {
    const absl::Status status = BuildWriteOf(i, *FindWriteRule(nodes_.op(i)));
    EST_RETURN_IF_ERROR(graph_.status());
    return status.ok() ? status : Annotate(status, nodes_.Where(i));
  }

  absl::Status BuildWriteOf(int i, const WriteRule& rule) {
    const FlatNode& node = nodes_.node(i);
    if (step_.IsDead(i)) return KeepStates(i, rule);
    const std::vector<absl::string_view> names = absl::StrSplit(rule.operands, ' ');
    std::vector<Tensor> inputs;
    std::map<absl::string_view, Tensor> operands;
    bool repeated = false;
    for (size_t k = 0; k < names.size(); ++k) {
      // The states of a write are read in the order of writes, not through the nodes between.
      const bool is_state = k < static_cast<size_t>(rule.num_states);
      EST_ASSIGN_OR_RETURN(const Tensor value,
                           is_state ? Read(plan_.order->VariableOf(node.inputs[k]), i)
                                    : step_.Value(node.inputs[k], i));
      inputs.push_back(value);
      operands[names[k]] = value;
      repeated = repeated || (names[k] == "indices" && step_.IsOfUnique(node.inputs[k]));
    }
    if (plan_.branch_rows.scatters.count(i) > 0 && inputs.back().rank() == 0)
      return Unimplemented("changes the rows that a branch of tf.cond chooses by one number");
    std::optional<std::string> problem;
    const Attrs attrs = ReadAttrs({.op = rule.op, .attrs = rule.attrs}, *node.def, problem);
    if (problem.has_value()) return Unimplemented(*problem);
    std::vector<Tensor> values;
    if (rule.formula != nullptr) {
      const NameScope scope(node.name, graph_);
      values = rule.formula({operands, attrs, repeated, rule.update});
    } else {
      // An op that we have stays one op, which the runtime runs in place.
      Node* const added = graph_.AddNode(rule.op, inputs, attrs, node.name);
      for (int k = 0; k < rule.num_states; ++k) values.emplace_back(&graph_, added, k);
    }
    EST_RETURN_IF_ERROR(graph_.status());
    const Branches::Context& conditions = plan_.branches->ConditionsOf(i);
    for (const auto& [condition, side] : conditions) {
      for (size_t k = 0; k < static_cast<size_t>(rule.num_states); ++k) {
        EST_ASSIGN_OR_RETURN(values[k], step_.SelectSide(condition, side, values[k], inputs[k], i));
      }
    }
    std::set<int> states;
    for (size_t k = 0; k < static_cast<size_t>(rule.num_states); ++k) {
      const int variable = plan_.order->VariableOf(node.inputs[k]);
      // An op that has a variable twice leaves the value of its first operand.
      if (states.insert(variable).second) versions_[variable].push_back(values[k]);
    }
    if (rule.op == "AssignAdd" && conditions.empty()) deltas_[i] = operands["value"];
    // A write has no value of its own: what reads its output reads the variable.
    step_.SetValues(i, {});
    return absl::OkStatus();
  }

  // A write that is never made. It still counts as one of the variable's.
  absl::Status KeepStates(int i, const WriteRule& rule) {
    std::set<int> states;
    for (size_t k = 0; k < static_cast<size_t>(rule.num_states); ++k) {
      const int variable = plan_.order->VariableOf(nodes_.node(i).inputs[k]);
      EST_ASSIGN_OR_RETURN(const Tensor value, Read(variable, i));
      if (states.insert(variable).second) versions_[variable].push_back(value);
    }
    return absl::OkStatus();
  }

  // REQUIRES: all nodes are built, because a Merge builds the nodes of its branches.
  absl::Status CheckAveraged() {
    if (!averages_gradients_) return absl::OkStatus();
    for (const int i : plan_.order->sorted()) {
      if (!plan_.Needs(i) || absent_.count(i) > 0) continue;
      for (const FlatTensor& input : nodes_.node(i).inputs) {
        // A variable is not a gradient, even if an averaged one was applied to it before.
        if (averaged_.count(input.node) > 0 && plan_.order->VariableOf(input) < 0)
          averaged_.insert(i);
      }
      if (averaged_.count(i) == 0) continue;
      // The result of a trip is an argument of the next one, which has no inputs.
      averaged_.insert(nodes_.node(i).loop);
      // A mean inside of the scope would be averaged again where it leaves it.
      if (!is_gradient_[static_cast<size_t>(i)]) continue;
      failed_node_ = i;
      return Unimplemented(
          nodes_.Where(i), " is a gradient of a gradient: with ", options_.num_shards,
          " replicas the place where gradients have to be averaged cannot be found");
    }
    if (!absent_.empty()) return absl::OkStatus();
    // Else such a variable would be trained with the gradient of one replica, unseen.
    std::vector<std::string> names;
    for (const auto& [node, variable] : variables_.all()) {
      for (const int write : plan_.order->Writes(node)) {
        if (variable.trainable() && averaged_.count(write) == 0) {
          names.push_back(absl::StrCat("'", variable.name(), "'"));
          break;
        }
      }
    }
    if (names.empty()) return absl::OkStatus();
    return Unimplemented("with ", options_.num_shards,
                         " replicas gradients are averaged where they leave a scope "
                         "`gradients`, but the updates of ",
                         JoinSome(names, 5),
                         " read nothing from such a scope; train on one replica");
  }

  // Assigns the last version of each variable, as TensorFlow leaves it after a step.
  void AssignVariables() {
    const std::vector<int> reached = nodes_.Reached(source_.update_ops, true);
    const std::set<int> of_update_ops(reached.begin(), reached.end());
    for (const auto& [node, variable] : variables_.all()) {
      const std::vector<int> parts = variables_.Parts(node);
      if (parts[0] != node) continue;  // the whole is assigned with its first part
      const bool changes = std::any_of(parts.begin(), parts.end(),
                                       [this](int part) { return !versions_[part].empty(); });
      if (!changes) continue;
      std::vector<int> writes;
      std::vector<Tensor> values;
      for (const int part : parts) {
        const std::vector<int>& of_part = plan_.order->Writes(part);
        writes.insert(writes.end(), of_part.begin(), of_part.end());
        const std::vector<Tensor>& versions = versions_[part];
        values.push_back(versions.empty() ? variables_.Value(part) : versions.back());
      }
      const auto delta = deltas_.find(writes[0]);
      const std::string name = nodes_.node(writes.back()).name;
      const Tensor value =
          parts.size() == 1 ? values[0]
                            : Concat(values, variables_.AxisOf(node), variable.name() + "/parts");
      // One AssignAdd stays one: the runtime and the exporter know counters by it.
      const bool counts = parts.size() == 1 && writes.size() == 1 && delta != deltas_.end();
      const Operation update = counts ? AssignAdd(variable, delta->second, name + "/AssignAdd")
                                      : Assign(variable, value, name + "/Assign");
      updates_.emplace(node, update);
      if (options_.training && std::all_of(writes.begin(), writes.end(), [&](int write) {
            return of_update_ops.count(write) > 0;
          }))
        graph_.update_ops().push_back(update);
    }
  }

  // The update of a metric is that of all variables that its update_op changes.
  absl::Status AddMetrics() {
    for (const SourceMetric& metric : source_.metrics) {
      ImportedMetric& made = result_.metrics[metric.name];
      EST_ASSIGN_OR_RETURN(made.value, Fetch(metric.value));
      const std::vector<int> reached = nodes_.Reached({metric.update}, true);
      const std::set<int> runs(reached.begin(), reached.end());
      std::vector<Operation> updates;
      for (const auto& [node, update] : updates_) {
        const std::vector<int>& writes = plan_.order->Writes(node);
        if (std::any_of(writes.begin(), writes.end(),
                        [&runs](int write) { return runs.count(write) > 0; }))
          updates.push_back(update);
      }
      made.update = Group(updates, absl::StrCat("metrics/", metric.name, "/update"));
    }
    return absl::OkStatus();
  }

  const ImportSource& source_;
  const FlatGraph& nodes_;
  const ImportPlan& plan_;
  const ImportTrainGraphOptions& options_;
  Graph& graph_;
  const bool averages_gradients_;
  VariableMaker variables_;
  NodeBuilder step_;
  std::map<int, std::vector<Tensor>> versions_;  // variable -> its value after each write
  std::map<int, Tensor> deltas_;                 // of AssignAdd
  std::map<int, Operation> updates_;             // of the variables that change
  std::vector<bool> is_gradient_;                // by node
  std::set<int> averaged_;  // nodes that depend on a gradient averaged over the replicas
  std::map<FlatTensor, Tensor> averages_;
  std::set<int> absent_;  // nodes that are left out
  int failed_node_ = -1;
  ImportedTrainGraph result_;
};

}  // namespace

absl::StatusOr<ImportedTrainGraph> BuildTrainGraph(const ImportSource& source,
                                                   const ImportPlan& plan,
                                                   const ImportTrainGraphOptions& options,
                                                   const std::map<std::string, FlatTensor>& fetches,
                                                   Graph& graph, const std::set<int>& leave_out,
                                                   int* failed_node) {
  TrainImporter importer(source, plan, options, graph, leave_out);
  absl::StatusOr<ImportedTrainGraph> imported = importer.Run(fetches);
  if (failed_node != nullptr) *failed_node = importer.failed_node();
  return imported;
}

}  // namespace estimator
