#include "estimator/graphdef/train/plan.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/graphdef/import_check.h"
#include "estimator/graphdef/train/rules.h"
#include "estimator/proto/graph.pb.h"

namespace estimator {

void TrainObstacles::Add(const TrainNodes& nodes, int node, std::string reason) {
  const std::string& op = nodes.op(node);
  TrainGraphObstacle& entry = entries_[{op, reason}];
  if (entry.count++ > 0) return;
  entry.name = nodes.node(node).name;
  entry.op = op;
  entry.reason = std::move(reason);
}

std::vector<TrainGraphObstacle> TrainObstacles::list() const {
  std::vector<TrainGraphObstacle> all;
  for (const auto& [key, entry] : entries_) all.push_back(entry);
  return all;
}

namespace {

class Planner {
 public:
  Planner(const TrainSource& source, const PlanOptions& options)
      : source_(source), nodes_(*source.nodes), options_(options) {}

  absl::StatusOr<TrainPlan> Run() {
    std::vector<int> roots;
    if (options_.training) roots.push_back(source_.train_op);
    for (const FlatTensor& fetch : options_.fetches) roots.push_back(fetch.node);
    if (options_.with_metrics) {
      for (const SourceMetric& metric : source_.metrics) {
        roots.push_back(metric.update);
        roots.push_back(metric.value.node);
      }
    }
    run_ = nodes_.Reached(roots, true);
    std::sort(run_.begin(), run_.end());
    if (Writes()) {
      for (const int i : run_)
        if (FindWriteRule(nodes_.op(i)) != nullptr) plan_.writes.push_back(i);
    }
    if (options_.training) ChooseSummaries();
    CheckOps();
    if (!obstacles_.empty()) return Finished();
    for (const SourceSummary& summary : plan_.summaries) roots.push_back(summary.value.node);
    EST_ASSIGN_OR_RETURN(std::vector<int> sorted, nodes_.Sorted(roots, true));
    EST_ASSIGN_OR_RETURN(plan_.branches, TrainBranches::Create(nodes_, sorted));
    EST_ASSIGN_OR_RETURN(plan_.order, TrainOrder::Create(nodes_, std::move(sorted)));
    Need(/*predicates=*/true);
    CheckNeeded();
    plan_.unique_rows = FindUniqueRows(nodes_, *plan_.order, plan_.needed);
    for (const auto& [node, problem] : plan_.unique_rows.problems)
      obstacles_.Add(nodes_, node, problem);
    if (options_.training) {
      CheckGlobalStep();
      std::vector<std::string> undefined = plan_.order->Undefined(plan_.needed);
      plan_.warnings.insert(plan_.warnings.end(), undefined.begin(), undefined.end());
    }
    return Finished();
  }

 private:
  // Whether the import has updates: a training step, or metrics.
  bool Writes() const { return options_.training || options_.with_metrics; }

  TrainPlan Finished() {
    plan_.obstacles = obstacles_.list();
    return std::move(plan_);
  }

  void ChooseSummaries() {
    for (const SourceSummary& summary : source_.summaries) {
      std::optional<std::string> problem;
      for (const int i : nodes_.Reached({summary.value.node}, false)) {
        if (FindWriteRule(nodes_.op(i)) != nullptr &&
            !std::binary_search(run_.begin(), run_.end(), i)) {
          problem = "an update that train_op does not run";
        }
        if (!problem.has_value()) problem = TrainProblem(*nodes_.node(i).def);
        if (!problem.has_value()) continue;
        plan_.warnings.push_back(absl::StrCat("The summary '", summary.tag,
                                              "' is left out: it needs ", nodes_.Where(i), ", ",
                                              *problem));
        break;
      }
      if (!problem.has_value()) plan_.summaries.push_back(summary);
    }
  }

  // Marks what the roots need through data.
  void Need(bool predicates) {
    plan_.needed.assign(static_cast<size_t>(nodes_.size()), false);
    std::vector<int> pending = plan_.writes;
    for (const FlatTensor& fetch : options_.fetches) pending.push_back(fetch.node);
    for (const SourceSummary& summary : plan_.summaries) pending.push_back(summary.value.node);
    if (options_.with_metrics)
      for (const SourceMetric& metric : source_.metrics) pending.push_back(metric.value.node);
    while (!pending.empty()) {
      const int i = pending.back();
      pending.pop_back();
      if (plan_.needed[static_cast<size_t>(i)]) continue;
      plan_.needed[static_cast<size_t>(i)] = true;
      for (const FlatTensor& input : nodes_.node(i).inputs) pending.push_back(input.node);
      if (!predicates) continue;
      if (const TrainBranches::Choice* const choice = plan_.branches->ChoiceOf(i))
        pending.push_back(choice->predicate.node);
    }
  }

  void CheckOps() {
    Need(/*predicates=*/false);
    std::set<int> inputs;
    for (const FlatTensor& input : source_.inputs) inputs.insert(input.node);
    for (int i = 0; i < nodes_.size(); ++i) {
      if (!plan_.needed[static_cast<size_t>(i)] || inputs.count(i) > 0) continue;
      if (std::optional<std::string> problem = TrainProblem(*nodes_.node(i).def)) {
        obstacles_.Add(nodes_, i, *std::move(problem));
      } else if (IsTrainInputOp(nodes_.op(i))) {
        obstacles_.Add(nodes_, i, "not in TrainGraphOptions::inputs (--placeholders)");
      }
    }
    if (!Writes()) return;
    const char* const runner = options_.training ? "train_op" : "a metric";
    for (const int i : run_) {
      const std::string& op = nodes_.op(i);
      if (plan_.needed[static_cast<size_t>(i)] || IsReportOp(op) || inputs.count(i) > 0) continue;
      if (std::optional<std::string> problem = TrainProblem(*nodes_.node(i).def))
        obstacles_.Add(nodes_, i, absl::StrCat(*problem, " (", runner, " runs it)"));
    }
  }

  void CheckNeeded() {
    for (const int i : plan_.order->sorted()) {
      if (!plan_.needed[static_cast<size_t>(i)]) continue;
      const std::string& op = nodes_.op(i);
      const TrainNode& node = nodes_.node(i);
      const WriteRule* const write = FindWriteRule(op);
      const bool conditional = plan_.branches->IsConditional(i);
      if (write != nullptr) {
        if (conditional) obstacles_.Add(nodes_, i, "an update inside tf.cond");
        CheckWrite(i, *write);
      } else if (conditional && IsRandomOp(op)) {
        obstacles_.Add(nodes_, i, "draws random numbers inside tf.cond");
      } else if ((op == "Merge" || op == "RefMerge") && plan_.branches->ChoiceOf(i) == nullptr) {
        obstacles_.Add(nodes_, i, "not of one tf.cond");
      } else if ((op == "Switch" || op == "RefSwitch") && node.inputs.size() != 2) {
        obstacles_.Add(nodes_, i, "takes 2 inputs");
      } else {
        CheckHandles(i);
      }
      // The graphs of evaluation and prediction are as their model wants them.
      if (options_.training || source_.info.role != TrainGraphRole::kTrain) continue;
      if (IsRandomOp(op)) {
        obstacles_.Add(nodes_, i, "random numbers (dropout): the graph is fixed to training");
      } else if (absl::StartsWith(op, "FusedBatchNorm")) {
        const auto training = node.def->attr().find("is_training");
        if (training == node.def->attr().end() || training->second.b())
          obstacles_.Add(nodes_, i, "batch normalization: the graph is fixed to training");
      }
    }
    for (const SourceVariable& variable : source_.variables) {
      if (variable.is_part && plan_.needed[static_cast<size_t>(variable.node)])
        obstacles_.Add(nodes_, variable.node, "a part of a partitioned variable");
    }
  }

  void CheckWrite(int i, const WriteRule& rule) {
    const TrainNode& node = nodes_.node(i);
    const size_t count =
        static_cast<size_t>(std::count(rule.operands.begin(), rule.operands.end(), ' ')) + 1;
    if (node.inputs.size() != count) {
      obstacles_.Add(nodes_, i, absl::StrCat("takes ", count, " inputs"));
      return;
    }
    for (size_t k = 0; k < static_cast<size_t>(rule.num_states); ++k) {
      if (plan_.order->VariableOf(node.inputs[k]) < 0)
        obstacles_.Add(nodes_, i, "changes something that is not a variable of the graph");
    }
  }

  // A handle may only go to ops that read it.
  void CheckHandles(int i) {
    const std::string& op = nodes_.op(i);
    if (PassesReference(op) || ReadsHandle(op) || op == "Switch" || op == "RefSwitch" ||
        op == "Merge" || op == "RefMerge" || op == kSelectBranchOp)
      return;
    for (const FlatTensor& input : nodes_.node(i).inputs) {
      const int variable = plan_.order->VariableOf(input);
      if (variable < 0 || nodes_.op(variable) != "VarHandleOp") continue;
      obstacles_.Add(nodes_, i, "takes the handle of a variable");
      return;
    }
  }

  // Without its update training would never end.
  void CheckGlobalStep() {
    const int step = nodes_.FindNode("global_step");
    if (step < 0 || plan_.order->Writes(step).empty())
      obstacles_.Add(nodes_, source_.train_op, "does not update the variable 'global_step'");
  }

  const TrainSource& source_;
  const TrainNodes& nodes_;
  const PlanOptions& options_;
  std::vector<int> run_;  // the nodes that a step runs, sorted
  TrainObstacles obstacles_;
  TrainPlan plan_;
};

}  // namespace

absl::StatusOr<TrainPlan> MakeTrainPlan(const TrainSource& source, const PlanOptions& options) {
  return Planner(source, options).Run();
}

absl::Status ObstacleError(const std::vector<TrainGraphObstacle>& obstacles) {
  if (obstacles.empty()) return absl::OkStatus();
  int count = 0;
  for (const TrainGraphObstacle& obstacle : obstacles) count += obstacle.count;
  return absl::UnimplementedError(
      absl::StrCat("the training graph has ", count, " ", count == 1 ? "node" : "nodes",
                   " that cannot be imported:\n", ObstacleTable(obstacles)));
}

// The tensors that the needed nodes, the fetches and the summaries read.
std::set<FlatTensor> UsedTensors(const TrainSource& source, const TrainPlan& plan,
                                 const std::vector<FlatTensor>& fetches) {
  std::set<FlatTensor> used(fetches.begin(), fetches.end());
  for (const SourceSummary& summary : plan.summaries) used.insert(summary.value);
  for (int i = 0; i < source.nodes->size(); ++i) {
    if (static_cast<size_t>(i) >= plan.needed.size() || !plan.needed[static_cast<size_t>(i)])
      continue;
    const std::vector<FlatTensor>& inputs = source.nodes->node(i).inputs;
    used.insert(inputs.begin(), inputs.end());
  }
  return used;
}

}  // namespace estimator
