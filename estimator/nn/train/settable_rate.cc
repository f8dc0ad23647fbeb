#include "estimator/nn/train/settable_rate.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "estimator/base/status.h"
#include "estimator/nn/initializers.h"
#include "estimator/nn/train/slot_creator.h"
#include "estimator/op_def/op_def.h"
#include "estimator/ops/comparison.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/select.h"

namespace estimator::train {
namespace {

// The rates of TensorFlow's update ops, as ApplyMomentum: its operand `lr`.
std::vector<Tensor> RatesOfUpdates(const Graph& graph) {
  std::vector<Tensor> rates;
  for (const auto& node : graph.nodes()) {
    const OpDef* const def = FindOpDef(node->op());
    if (def == nullptr || !absl::StartsWith(node->op(), "Apply")) continue;
    const std::vector<absl::string_view> operands = def->inputs();
    for (int i = 0; i < node->num_inputs(); ++i) {
      const absl::string_view operand = operands[static_cast<size_t>(i)];
      if (operand == "lr" || operand == "alpha") rates.push_back(node->input(i));
    }
  }
  return rates;
}

}  // namespace

std::vector<Tensor> LearningRates(Graph& graph) {
  std::vector<Tensor>& known = graph.learning_rates();
  // It is kept, because MakeLearningRateSettable changes the operands.
  if (known.empty()) known = RatesOfUpdates(graph);
  std::set<Tensor> read;
  for (const auto& node : graph.nodes()) read.insert(node->inputs().begin(), node->inputs().end());
  std::vector<Tensor> rates;
  for (const Tensor& rate : known) {
    // An optimizer may have a rate that its rule does not use.
    if (rate.valid() && rate.spec() == TensorSpec{DType::kFloat32, {}} && read.count(rate) > 0 &&
        std::find(rates.begin(), rates.end(), rate) == rates.end())
      rates.push_back(rate);
  }
  return rates;
}

absl::Status MakeLearningRateSettable(Graph& graph) {
  EST_RETURN_IF_ERROR(graph.status());
  if (graph.FindVariable(kSetLearningRate).has_value()) return absl::OkStatus();
  const std::vector<Tensor> rates = LearningRates(graph);
  if (rates.empty()) {
    return FailedPrecondition(
        "train_op has no learning rate that can be set: none of its updates is that of an "
        "optimizer with a rate in f32; use one of train::, or an Optimizer of your own whose "
        "ApplyDense calls Rate(variable)");
  }
  const GraphScope graph_scope(graph);
  const Tensor set =
      CreateAbsoluteVariable(kSetLearningRate, {}, DType::kFloat32,
                             initializers::Constant(static_cast<double>(kNoLearningRateSet)));
  const NameScope scope(kSetLearningRate, graph);
  const Tensor is_set = GreaterEqual(set, 0);
  Tensor largest = rates[0];
  for (size_t i = 1; i < rates.size(); ++i) largest = Maximum(largest, rates[i]);
  std::vector<std::pair<Tensor, Tensor>> replacements;
  for (const Tensor& rate : rates) {
    // At the first step of a warm-up, all may be 0.
    const Tensor value =
        rates.size() == 1 ? set : set * Where(Greater(largest, 0), rate / largest, 1);
    replacements.emplace_back(rate, Where(is_set, value, rate, "learning_rate"));
  }
  EST_RETURN_IF_ERROR(graph.status());
  graph.ReplaceInputs(replacements);
  // A summary of the rate shows the one that is used.
  for (SummaryRequest& summary : graph.summaries()) {
    for (const auto& [from, to] : replacements)
      if (summary.value == from) summary.value = to;
  }
  return absl::OkStatus();
}

}  // namespace estimator::train
