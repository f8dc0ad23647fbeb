#include "estimator/nn/train/optimizer.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "estimator/graph/gradients.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/indexed_slices.h"
#include "estimator/nn/initializers.h"
#include "estimator/nn/replica_scope.h"
#include "estimator/nn/train/slot_creator.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/math_unary.h"

namespace estimator::train {
namespace {

// Returns for example "'a', 'b', 'c' and 4 more".
std::string ListNames(const std::vector<Variable>& variables) {
  std::vector<std::string> names;
  for (const Variable& variable : variables)
    names.push_back(absl::StrCat("'", variable.name(), "'"));
  return JoinSome(names, 3);
}

absl::Status CheckLoss(const Tensor& loss) {
  if (!loss.valid()) {
    return InvalidArgument("Minimize: the loss is not a tensor (a default-constructed handle)");
  }
  if (!IsFloating(loss.dtype())) {
    return InvalidArgument("Minimize: the loss '", loss.name(), "' is ", loss.spec().ToString(),
                           ", but must be floating");
  }
  if (loss.rank() != 0) {
    return InvalidArgument("Minimize: the loss '", loss.name(), "' is ", loss.spec().ToString(),
                           ", but must be a scalar; take its ReduceMean or ReduceSum");
  }
  return absl::OkStatus();
}

}  // namespace

Operation Optimizer::Minimize(const Tensor& loss, const MinimizeOptions& options) {
  Graph& graph = GraphFor({loss});
  const std::vector<GradientAndVariable> grads_and_vars = ComputeGradients(loss, options.var_list);
  if (!graph.status().ok()) return Operation(&graph, nullptr);
  return ApplyGradients(grads_and_vars, {.increment_global_step = options.increment_global_step});
}

std::vector<GradientAndVariable> Optimizer::ComputeGradients(
    const Tensor& loss, const std::vector<Variable>& variables) {
  // On replicas, where ApplyGradients can sum them.
  Graph& graph = ReplicaScope::Current().num_replicas > 1 ? GraphOfSum(loss) : GraphFor({loss});
  const GraphScope graph_scope(graph);
  if (absl::Status status = CheckLoss(loss); !status.ok()) {
    graph.Fail(std::move(status));
    return {};
  }
  std::vector<Variable> chosen = variables.empty() ? graph.TrainableVariables() : variables;
  // A handle of tpu::Bfloat16Scope reads as a cast. The gradient is that of the variable itself.
  for (Variable& variable : chosen) {
    if (variable.valid() && variable.read().dtype() != variable.dtype())
      variable = graph.FindVariable(variable.name()).value_or(variable);
  }
  if (chosen.empty()) {
    graph.Fail(InvalidArgument("Minimize: nothing to train: the graph of loss '", loss.name(),
                               "' has no trainable variable"));
    return {};
  }
  const Tensor scaled =
      WrapsBareOptimizers()
          ? ScaleLossForReplicas(loss, Reduction::kMean, ReplicaScope::Current().num_replicas)
          : loss;
  const std::vector<Tensor> gradients = Gradients(scaled, chosen);
  if (!graph.status().ok()) return {};
  std::vector<GradientAndVariable> pairs;
  bool any = false;
  for (size_t i = 0; i < chosen.size(); ++i) {
    pairs.push_back({gradients[i], chosen[i]});
    any = any || gradients[i].valid();
  }
  if (!any) {
    graph.Fail(
        InvalidArgument("Minimize: the loss '", loss.name(),
                        "' does not depend on any trainable variable through differentiable ops: ",
                        ListNames(chosen)));
    return {};
  }
  return pairs;
}

Operation Optimizer::ApplyGradients(const std::vector<GradientAndVariable>& grads_and_vars,
                                    const ApplyOptions& options) {
  // In a branch, its body: the gradients and the new values are computed only if it runs.
  Graph& graph = !grads_and_vars.empty() && grads_and_vars[0].variable.graph() != nullptr
                     ? GraphFor({grads_and_vars[0].variable.read()})
                     : Graph::Current();
  const GraphScope graph_scope(graph);
  const Operation invalid(&graph, nullptr);
  if (!graph.status().ok()) return invalid;
  std::vector<GradientAndVariable> pairs;
  std::vector<Variable> variables;
  for (const GradientAndVariable& pair : grads_and_vars) {
    variables.push_back(pair.variable);
    if (!pair.gradient.valid()) continue;
    if (!pair.variable.valid() || !(pair.gradient.spec() == pair.variable.spec())) {
      graph.Fail(InvalidArgument(name_, ": the gradient of variable '", pair.variable.name(), "', ",
                                 pair.variable.spec().ToString(), ", is ",
                                 pair.gradient.spec().ToString(), " ('", pair.gradient.name(),
                                 "'); types must be equal"));
      return invalid;
    }
    pairs.push_back(pair);
  }
  if (pairs.empty()) {
    graph.Fail(InvalidArgument(name_, ": no gradient for any variable",
                               variables.empty() ? " (none was given)" : ": ",
                               ListNames(variables)));
    return invalid;
  }
  if (absl::Status status = CheckOptions(); !status.ok()) {
    graph.Fail(std::move(status));
    return invalid;
  }
  // Only variables with a gradient get slots and rates.
  variables.clear();
  if (WrapsBareOptimizers()) pairs = SumGradientsNotYetSummed(pairs);
  for (const GradientAndVariable& pair : pairs) variables.push_back(pair.variable);

  std::vector<Operation> updates;
  rates_ = StepRates(learning_rate_, variables);
  // Read before the optimizer's own name scope begins: TensorFlow names beta1_power without it.
  non_slot_scope_ = graph.name_scope();
  // In a branch, its name begins with those of the scopes around it, and with its own.
  for (const Graph* outer = graph.outer(); outer != nullptr; outer = outer->outer())
    non_slot_scope_ = absl::StrCat(outer->name_scope(), non_slot_scope_);
  const NameScope scope(name_, graph);
  Prepare(variables);
  for (const GradientAndVariable& pair : pairs) {
    const NameScope update_scope(absl::StrCat("update_", pair.variable.name()), graph);
    const std::vector<Operation> own = Apply(pair.gradient, pair.variable);
    updates.insert(updates.end(), own.begin(), own.end());
  }
  const std::vector<Operation> shared = Finish();
  updates.insert(updates.end(), shared.begin(), shared.end());
  if (options.increment_global_step) {
    const Variable global_step = GetOrCreateGlobalStep();
    updates.push_back(AssignAdd(global_step, Constant(Array::Scalar(1).Cast(global_step.dtype())),
                                "global_step"));
  }
  rates_ = StepRates();
  if (!graph.status().ok()) return invalid;
  return Group(updates, "train_op");
}

std::vector<Operation> Optimizer::Apply(const Tensor& gradient, const Variable& variable) {
  // The sum over replicas is dense, so there are no slices to apply.
  const std::optional<IndexedSlices> slices =
      ReplicaScope::Current().dense_gradients ? std::nullopt : SlicesOf(gradient);
  if (!slices.has_value()) return ApplyDense(gradient, variable);
  return ApplySparse({gradient, *slices}, variable);
}

absl::Status Optimizer::CheckOptions() const {
  if (name_.empty()) return InvalidArgument("an optimizer's name must not be empty");
  if (const std::optional<double> rate = learning_rate_.constant();
      rate.has_value() && !std::isfinite(*rate)) {
    return InvalidArgument(name_, ": learning_rate is ", *rate, ", but must be finite");
  }
  return Validate();
}

Variable Optimizer::GetSlot(const Variable& variable, StringArg key, const SlotOptions& options) {
  // The name is kept, because it may have a suffix that the key does not determine. In the graph of
  // another mode the variable does not exist yet, and is created again.
  std::string& name = slot_names_[absl::StrCat(variable.name(), "\n", key)];
  if (!name.empty()) {
    if (const std::optional<Variable> existing = Graph::Current().FindVariable(name))
      return *existing;
  }
  const Variable slot = CreateSlot(
      variable, options.name.empty() ? key : options.name,
      options.initializer ? options.initializer : initializers::Zeros(),
      {options.dtype.value_or(variable.dtype()), options.shape.value_or(variable.shape())});
  if (slot.valid()) name = slot.name();
  return slot;
}

Variable Optimizer::GetNonSlot(StringArg key, double initial_value, DType dtype) {
  std::string& name = slot_names_[absl::StrCat("\n", key)];
  if (!name.empty()) {
    if (const std::optional<Variable> existing = Graph::Current().FindVariable(name))
      return *existing;
  }
  const Variable variable =
      CreateAbsoluteVariable(UniqueVariableName(absl::StrCat(non_slot_scope_, key)), {}, dtype,
                             initializers::Constant(initial_value));
  if (variable.valid()) name = variable.name();
  return variable;
}

Tensor Optimizer::Rate(const Variable& variable) const {
  const Tensor rate = rates_.Of(variable);
  return rate.valid() ? Cast(rate, variable.dtype()) : rate;
}

Tensor Optimizer::Number(const Variable& variable, double value, StringArg name) {
  return ConstantLike(variable.read(), value, name);
}

}  // namespace estimator::train
