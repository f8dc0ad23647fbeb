#include "tpu/rules/spec_rules.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "estimator/graph/needed_nodes.h"
#include "estimator/graph/placeholder_dependency.h"
#include "estimator/nn/cross_shard.h"
#include "estimator/op_def/update_def.h"

namespace estimator::tpu {
namespace {

constexpr int64_t kMaxPredictionBytes = int64_t{1} << 30;

void CheckUpdates(const CheckedModel& model, Report& report) {
  if (const absl::Status status =
          CheckGradientsAreSummed(model.graph, model.num_replicas, {model.spec.train_op});
      !status.ok()) {
    report.Add("no-cross-replica-sum", model.Where(model.spec.train_op.name()),
               std::string(status.message()),
               "build train_op with tpu::CrossShardOptimizer(optimizer).Minimize(loss)");
  }
  const std::optional<Variable> global_step = model.graph.GlobalStep();
  if (!global_step.has_value()) return;
  std::vector<std::string> updates;
  for (const Node* assign : CollectAssigns({model.spec.train_op})) {
    if (assign->input(0).node() == global_step->node()) updates.push_back(assign->name());
  }
  // The loop on a TPU counts its steps by global_step, so a program without the update never ends.
  if (updates.empty()) {
    report.Add("global-step-unused", model.Where(model.spec.train_op.name()),
               "train_op has no update of global_step",
               "use Minimize, which increments it, or Group train_op with "
               "AssignAdd(GetOrCreateGlobalStep(), ...)");
  } else if (updates.size() > 1) {
    report.Add("global-step-twice", model.Where(updates[0]),
               absl::StrCat(updates.size(), " updates of global_step are in train_op: ",
                            absl::StrJoin(updates, ", ")),
               "set .increment_global_step = false for all optimizers but one");
  }
}

void CheckOutfeed(const CheckedModel& model, absl::string_view what,
                  const std::vector<Tensor>& tensors, Report& report) {
  for (const Tensor& tensor : tensors) {
    // The values of the replicas are joined on axis 0, which a scalar does not have.
    if (!tensor.valid() || tensor.rank() > 0 || model.broadcast) continue;
    report.Add("outfeed-rank", model.Where(tensor.name()),
               absl::StrCat("a tensor of ", what, " is the scalar ", tensor.spec().ToString()),
               "reshape it to [1] in model_fn: Reshape(tensor, {1})");
  }
}

// The operand of an optimizer's op that is its learning rate; -1 for another op.
int RateOperand(const Node& node) {
  const UpdateDef* const def = FindUpdateOp(node.op());
  if (def == nullptr) return -1;
  const int lr = def->Find("lr");
  // The rules of gradient descent call it `alpha`.
  return lr >= 0 ? lr : def->Find("alpha");
}

}  // namespace

void CheckPredictions(const CheckedModel& model, Report& report) {
  int64_t bytes = 0;
  std::string largest;
  int64_t largest_bytes = -1;
  for (const auto& [name, tensor] : model.spec.predictions) {
    if (!tensor.valid()) continue;
    const auto of_this = static_cast<int64_t>(tensor.spec().num_bytes());
    bytes += of_this;
    if (of_this > largest_bytes) {
      largest_bytes = of_this;
      largest = absl::StrCat("'", name, "' ", tensor.spec().ToString());
    }
    if (tensor.rank() == 0 || (model.rows > 0 && tensor.shape().dim(0) != model.rows)) {
      report.Add("prediction-rows", model.Where(tensor.name()),
                 absl::StrCat("the prediction '", name, "' is ", tensor.spec().ToString(),
                              ", and the batch of a core has ", model.rows, " rows"),
                 "return one row for each example, or write other values in host_call");
    }
  }
  if (bytes < kMaxPredictionBytes) return;
  report.Add("predictions-too-large", model.Where(largest),
             absl::StrFormat("the predictions of a core's batch take %.2f GiB, the largest is %s",
                             static_cast<double>(bytes) / static_cast<double>(kMaxPredictionBytes),
                             largest),
             "use a smaller predict_batch_size, or reduce the predictions in model_fn, for example "
             "with ArgMax or TopK");
}

void CheckSpecRules(const CheckedModel& model, Report& report) {
  const ModelSpec& spec = model.spec;
  if (spec.host_call.has_value()) CheckOutfeed(model, "host_call", spec.host_call->tensors, report);
  if (model.mode == Mode::kPredict) CheckPredictions(model, report);
  if (model.mode == Mode::kEval && spec.eval_metrics.has_value())
    CheckOutfeed(model, "eval_metrics", spec.eval_metrics->tensors, report);
  if (model.mode == Mode::kTrain && spec.train_op.valid()) CheckUpdates(model, report);
}

Scaffold CallScaffoldFn(const CheckedModel& model, const std::function<Scaffold()>& scaffold_fn,
                        Report& report) {
  const size_t num_nodes = model.graph.nodes().size();
  Scaffold scaffold = scaffold_fn();
  for (size_t i = num_nodes; i < model.graph.nodes().size(); ++i) {
    const Node& node = *model.graph.nodes()[i];
    for (const Tensor& input : node.inputs()) {
      // Variables and constants exist on the host too. Only values of the batch do not.
      if (!input.valid() || static_cast<size_t>(input.node()->id()) >= num_nodes ||
          FindPlaceholder(input) == nullptr) {
        continue;
      }
      report.Add(
          "scaffold-tensor", model.Where(NameOf(node)),
          absl::StrCat("scaffold_fn builds it on ", input.name(), ", which is computed on a core"),
          "use only variables and constants in scaffold_fn, and build the op in model_fn");
    }
  }
  return scaffold;
}

std::vector<double> LearningRateConstants(const Graph& graph) {
  std::vector<Tensor> rates;
  for (const auto& node : graph.nodes()) {
    const int operand = RateOperand(*node);
    if (operand >= 0) rates.push_back(node->input(operand));
  }
  std::vector<double> constants;
  if (rates.empty()) return constants;
  // A schedule computes the rate from constants, so all constants below a rate are compared.
  for (const Node* node : NeededNodes(graph, rates)) {
    if (node->op() != "Const" || !IsFloating(node->outputs()[0].dtype)) continue;
    const auto& value = node->attrs().get<Array>("value");
    for (int64_t i = 0; i < value.num_elements(); ++i) constants.push_back(value.AsDouble(i));
  }
  return constants;
}

}  // namespace estimator::tpu
