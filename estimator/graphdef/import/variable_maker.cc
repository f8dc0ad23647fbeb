#include "estimator/graphdef/import/variable_maker.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "estimator/base/status.h"
#include "estimator/graphdef/import/op_kinds.h"
#include "estimator/graphdef/import/op_support.h"
#include "estimator/graphdef/import/partitioned.h"
#include "estimator/graphdef/import/write_rules.h"
#include "estimator/graphdef/step_counter.h"
#include "estimator/ops/building/builder.h"
#include "estimator/ops/check_numerics.h"
#include "estimator/ops/manipulation.h"

namespace estimator {

absl::Status VariableMaker::Make() {
  for (const SourceVariable& variable : source_.variables)
    sources_.emplace(variable.node, &variable);
  EST_RETURN_IF_ERROR(PlanInitialValues());
  for (const SourceVariable& variable : source_.variables) {
    if (!Wanted(variable)) continue;
    EST_RETURN_IF_ERROR(MakeOne(variable));
  }
  MarkTrainingVariables();
  return absl::OkStatus();
}

// The file does not say which variables are an optimizer's. TensorFlow's names do:
// "dense/kernel/Momentum", Keras' "training/Adam/dense/kernel/m", and "beta1_power".
void VariableMaker::MarkTrainingVariables() {
  std::set<std::string> trainable;
  for (const Variable& variable : graph_.TrainableVariables()) trainable.insert(variable.name());
  for (const Variable& variable : graph_.variables()) {
    const std::string& name = variable.name();
    if (variable.trainable() || name == "global_step") continue;
    bool marked = absl::StrContains(name, "beta1_power") || absl::StrContains(name, "beta2_power");
    const std::vector<std::string> parts = absl::StrSplit(name, '/');
    for (auto from = parts.begin(); from != parts.end(); ++from) {
      for (auto to = from + 1; to != parts.end(); ++to)
        marked |= trainable.count(absl::StrJoin(from, to, "/")) > 0;
    }
    if (marked) graph_.training_variables().insert(name);
  }
}

// A variable that nothing says to be in checkpoints need not be made if nothing reads it.
bool VariableMaker::Wanted(const SourceVariable& variable) const {
  return (!variable.local && variable.listed) || needed_[static_cast<size_t>(variable.node)];
}

// Finds the initial values that can be imported, and an order of their nodes.
absl::Status VariableMaker::PlanInitialValues() {
  const FlatGraph& nodes = *source_.nodes;
  std::vector<int> roots;
  for (const SourceVariable& variable : source_.variables) {
    if (!Wanted(variable)) continue;
    if (variable.initial_value.node < 0) {
      problems_[variable.node] = "the file does not name it";
      continue;
    }
    for (const int i : nodes.Reached({variable.initial_value.node}, false)) {
      std::optional<std::string> problem = NodeProblem(nodes.node(i));
      // An initializer runs before any step, so there is no batch and nothing was written.
      const auto& inputs = nodes.node(i).inputs;
      const bool reads_batch = std::any_of(
          inputs.begin(), inputs.end(), [&nodes](FlatTensor from) { return nodes.IsGiven(from); });
      if (reads_batch || IsInputOp(nodes.op(i)) || FindWriteRule(nodes.op(i)) != nullptr)
        problem = "not a value of the start";
      if (!problem.has_value()) continue;
      problems_[variable.node] = absl::StrCat(nodes.Where(i), ": ", *problem);
      break;
    }
    if (problems_.count(variable.node) == 0) roots.push_back(variable.initial_value.node);
  }
  EST_ASSIGN_OR_RETURN(std::vector<int> sorted, nodes.Sorted(roots, true));
  EST_ASSIGN_OR_RETURN(branches_, Branches::Create(nodes, sorted));
  EST_ASSIGN_OR_RETURN(order_, VariableOrder::Create(nodes, std::move(sorted)));
  // Before the first step no variable has a value.
  builder_ = std::make_unique<NodeBuilder>(
      nodes, *order_, *branches_, graph_, [this](int variable, int) { return Read(variable); },
      NodeBuilder::Options{.variables_exist = false});
  return absl::OkStatus();
}

absl::StatusOr<Tensor> VariableMaker::Read(int node) {
  if (variables_.count(node) == 0) {
    const auto source = sources_.find(node);
    if (source == sources_.end())
      return InvalidArgument("variable '", source_.nodes->node(node).name, "' is in no collection");
    EST_RETURN_IF_ERROR(MakeOne(*source->second));
  }
  return PartOf(InitializedValue(variables_.at(node)), node);
}

Tensor VariableMaker::Value(int node) {
  Tensor& value = values_[node];
  if (!value.valid()) value = PartOf(variables_.at(node).read(), node);
  return value;
}

std::vector<int> VariableMaker::Parts(int node) const {
  const SourceVariable& variable = *sources_.at(node);
  if (variable.whole.empty()) return {node};
  std::vector<int> nodes;
  for (const SourceVariable* const part : PartsOf(source_.variables, variable))
    nodes.push_back(part->node);
  return nodes;
}

int VariableMaker::AxisOf(int part) const {
  return AxisOfParts(PartsOf(source_.variables, *sources_.at(part)));
}

Tensor VariableMaker::PartOf(const Tensor& whole, int node) const {
  const SourceVariable& variable = *sources_.at(node);
  if (variable.whole.empty()) return whole;
  const auto parts = PartsOf(source_.variables, variable);
  const auto found = std::find(parts.begin(), parts.end(), &variable);
  return ValueOfPart(whole, parts, static_cast<size_t>(found - parts.begin()));
}

// Makes one variable of all parts of variable.whole.
absl::Status VariableMaker::MakeWhole(const SourceVariable& variable) {
  const auto parts = PartsOf(source_.variables, variable);
  std::vector<Tensor> initial;
  DType dtype = DType::kInvalid;
  for (const SourceVariable* const part : parts) {
    open_.insert(part->node);
    const absl::StatusOr<TensorSpec> spec = VariableSpec(source_.nodes->node(part->node));
    if (!spec.ok()) return Annotate(spec.status(), absl::StrCat("variable '", part->name, "'"));
    dtype = spec->dtype;
    EST_ASSIGN_OR_RETURN(initial.emplace_back(), InitialValue(*part, *spec));
  }
  const Tensor whole = Concat(initial, AxisOfParts(parts), variable.whole + "/initial_value");
  const Variable made = GetVariable(variable.whole, variable.whole_shape,
                                    {.dtype = dtype,
                                     .initializer = [whole](const Shape&, DType) { return whole; },
                                     .regularizer = nullptr,
                                     .trainable = variable.trainable,
                                     .local = variable.local});
  for (const SourceVariable* const part : parts) variables_[part->node] = made;
  return graph_.status();
}

absl::Status VariableMaker::MakeOne(const SourceVariable& variable) {
  if (variables_.count(variable.node) > 0) return absl::OkStatus();
  // An initial value may read another variable, so a malformed file can have a cycle.
  if (!open_.insert(variable.node).second) {
    return InvalidArgument("the initial value of variable '", variable.name, "' depends on itself");
  }
  if (!variable.whole.empty() && PartProblem(source_.variables, variable).empty())
    return MakeWhole(variable);
  const absl::StatusOr<TensorSpec> spec = VariableSpec(source_.nodes->node(variable.node));
  if (!spec.ok()) return Annotate(spec.status(), absl::StrCat("variable '", variable.name, "'"));
  // The loop's counter has the name in the Graph, whose names are unique without regard to case.
  const bool renamed = source_.counts_steps && absl::EqualsIgnoreCase(variable.name, "global_step");
  const std::string name = renamed ? kFileStepName : variable.name;
  const std::optional<Variable> existing = graph_.FindVariable(name);
  // The loop makes global_step before it calls the model_fn.
  if (existing.has_value()) {
    if (!(existing->spec() == *spec)) {
      return InvalidArgument("variable '", variable.name, "' is ", spec->ToString(),
                             " in the file, but the graph has it as ", existing->spec().ToString());
    }
    variables_[variable.node] = *existing;
    return absl::OkStatus();
  }
  EST_ASSIGN_OR_RETURN(const Tensor initial, InitialValue(variable, *spec));
  const Variable made =
      GetVariable(name, spec->shape,
                  {.dtype = spec->dtype,
                   .initializer = [initial](const Shape&, DType) { return initial; },
                   .regularizer = nullptr,
                   .trainable = variable.trainable,
                   .local = variable.local});
  EST_RETURN_IF_ERROR(graph_.status());
  const std::string& node_name = source_.nodes->node(variable.node).name;
  if (node_name != variable.name || renamed) KeepNameOfPart(graph_, name, node_name);
  variables_[variable.node] = made;
  return absl::OkStatus();
}

absl::StatusOr<Tensor> VariableMaker::InitialValue(const SourceVariable& variable,
                                                   const TensorSpec& spec) {
  const auto problem = problems_.find(variable.node);
  if (problem == problems_.end()) {
    std::vector<int> nodes = source_.nodes->Reached({variable.initial_value.node}, false);
    // What a Merge selects by is needed too.
    for (size_t k = 0; k < nodes.size(); ++k) {
      const Branches::Choice* const choice = branches_->ChoiceOf(nodes[k]);
      if (choice == nullptr) continue;
      for (const int i : source_.nodes->Reached({choice->condition.node}, false))
        if (std::find(nodes.begin(), nodes.end(), i) == nodes.end()) nodes.push_back(i);
    }
    std::sort(nodes.begin(), nodes.end(),
              [this](int a, int b) { return order_->PlaceOf(a) < order_->PlaceOf(b); });
    for (const int i : nodes) {
      if (IsVariableOp(source_.nodes->op(i)) || built_.count(i) > 0) continue;
      EST_RETURN_IF_ERROR(builder_->Build(i));
      built_.insert(i);
    }
    return builder_->Value(variable.initial_value, variable.initial_value.node);
  }
  const std::string message =
      absl::StrCat("the initial value of variable '", variable.name, "' cannot be imported (",
                   problem->second, "); train from a checkpoint");
  if (num_without_value_++ == 0) first_without_value_ = message;
  // NaN in a CheckNumerics fails where the value is used, which a checkpoint avoids.
  const bool floating = IsFloating(spec.dtype);
  const Array value =
      Array::Scalar(floating ? std::numeric_limits<double>::quiet_NaN() : 0.0).Cast(spec.dtype);
  const Tensor filled =
      OpBuilder("Fill", "").Ints("dims", spec.shape.dims()).Const("value", value).Build();
  return floating ? CheckNumerics(filled, message) : filled;
}

std::vector<std::string> VariableMaker::warnings() const {
  if (num_without_value_ == 0) return {};
  // A checkpoint gives all of them, so that a line for each would only hide other warnings.
  if (num_without_value_ == 1) return {first_without_value_};
  return {absl::StrCat(first_without_value_, "; so it is with ", num_without_value_ - 1,
                       num_without_value_ == 2 ? " other" : " others")};
}

}  // namespace estimator
