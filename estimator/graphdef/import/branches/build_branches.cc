// NodeBuilder: what a tf.cond, an If and a Case give.
#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "estimator/array/compare.h"
#include "estimator/base/status.h"
#include "estimator/graph/constant_value.h"
#include "estimator/graph/function.h"
#include "estimator/graphdef/import/node_builder.h"
#include "estimator/graphdef/import/op_kinds.h"
#include "estimator/ops/comparison.h"
#include "estimator/ops/constant.h"

namespace estimator {
namespace {

// Whether all are one tensor, or one constant, as the shape of a gradient is.
bool AreSame(const std::vector<Tensor>& values) {
  const auto constant = [](const Tensor& value) -> const Array* {
    const bool is_const = value.valid() && value.node()->op() == "Const";
    return is_const ? &value.node()->attrs().get<Array>("value") : nullptr;
  };
  return std::all_of(values.begin(), values.end(), [&](const Tensor& value) {
    const Array *const a = constant(value), *const b = constant(values[0]);
    return value == values[0] || (a != nullptr && b != nullptr && SameBits(*a, *b));
  });
}

bool IsCase(FlatTensor condition) { return condition.output == Branches::kChosen; }

absl::Status DifferentTypes(const Tensor& a, const Tensor& b) {
  return Unimplemented("the branches of tf.cond return ", a.spec().ToString(), " and ",
                       b.spec().ToString());
}

}  // namespace

// One of the tensors that are chosen, or a tensor that only one side has and passes on.
struct NodeBuilder::Output {
  FlatTensor at;
  std::vector<FlatTensor> from;     // by side; node -1: nothing
  std::vector<Tensor> values = {};  // by side; invalid: nothing, or a list of zeros
  Tensor value = {};                // what is chosen
  bool passed = false;
  std::optional<List> list = {};           // one of the lists that are chosen
  absl::Status status = absl::OkStatus();  // why it cannot be chosen

  // The first that is valid; invalid if none is.
  Tensor any() const {
    const auto found = std::find_if(values.begin(), values.end(),
                                    [](const Tensor& value) { return value.valid(); });
    return found == values.end() ? Tensor() : *found;
  }
};

absl::StatusOr<Tensor> NodeBuilder::Selector(FlatTensor condition, int node) const {
  EST_ASSIGN_OR_RETURN(const Tensor selector, Value(branches_.SelectorOf(condition), node));
  const bool is_case = IsCase(condition);
  const TensorSpec wanted = {is_case ? DType::kInt32 : DType::kBool, {}};
  if (selector.spec() == wanted) return selector;
  return Unimplemented(is_case ? "the index of the branch is " : "the condition is ",
                       selector.spec().ToString(), ", not ", wanted.ToString());
}

absl::StatusOr<Tensor> NodeBuilder::SelectSide(FlatTensor condition, int side, const Tensor& taken,
                                               const Tensor& other, int node) {
  // A phase that is fixed (is_training) then costs nothing.
  if (const std::optional<int> known = KnownSide(condition, node))
    return *known == side ? taken : other;
  if (taken == other) return taken;
  if (!(taken.spec() == other.spec())) return DifferentTypes(taken, other);
  EST_ASSIGN_OR_RETURN(Tensor runs, Selector(condition, node));
  const bool negated = !IsCase(condition) && side == 0;
  if (IsCase(condition)) {
    // A number that is not that of a function runs the last one.
    const int last = nodes_.NumBranches(condition.node) - 1;
    runs = side < last ? Equal(runs, side) : LogicalOr(Less(runs, 0), GreaterEqual(runs, last));
  }
  return graph_->AddOp("SelectV2", {runs, negated ? other : taken, negated ? taken : other}, {},
                       NameOf(node));
}

std::optional<int> NodeBuilder::KnownSide(FlatTensor condition, int reader) const {
  const bool is_case = IsCase(condition);
  if (is_case && nodes_.NumBranches(condition.node) == 1) return 0;
  const absl::StatusOr<Tensor> value = OptionalValue(branches_.SelectorOf(condition), reader);
  if (!value.ok() || !value->valid() || value->node()->op() != "Const" || value->rank() != 0 ||
      value->dtype() != (is_case ? DType::kInt32 : DType::kBool))
    return std::nullopt;
  const auto side = static_cast<int>(ConstantValue(*value)->AsDouble());
  if (!is_case) return side;
  const int last = nodes_.NumBranches(condition.node) - 1;
  return side < 0 ? last : std::min(side, last);
}

bool NodeBuilder::IsDead(int node) const {
  for (const auto& [condition, side] : branches_.ConditionsOf(node)) {
    const std::optional<int> known = KnownSide(condition, node);
    if (known.has_value() && *known != side) return true;
  }
  return branches_.NeverRuns(node);
}

// The outputs of a node of a group whose first node has built all.
absl::StatusOr<std::vector<Tensor>> NodeBuilder::BuiltByFirst(int node) {
  const auto found = unselected_.find({node, 0});
  if (IsMergeOp(nodes_.op(node)) && found != unselected_.end()) return found->second;
  return values_[node];
}

absl::StatusOr<std::vector<Tensor>> NodeBuilder::BuildBranches(int node) {
  const bool is_merge = IsMergeOp(nodes_.op(node));
  const Branches::Choice* const choice = branches_.ChoiceOf(node);
  if (choice == nullptr && is_merge) {
    // A known shape of a gradient is a constant, which does not depend on conditions.
    const absl::StatusOr<std::vector<Tensor>> inputs = Inputs(node);
    if (inputs.ok() && inputs->size() == 2 && AreSame(*inputs))
      return std::vector<Tensor>{inputs->front(), Tensor()};
    return Unimplemented("not of one tf.cond");
  }
  if (choice == nullptr) return InvalidArgument("the branches return different numbers of tensors");
  const BranchBodies::Group* const group = bodies_ == nullptr ? nullptr : bodies_->GroupOf(node);
  std::vector<int> chosen = {node};
  if (group != nullptr) {
    const auto lives = [this](int i) { return !IsDead(i); };
    if (*std::find_if(group->chosen.begin(), group->chosen.end(), lives) != node)
      return BuiltByFirst(node);
    chosen.clear();
    std::copy_if(group->chosen.begin(), group->chosen.end(), std::back_inserter(chosen), lives);
  }
  std::vector<Output> outputs;
  for (const int i : chosen) {
    const Branches::Choice& of = *branches_.ChoiceOf(i);
    for (size_t k = 0; k < of.num_outputs; ++k) {
      const FlatTensor at = {i, static_cast<int>(k)};
      if (group != nullptr && !bodies_->IsRead(at)) continue;
      outputs.emplace_back().at = at;
      for (const size_t first : of.first)
        outputs.back().from.push_back(nodes_.node(i).inputs[first + k]);
    }
  }
  if (const std::optional<int> known = KnownSide(choice->condition, node)) {
    const auto side = static_cast<size_t>(*known);
    if (group != nullptr) EST_RETURN_IF_ERROR(BuildBody(group->bodies[side]));
    for (Output& output : outputs) {
      if (IsList(output.from[side])) lists_[output.at] = lists_.at(output.from[side]);
      EST_ASSIGN_OR_RETURN(output.value, OptionalValue(output.from[side], output.at.node));
    }
  } else if (group != nullptr) {
    EST_RETURN_IF_ERROR(RunOneSide(*group, node, outputs));
  } else {
    for (size_t side = 0; side < choice->first.size(); ++side) ReadSide(side, node, outputs);
    for (Output& output : outputs) SelectOutput(choice->condition, node, output);
  }
  for (const Output& output : outputs) {
    const auto number = static_cast<size_t>(output.at.output);
    std::vector<Tensor>& values = values_[output.at.node];
    if (!output.status.ok()) {
      // Only a node that reads it fails: TF 2 adds outputs for gradients, which nobody reads and
      // whose types differ.
      if (output.at.node == node && is_merge && !output.passed) return output.status;
      unselected_[output.at] = output.status;
      lists_.erase(output.at);
    } else if (output.list.has_value()) {
      lists_[output.at] = output.value.valid() ? List::OfRows(output.value) : *output.list;
    }
    if (!output.passed) values.resize(std::max(values.size(), number + 1));
    if (number < values.size()) values[number] = output.list.has_value() ? Tensor() : output.value;
  }
  for (size_t k = 0; is_merge && k < chosen.size(); ++k) {
    const std::vector<size_t>& first = branches_.ChoiceOf(chosen[k])->first;
    const auto number = [&](size_t side) {
      return Const(Array::Scalar(static_cast<int32_t>(first[side])), NameOf(chosen[k]) + "/index");
    };
    EST_ASSIGN_OR_RETURN(const Tensor index,
                         SelectSide(choice->condition, 1, number(1), number(0), chosen[k]));
    values_[chosen[k]].resize(2);
    values_[chosen[k]][1] = index;
  }
  return values_[node];
}

absl::Status NodeBuilder::BuildBody(int body) {
  const int around = std::exchange(body_, body);
  absl::Status status;
  for (const int i : bodies_->bodies[static_cast<size_t>(body)].nodes) {
    status = Build(i);
    if (!status.ok()) break;
  }
  body_ = around;
  return status;
}

void NodeBuilder::ReadSide(size_t side, int node, std::vector<Output>& outputs) {
  for (Output& output : outputs) {
    output.values.resize(output.from.size());
    const FlatTensor from = output.from[side];
    if (from.node < 0 || branches_.NeverRuns(from.node)) continue;
    absl::StatusOr<Tensor> value = Tensor();
    if (IsList(from)) {
      const List& list = output.list.emplace(lists_.at(from));
      if (!list.untouched() || list.element.has_value()) value = Rows(list, NameOf(node));
      if (value.ok() && value->valid() && !value->shape().fully_known())
        value = Unimplemented("a branch that returns a list without a largest size");
    } else {
      value = OptionalValue(from, output.at.node);
    }
    if (value.ok()) output.values[side] = *value;
    if (!value.ok()) output.status = value.status();
  }
}

// Gives all sides the same number of rows, if that changes nothing (rows/branch_rows.h).
//   graph_of: where the value of a side is made.
void NodeBuilder::AddRows(Output& output,
                          const std::function<Graph&(size_t side)>& graph_of) const {
  const BranchRows* const rows = options_.branch_rows;
  const bool zeros = rows != nullptr && rows->values.count(output.at) > 0;
  if (output.passed || rows == nullptr || (!zeros && rows->indices.count(output.at) == 0)) return;
  int64_t most = 0;
  for (const Tensor& value : output.values)
    if (value.valid() && value.rank() > 0) most = std::max(most, value.dim(0));
  for (size_t side = 0; side < output.values.size(); ++side) {
    Tensor& value = output.values[side];
    if (!value.valid() || value.rank() == 0 || value.dim(0) == most || !value.shape().fully_known())
      continue;
    if (!zeros && (value.rank() != 1 || value.dim(0) == 0)) continue;
    // A vector or one row may be a factor of all rows.
    if (rows->factors.count(output.at) > 0 && (value.rank() == 1 || value.dim(0) == 1)) continue;
    const GraphScope scope(graph_of(side));
    value = WithRows(value, most, zeros);
  }
}

// REQUIRES: the values of all sides are read.
void NodeBuilder::SelectOutput(FlatTensor condition, int node, Output& output) {
  AddRows(output, [this](size_t) -> Graph& { return *graph_; });
  const Tensor any = output.any();
  if (!output.status.ok() || !any.valid()) return;
  for (Tensor& value : output.values) {
    // A branch that never runs has no value. An Optional that only one branch fills is read only if
    // that branch was taken.
    if (!value.valid()) value = output.list.has_value() ? Zeros(any.shape(), any.dtype()) : any;
  }
  output.value = output.values.back();
  if (AreSame(output.values)) return;
  for (size_t side = output.values.size() - 1; side-- > 0 && output.status.ok();) {
    const absl::StatusOr<Tensor> selected =
        SelectSide(condition, static_cast<int>(side), output.values[side], output.value, node);
    output.status = selected.status();
    output.value = selected.ok() ? *selected : Tensor();
  }
}

// Adds an If or a Case of ours.
absl::Status NodeBuilder::RunOneSide(const BranchBodies::Group& group, int node,
                                     std::vector<Output>& outputs) {
  const FlatTensor condition = branches_.ChoiceOf(node)->condition;
  const bool is_case = IsCase(condition);
  EST_ASSIGN_OR_RETURN(const Tensor selector, Selector(condition, node));
  const size_t num_sides = group.bodies.size();
  for (size_t side = 0; side < num_sides; ++side) {
    for (const FlatTensor& at : bodies_->bodies[static_cast<size_t>(group.bodies[side])].passed) {
      if (IsDead(at.node)) continue;
      Output& output = outputs.emplace_back();
      output.at = at;
      output.from.resize(num_sides);
      output.from[side] = at;
      output.passed = true;
    }
  }
  Graph* const graph = graph_;
  std::vector<std::shared_ptr<Function>> functions(num_sides);  // by side
  const auto build = [&](size_t side) {
    const std::string name = is_case ? absl::StrCat("branch", side) : side == 1 ? "then" : "else";
    functions[side] = Function::Build(*graph, name, {}, [&](const Tensors&) {
      graph_ = &Graph::Current();
      const absl::Status status = BuildBody(group.bodies[side]);
      if (status.ok()) ReadSide(side, node, outputs);
      if (!status.ok()) graph_->Fail(status);
      return Tensors();
    });
    graph_ = graph;
    return graph->status();
  };
  for (size_t side = 0; side < num_sides; ++side) EST_RETURN_IF_ERROR(build(side));
  std::vector<Output*> results;
  for (Output& output : outputs) {
    AddRows(output, [&](size_t side) -> Graph& { return functions[side]->graph(); });
    const Tensor any = output.any();
    if (!output.status.ok() || !any.valid()) continue;
    const bool is_const = any.node()->op() == "Const";
    const bool is_inside = std::any_of(functions.begin(), functions.end(),
                                       [&](const auto& of) { return &of->graph() == any.graph(); });
    if (AreSame(output.values) || (output.passed && (is_const || !is_inside))) {
      output.value = is_const ? Const(any.node()->attrs().get<Array>("value"), NameOf(node)) : any;
      continue;
    }
    for (size_t side = 0; side < num_sides; ++side) {
      Tensor& value = output.values[side];
      const GraphScope scope(functions[side]->graph());
      const bool is_string = any.dtype() == DType::kString;
      if (!value.valid() && is_string) output.status = Unimplemented("a string of one branch");
      if (!value.valid() && !is_string) value = Zeros(any.shape(), any.dtype());
      if (value.valid() && !(value.spec() == any.spec()))
        output.status = DifferentTypes(value, any);
    }
    if (!output.status.ok()) continue;
    for (size_t side = 0; side < num_sides; ++side) functions[side]->AddResult(output.values[side]);
    results.push_back(&output);
  }
  if (results.empty()) return graph->status();
  // The first function of an If is that of side 1.
  if (!is_case) std::swap(functions[0], functions[1]);
  Tensors inputs = {selector};
  for (const auto& function : functions)
    inputs.insert(inputs.end(), function->captures().begin(), function->captures().end());
  Node* const made = graph->AddNode(is_case ? "Case" : "If", std::move(inputs), {}, NameOf(node),
                                    {}, std::move(functions));
  for (size_t k = 0; k < results.size(); ++k)
    results[k]->value = Tensor(graph, made, static_cast<int>(k));
  return graph->status();
}

}  // namespace estimator
