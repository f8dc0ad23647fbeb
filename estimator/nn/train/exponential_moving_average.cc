#include "estimator/nn/train/exponential_moving_average.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/nn/moving_average.h"
#include "estimator/nn/train/slot_creator.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/shape_ops.h"

namespace estimator::train {

ExponentialMovingAverage::ExponentialMovingAverage(double decay,
                                                   ExponentialMovingAverageOptions options)
    : decay_(decay), options_(std::move(options)) {}

std::string ExponentialMovingAverage::AverageName(const Variable& variable) const {
  const auto found = averages_.find(variable.name());
  return found != averages_.end() ? found->second
                                  : absl::StrCat(variable.name(), "/", options_.name);
}

Variable ExponentialMovingAverage::Average(const Variable& variable) const {
  const auto found = averages_.find(variable.name());
  if (found == averages_.end() || variable.graph() == nullptr) return Variable();
  return variable.graph()->FindVariable(found->second).value_or(Variable());
}

namespace {

// If num_updates is a variable, returns its value after `done`, as in TensorFlow under
// control_dependencies([done]): global_step then counts the step that is being averaged. Any other
// tensor is returned unchanged.
Tensor AfterStep(const Operation& done, const Tensor& num_updates) {
  for (const Variable& variable : Graph::Current().variables()) {
    if (variable.read() == num_updates) return UpdatedValue(done, variable);
  }
  return num_updates;
}

}  // namespace

Operation ExponentialMovingAverage::Apply(const std::vector<Variable>& variables,
                                          const Operation& after) {
  Graph& graph = Graph::Current();
  const std::vector<Variable> chosen = variables.empty() ? graph.TrainableVariables() : variables;
  std::vector<Operation> before = graph.update_ops();
  before.push_back(after);
  const Operation done = Group(before, "before_averages");
  const NameScope scope(options_.name, graph);
  Tensor decay = Constant(static_cast<float>(decay_), "decay");
  if (options_.num_updates.valid()) {
    const Tensor n = Cast(AfterStep(done, options_.num_updates), DType::kFloat32);
    decay = Minimum(decay, (n + 1) / (n + 10));
  }
  std::vector<Operation> updates;
  for (const Variable& variable : chosen) {
    if (!variable.valid() || !IsFloating(variable.dtype())) {
      graph.Fail(InvalidArgument(options_.name, ": variable '", variable.name(), "' is ",
                                 variable.spec().ToString(), ", but must be floating"));
      return Operation(&graph, nullptr);
    }
    Variable average = Average(variable);
    if (!average.valid()) {
      average = CreateSlot(
          variable, options_.name,
          [&variable](const Shape&, DType) { return InitializedValue(variable); }, variable.spec());
      if (!average.valid()) return Operation(&graph, nullptr);
      averages_[variable.name()] = average.name();
    }
    const Tensor step =
        (average - UpdatedValue(done, variable)) * (1 - Cast(decay, variable.dtype()));
    updates.push_back(Assign(average, average - step));
  }
  return Group(updates, "averages");
}

std::map<std::string, Variable> ExponentialMovingAverage::VariablesToRestore(
    const std::vector<Variable>& averaged) const {
  Graph& graph = Graph::Current();
  std::map<std::string, Variable> result;
  for (const Variable& variable : graph.variables()) {
    if (!variable.local()) result[variable.name()] = variable;
  }
  std::vector<Variable> chosen = averaged;
  if (averaged.empty()) {
    chosen = graph.TrainableVariables();
    // Apply may have been called in the graph of another mode, which may have variables that this
    // graph does not have.
    for (const auto& [name, average] : averages_) {
      if (const auto variable = graph.FindVariable(name)) chosen.push_back(*variable);
    }
  }
  for (const Variable& variable : chosen) {
    result.erase(variable.name());
    result[AverageName(variable)] = variable;
  }
  return result;
}

}  // namespace estimator::train
