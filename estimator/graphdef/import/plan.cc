#include "estimator/graphdef/import/plan.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/graphdef/import/obstacles.h"
#include "estimator/graphdef/import/op_kinds.h"
#include "estimator/graphdef/import/op_support.h"
#include "estimator/graphdef/import/partitioned.h"
#include "estimator/graphdef/import/write_rules.h"
#include "estimator/graphdef/node_attr.h"

namespace estimator {
namespace {

class Planner {
 public:
  Planner(const ImportSource& source, const PlanOptions& options)
      : source_(source), nodes_(*source.nodes), options_(options) {}

  absl::StatusOr<ImportPlan> Run() {
    std::vector<int> roots;
    if (options_.training) roots = source_.train_ops;
    for (const FlatTensor& fetch : options_.fetches) AddRoot(fetch, roots);
    if (options_.with_metrics) {
      for (const SourceMetric& metric : source_.metrics) {
        roots.push_back(metric.update);
        AddRoot(metric.value, roots);
      }
    }
    const bool controls = !options_.values_only;
    run_ = nodes_.Reached(roots, controls);
    std::sort(run_.begin(), run_.end());
    if (Writes()) {
      for (const int i : run_)
        if (FindWriteRule(nodes_.op(i)) != nullptr) plan_.writes.push_back(i);
    }
    if (options_.training) ChooseSummaries();
    CheckRoots(roots);
    CheckOps();
    // Before Sorted, which fails at the first loop: the table names loops together with all other
    // obstacles.
    if (!obstacles_.empty()) return Finished();
    for (const SourceSummary& summary : plan_.summaries) AddRoot(summary.value, roots);
    EST_ASSIGN_OR_RETURN(std::vector<int> sorted, nodes_.Sorted(roots, controls));
    EST_ASSIGN_OR_RETURN(plan_.branches, Branches::Create(nodes_, sorted));
    // So that the Merges of one If come one after the other, and what all of them need before.
    std::stable_sort(sorted.begin(), sorted.end(), [this](int a, int b) {
      return plan_.branches->StageOf(a) < plan_.branches->StageOf(b);
    });
    EST_ASSIGN_OR_RETURN(plan_.order, VariableOrder::Create(nodes_, std::move(sorted)));
    LeaveOutConditionalSummaries();
    // Again, because the predicates of Merges are known only now.
    Need(/*predicates=*/true, /*summaries=*/false);
    plan_.essential = plan_.needed;
    Need(/*predicates=*/true);
    CheckNeeded();
    plan_.unique_rows = FindUniqueRows(nodes_, *plan_.order, plan_.needed);
    const std::vector<FlatTensor> results = Results(/*summaries=*/true);
    plan_.where_rows = FindWhereRows(nodes_, plan_.order->sorted(), plan_.needed, results);
    plan_.branch_rows =
        FindBranchRows(nodes_, *plan_.branches, plan_.order->sorted(), plan_.needed, results);
    plan_.bodies = FindBranchBodies(nodes_, *plan_.branches, *plan_.order, plan_.needed, results,
                                    options_.average_gradients);
    for (const auto* problems : {&plan_.unique_rows.problems, &plan_.where_rows.problems})
      for (const auto& [node, problem] : *problems) obstacles_.Add(nodes_.node(node), problem);
    if (options_.training) {
      std::vector<std::string> undefined = plan_.order->Undefined(plan_.needed);
      plan_.warnings.insert(plan_.warnings.end(), undefined.begin(), undefined.end());
    }
    return Finished();
  }

 private:
  void AddRoot(FlatTensor at, std::vector<int>& roots) const {
    if (!nodes_.IsGiven(at)) roots.push_back(at.node);
  }

  // A loop builds its own nodes, which the graph does not have then.
  void CheckRoots(const std::vector<int>& roots) {
    for (const int i : roots) {
      if (nodes_.node(i).loop >= 0)
        obstacles_.Add(nodes_.node(i),
                       "is inside of a loop, and only its results can be asked for");
    }
  }

  // Whether the import has updates: a training step, or metrics.
  bool Writes() const { return options_.training || options_.with_metrics; }

  ImportPlan Finished() {
    plan_.obstacles = obstacles_.list();
    return std::move(plan_);
  }

  void ChooseSummaries() {
    for (const SourceSummary& summary : source_.summaries) {
      std::optional<std::string> problem;
      std::vector<int> roots;
      AddRoot(summary.value, roots);
      if (!roots.empty() && nodes_.node(roots[0]).loop >= 0) {
        WarnOfSummary(summary, roots[0], "which is inside of a loop");
        continue;
      }
      for (const int i : nodes_.Reached(roots, false)) {
        if (FindWriteRule(nodes_.op(i)) != nullptr &&
            !std::binary_search(run_.begin(), run_.end(), i)) {
          // TensorFlow runs such an update only in steps that write summaries.
          problem = "an update that train_op does not run";
        }
        if (!problem.has_value()) problem = Problem(nodes_.node(i));
        const auto unbuildable = options_.unbuildable.find(i);
        if (unbuildable != options_.unbuildable.end()) problem = unbuildable->second;
        if (!problem.has_value()) continue;
        WarnOfSummary(summary, i, *problem);
        break;
      }
      if (!problem.has_value()) plan_.summaries.push_back(summary);
    }
  }

  // Whether each condition of a node has the same value in each step: is_training is fed, or a
  // constant. The node then runs in each step, or its value is never selected.
  bool HasFixedConditions(int i) const {
    const Branches::Context& conditions = plan_.branches->ConditionsOf(i);
    return std::all_of(conditions.begin(), conditions.end(), [this](const auto& condition) {
      return IsFixed(plan_.branches->SelectorOf(condition.first));
    });
  }

  bool IsFixed(FlatTensor at) const {
    constexpr int kMaxNodes = 10;  // logical_not, or the default of a Keras learning phase
    for (int k = 0; k < kMaxNodes; ++k) {
      const FlatNode& node = nodes_.node(at.node);
      if (source_.feeds.count(at) > 0 || node.op == "Const") return true;
      if (!IsOneOf(node.op, {"Identity", "LogicalNot", "PlaceholderWithDefault"}) ||
          nodes_.IsGiven(at) || node.inputs.empty())
        return false;
      at = node.inputs[0];
    }
    return false;
  }

  // The reason why a node cannot be imported because of a tf.cond.
  std::optional<std::string> ConditionProblem(int i) const {
    const FlatNode& node = nodes_.node(i);
    const bool writes = FindWriteRule(node.op) != nullptr;
    if (writes && node.loop >= 0) return "an update inside a loop";
    if (IsSwitchOp(node.op) && node.inputs.size() != 2) return "takes 2 inputs";
    return std::nullopt;
  }

  // A summary is not needed to train, so what it alone reads is no obstacle.
  void LeaveOutConditionalSummaries() {
    const auto conditional = [this](const SourceSummary& summary) {
      std::vector<int> roots;
      AddRoot(summary.value, roots);
      for (const int i : nodes_.Reached(roots, false)) {
        const std::optional<std::string> problem = ConditionProblem(i);
        if (!problem.has_value()) continue;
        WarnOfSummary(summary, i, *problem);
        return true;
      }
      return false;
    };
    std::erase_if(plan_.summaries, conditional);
  }

  void WarnOfSummary(const SourceSummary& summary, int node, const std::string& problem) {
    plan_.warnings.push_back(absl::StrCat("The summary '", summary.tag, "' is left out: it needs ",
                                          nodes_.Where(node), ", ", problem));
  }

  // What is read from outside of the graph.
  std::vector<FlatTensor> Results(bool summaries) const {
    std::vector<FlatTensor> results = options_.fetches;
    if (summaries)
      for (const SourceSummary& summary : plan_.summaries) results.push_back(summary.value);
    if (options_.with_metrics)
      for (const SourceMetric& metric : source_.metrics) results.push_back(metric.value);
    return results;
  }

  // Marks what the results and the writes need through data.
  void Need(bool predicates, bool summaries = true) {
    plan_.needed.assign(static_cast<size_t>(nodes_.size()), false);
    std::vector<int> pending = plan_.writes;
    for (const FlatTensor& result : Results(summaries)) AddRoot(result, pending);
    while (!pending.empty()) {
      const int i = pending.back();
      pending.pop_back();
      if (plan_.Needs(i)) continue;
      plan_.needed[static_cast<size_t>(i)] = true;
      for (const FlatTensor& input : nodes_.node(i).inputs) AddRoot(input, pending);
      if (!predicates) continue;
      // A condition is no input of its Merge, which needs its value here to select.
      if (const Branches::Choice* const choice = plan_.branches->ChoiceOf(i))
        AddRoot(plan_.branches->SelectorOf(choice->condition), pending);
      // An update inside of a condition selects between the old and the new value.
      if (FindWriteRule(nodes_.op(i)) == nullptr) continue;
      for (const auto& [predicate, side] : plan_.branches->ConditionsOf(i))
        AddRoot(plan_.branches->SelectorOf(predicate), pending);
    }
  }

  // The reason why a node whose value is needed cannot be imported.
  std::optional<std::string> Problem(const FlatNode& node) const {
    if (IsInputOp(node.op)) {
      return options_.values_only ? "not fed" : "not in TrainGraphOptions::inputs (--placeholders)";
    }
    const bool is_feature = node.parsed_feature != nullptr;
    if (!options_.values_only && (is_feature || IsParseExampleOp(node.op)))
      return "parses Examples";
    if (is_feature) return std::nullopt;
    if (options_.values_only && FindWriteRule(node.op) != nullptr) return "changes a variable";
    return NodeProblem(node);
  }

  void CheckOps() {
    Need(/*predicates=*/false);
    for (int i = 0; i < nodes_.size(); ++i) {
      if (!plan_.Needs(i)) continue;
      const FlatNode& node = nodes_.node(i);
      if (std::optional<std::string> problem = Problem(node))
        obstacles_.Add(node, *std::move(problem));
    }
    for (const FlatTensor& used : UsedTensors(source_, plan_, options_.fetches)) {
      const FlatNode& node = nodes_.node(used.node);
      if (!IsParseExampleOp(node.op) || nodes_.IsGiven(used)) continue;
      if (std::optional<std::string> problem = ParsedOutputProblem(*node.def, used.output))
        obstacles_.Add(node, *std::move(problem));
    }
    if (!Writes()) return;
    // TensorFlow would also run these. What only reports is left out; the rest would be missed.
    const char* const runner = options_.training ? "train_op" : "a metric";
    std::set<int> ordered, read;
    for (const int i : run_) {
      const FlatNode& node = nodes_.node(i);
      for (const FlatTensor& input : node.inputs) read.insert(input.node);
      // A call runs after every node of its body, whether these have effects or not.
      if (IsOneOf(node.op, {kCallOp, kSelectBranchOp, kLoopOp})) continue;
      ordered.insert(node.controls.begin(), node.controls.end());
    }
    for (const int i : run_) {
      const FlatNode& node = nodes_.node(i);
      if (plan_.Needs(i) || IsReportOp(node.op)) continue;
      const std::optional<std::string> problem = NodeProblem(node);
      if (!problem.has_value()) continue;
      // An op that is run for its effect is a control input or has no reader. Else only an Assert,
      // or something else that is left out, reads the value.
      if (read.count(i) > 0 && ordered.count(i) == 0 && !MayHaveEffects(node.op)) continue;
      obstacles_.Add(node, absl::StrCat(*problem, " (", runner, " runs it)"));
    }
  }

  void CheckNeeded() {
    for (const int i : plan_.order->sorted()) {
      if (!plan_.Needs(i)) continue;
      const FlatNode& node = nodes_.node(i);
      const absl::string_view op = node.op;
      const WriteRule* const write = FindWriteRule(op);
      const std::optional<std::string> problem = ConditionProblem(i);
      if (problem.has_value()) obstacles_.Add(node, *problem);
      if (options_.training && IsRandomOp(op) && !HasFixedConditions(i)) {
        plan_.warnings.push_back(
            absl::StrCat(nodes_.Where(i),
                         " draws random numbers inside tf.cond: they are those of "
                         "TensorFlow as long as the branch runs in every step, and others later"));
      }
      if (write != nullptr) {
        CheckWrite(node, *write);
      } else if (!problem.has_value()) {
        CheckHandles(node);
      }
      // The graphs of evaluation and prediction are as their model wants them.
      if (options_.training || source_.info.role != TrainGraphRole::kTrain) continue;
      if (IsRandomOp(op)) {
        obstacles_.Add(node, "random numbers (dropout): the graph is fixed to training");
      } else if (absl::StartsWith(op, "FusedBatchNorm")) {
        const proto::AttrValue* const training = FindAttr(*node.def, "is_training");
        if (training == nullptr || training->b())
          obstacles_.Add(node, "batch normalization: the graph is fixed to training");
      }
    }
    for (const SourceVariable& variable : source_.variables) {
      if (variable.whole.empty() || !plan_.Needs(variable.node)) continue;
      const std::string problem = PartProblem(source_.variables, variable);
      if (!problem.empty()) obstacles_.Add(nodes_.node(variable.node), problem);
    }
  }

  void CheckWrite(const FlatNode& node, const WriteRule& rule) {
    const size_t count =
        static_cast<size_t>(std::count(rule.operands.begin(), rule.operands.end(), ' ')) + 1;
    if (node.inputs.size() != count) {
      obstacles_.Add(node, absl::StrCat("takes ", count, " inputs"));
      return;
    }
    for (size_t k = 0; k < static_cast<size_t>(rule.num_states); ++k) {
      if (plan_.order->VariableOf(node.inputs[k]) < 0)
        obstacles_.Add(node, "changes something that is not a variable of the graph");
    }
  }

  // A handle may only go to ops that read it.
  void CheckHandles(const FlatNode& node) {
    const absl::string_view op = node.op;
    if (PassesReference(op) || ReadsHandle(op) || IsSwitchOp(op) || IsMergeOp(op) ||
        op == kSelectBranchOp || op == kLoopOp)
      return;
    for (const FlatTensor& input : node.inputs) {
      const int variable = plan_.order->VariableOf(input);
      if (variable < 0 || nodes_.op(variable) != "VarHandleOp") continue;
      obstacles_.Add(node, "takes the handle of a variable");
      return;
    }
  }

  const ImportSource& source_;
  const FlatGraph& nodes_;
  const PlanOptions& options_;
  std::vector<int> run_;  // the nodes that a step runs, sorted
  Obstacles obstacles_;
  ImportPlan plan_;
};

}  // namespace

absl::StatusOr<ImportPlan> MakeImportPlan(const ImportSource& source, const PlanOptions& options) {
  return Planner(source, options).Run();
}

std::set<FlatTensor> UsedTensors(const ImportSource& source, const ImportPlan& plan,
                                 const std::vector<FlatTensor>& fetches) {
  std::set<FlatTensor> used(fetches.begin(), fetches.end());
  for (const SourceSummary& summary : plan.summaries) used.insert(summary.value);
  for (int i = 0; i < source.nodes->size(); ++i) {
    if (static_cast<size_t>(i) >= plan.needed.size() || !plan.Needs(i)) continue;
    const std::vector<FlatTensor>& inputs = source.nodes->node(i).inputs;
    used.insert(inputs.begin(), inputs.end());
  }
  return used;
}

}  // namespace estimator
