// NodeBuilder::LoopImporter: finds the nodes of a While, the kinds of its variables, and its trips.
#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "estimator/base/status.h"
#include "estimator/graph/constant_value.h"
#include "estimator/graphdef/import/loops/loop_importer.h"
#include "estimator/graphdef/import/op_kinds.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/shape_ops.h"

namespace estimator {
namespace {

std::optional<int64_t> ConstantInt(const Tensor& tensor) {
  if (!tensor.valid() || !IsInteger(tensor.dtype()) || tensor.shape().num_elements() != 1)
    return std::nullopt;
  const std::optional<Array> value = ConstantValue(tensor);
  // No loop has more trips, and differences of such numbers do not overflow.
  constexpr double kMost = 1e15;
  if (!value.has_value() || std::abs(value->AsDouble()) > kMost) return std::nullopt;
  return static_cast<int64_t>(value->AsDouble());
}

}  // namespace

// The nodes that these need, and the conditions by which a Merge selects.
std::vector<int> NodeBuilder::LoopImporter::Needed(std::vector<int> roots) const {
  std::vector<int> reached;
  std::set<int> asked(roots.begin(), roots.end());
  for (size_t before = 0; before < asked.size();) {
    before = asked.size();
    reached = nodes_.Reached(roots, false);
    for (const int i : reached) {
      const Branches::Choice* const choice =
          IsMergeOp(nodes_.op(i)) ? b_.branches_.ChoiceOf(i) : nullptr;
      if (choice != nullptr && asked.insert(choice->condition.node).second)
        roots.push_back(choice->condition.node);
    }
  }
  return reached;
}

// The nodes of the condition and the body, each after its inputs.
absl::Status NodeBuilder::LoopImporter::FindMembers() {
  std::vector<int> roots;
  for (size_t k = 0; k < n_; ++k) roots.push_back(Result(k).node);
  const std::vector<int> body = Needed(roots), cond = Needed({Input(n_).node});
  const auto add = [this](const std::vector<int>& reached, std::vector<int>& members) {
    for (const int i : reached) {
      const FlatNode& node = nodes_.node(i);
      if (node.loop == node_ && node.op != kLoopArgOp) members.push_back(i);
    }
    std::sort(members.begin(), members.end(),
              [this](int a, int b) { return b_.order_.PlaceOf(a) < b_.order_.PlaceOf(b); });
  };
  add(body, body_nodes_);
  add(cond, cond_nodes_);
  for (const int i : body) {
    if (nodes_.op(i) == "Identity") continue;
    for (const FlatTensor& input : nodes_.node(i).inputs) ++uses_[Behind(input)];
  }
  for (size_t k = 0; k < n_; ++k) ++uses_[Behind(Result(k))];
  return absl::OkStatus();
}

// The variable that counts and that `at` is; -1 if there is none.
int NodeBuilder::LoopImporter::CounterOf(FlatTensor at, const std::vector<int>& args) const {
  at = Behind(at);
  for (size_t k = 0; k < n_; ++k)
    if (args[k] == at.node && variables_[k].step != 0) return static_cast<int>(k);
  return -1;
}

absl::Status NodeBuilder::LoopImporter::FindKinds() {
  variables_.resize(n_);
  for (size_t k = 0; k < n_; ++k) {
    if (loop_.constant[k]) variables_[k].kind = Kind::kConstant;
    if (!loop_.constant[k]) EST_RETURN_IF_ERROR(FindCounter(k));
  }
  for (size_t k = 0; k < n_; ++k) {
    if (loop_.constant[k]) continue;
    if (b_.IsList(Input(k))) EST_RETURN_IF_ERROR(FindListKind(k));
    EST_ASSIGN_OR_RETURN(const bool joins, FindJoined(k));
    if (joins) variables_[k].kind = Kind::kJoined;
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> NodeBuilder::LoopImporter::FindJoined(size_t k) {
  const FlatTensor next = Behind(Result(k));
  const FlatNode& node = nodes_.node(next.node);
  if (node.loop != node_ || node.op != "ConcatV2" || node.inputs.size() != 3) return false;
  const FlatTensor axis = Behind(node.inputs[2]);
  if (!IsArg(node.inputs[0], k) || Uses(k) != 1 || uses_[next] != 1 ||
      nodes_.op(axis.node) != "Const")
    return false;
  EST_ASSIGN_OR_RETURN(const std::vector<Tensor> along, b_.BuildConst(axis.node));
  variables_[k].value = node.inputs[1];
  return ConstantInt(along[0]) == 0;
}

absl::Status NodeBuilder::LoopImporter::FindCounter(size_t k) {
  const FlatTensor next = Behind(Result(k));
  const FlatNode& node = nodes_.node(next.node);
  const bool adds = IsOneOf(node.op, {"Add", "AddV2"});
  if (node.loop != node_ || (!adds && node.op != "Sub") || node.inputs.size() != 2)
    return absl::OkStatus();
  for (size_t side = 0; side < (adds ? 2 : 1); ++side) {
    const FlatTensor other = Behind(node.inputs[1 - side]);
    if (!IsArg(node.inputs[side], k) || nodes_.op(other.node) != "Const") continue;
    EST_ASSIGN_OR_RETURN(const std::vector<Tensor> step, b_.BuildConst(other.node));
    const std::optional<int64_t> by = ConstantInt(step[0]);
    if (by != 1 && by != -1) continue;
    EST_ASSIGN_OR_RETURN(const Tensor first, b_.Value(Input(k), node_));
    if (!IsInteger(first.dtype()) || first.shape().num_elements() != 1) continue;
    Variable& variable = variables_[k];
    variable.step = static_cast<int>(adds ? *by : -*by);
    variable.first = first;
    variable.counts_from = ConstantInt(first);
    return absl::OkStatus();
  }
  return absl::OkStatus();
}

absl::Status NodeBuilder::LoopImporter::FindListKind(size_t k) {
  Variable& variable = variables_[k];
  variable.kind = Kind::kCarriedList;
  const FlatTensor next = Behind(Result(k));
  const FlatNode& node = nodes_.node(next.node);
  const bool changes = node.loop == node_ && !node.inputs.empty() && IsArg(node.inputs[0], k) &&
                       Uses(k) == 1 && uses_[next] == 1;
  if (!changes) return absl::OkStatus();
  const List& first = b_.lists_.at(Input(k));
  const bool untouched = first.untouched();
  if (node.op == "TensorListSetItem" && node.inputs.size() >= 3 && untouched) {
    const int counter = CounterOf(node.inputs[1], loop_.body_args);
    if (counter < 0) return absl::OkStatus();
    const Variable& trip = variables_[static_cast<size_t>(counter)];
    if (trip.step != 1 || trip.counts_from != 0) return absl::OkStatus();
    variable.kind = first.size < 0 ? Kind::kPushed : Kind::kSet;
    variable.value = node.inputs[2];
  } else if (node.op == "TensorListPushBack" && node.inputs.size() == 2 && untouched) {
    variable.kind = Kind::kPushed;
    variable.value = node.inputs[1];
  } else if (node.op == "TensorListPopBack" && next.output == 0) {
    variable.kind = Kind::kPopped;
    variable.popped = {next.node, 1};
  }
  return absl::OkStatus();
}

// What the condition asks for, if all of it are limits of counters.
absl::Status NodeBuilder::LoopImporter::FindTrips() {
  cond_is_limits_ = true;
  std::vector<FlatTensor> pending = {Input(n_)};
  std::vector<Tensor> limits;
  while (!pending.empty()) {
    const FlatTensor at = Behind(pending.back());
    pending.pop_back();
    const FlatNode& node = nodes_.node(at.node);
    if (node.loop == node_ && node.op == "LogicalAnd" && node.inputs.size() == 2) {
      pending.insert(pending.end(), node.inputs.begin(), node.inputs.end());
      continue;
    }
    EST_ASSIGN_OR_RETURN(const bool is_limit, AddLimit(at, limits));
    cond_is_limits_ = cond_is_limits_ && is_limit;
  }
  if (!cond_is_limits_) {
    if (const std::optional<int64_t> trips = CountTrips()) {
      trips_ = *trips;
      cond_is_limits_ = true;
      limits.clear();
    }
  }
  if (trips_ != kNoLimit) made_.trips = Constant(Array::Scalar(trips_));
  if (!cond_is_limits_) return absl::OkStatus();
  for (const Tensor& limit : limits) {
    const Tensor trips = Maximum(limit, int64_t{0});
    made_.trips = made_.trips.valid() ? Minimum(made_.trips, trips) : trips;
  }
  has_constant_trips_ = limits.empty();
  return absl::OkStatus();
}

// Runs the condition and what it depends on. nullopt if that is not constant.
std::optional<int64_t> NodeBuilder::LoopImporter::CountTrips() {
  constexpr size_t kMaxBuilt = 50000;  // nodes
  std::map<size_t, Tensor> values;     // of the loop variables on which the condition depends
  std::vector<int> cond_nodes, body_nodes;
  const auto add = [&](FlatTensor from, const std::vector<int>& args, std::vector<int>& members) {
    for (const int i : Needed({from.node})) {
      if (nodes_.node(i).loop == node_ && nodes_.op(i) != kLoopArgOp) members.push_back(i);
      for (size_t k = 0; k < n_; ++k)
        if (args[k] == i) values.try_emplace(k);
    }
  };
  add(Input(n_), loop_.cond_args, cond_nodes);
  for (size_t before = 0; before < values.size();) {
    before = values.size();
    body_nodes.clear();
    const std::map<size_t, Tensor> known = values;
    for (const auto& [k, value] : known) add(Result(k), loop_.body_args, body_nodes);
  }
  for (auto& [k, value] : values) {
    const absl::StatusOr<Tensor> first = b_.Value(Input(k), node_);
    if (!first.ok() || first->node()->op() != "Const" || IsFloating(first->dtype()))
      return std::nullopt;
    value = *first;
  }
  for (std::vector<int>* members : {&cond_nodes, &body_nodes}) {
    std::sort(members->begin(), members->end(),
              [this](int a, int b) { return b_.order_.PlaceOf(a) < b_.order_.PlaceOf(b); });
    members->erase(std::unique(members->begin(), members->end()), members->end());
    for (const int i : *members)
      if (nodes_.op(i) == kLoopOp) return std::nullopt;
  }
  Graph scratch(b_.graph_);
  const GraphScope scope(scratch);
  Graph* const graph = std::exchange(b_.graph_, &scratch);
  // Only some of the nodes of a branch are built here.
  const BranchBodies* const bodies = std::exchange(b_.bodies_, nullptr);
  const auto build = [&](const std::vector<int>& members, const std::vector<int>& args) {
    for (const auto& [k, value] : values)
      if (args[k] >= 0) b_.values_[args[k]] = {value};
    return BuildMembers(members, {}).ok() && scratch.status().ok();
  };
  const auto constant = [&](FlatTensor at) -> std::optional<Tensor> {
    const absl::StatusOr<Tensor> value = b_.Value(at, node_);
    const bool is_constant = value.ok() && value->node()->op() == "Const";
    return is_constant ? std::optional<Tensor>(*value) : std::nullopt;
  };
  std::optional<int64_t> trips;
  size_t built = 0;
  for (int64_t trip = 0; built < kMaxBuilt; ++trip) {
    built += cond_nodes.size() + body_nodes.size() + 1;
    if (!build(cond_nodes, loop_.cond_args)) break;
    const std::optional<Tensor> goes_on = constant(Input(n_));
    if (!goes_on.has_value() || goes_on->dtype() != DType::kBool ||
        goes_on->shape().num_elements() != 1)
      break;
    if (ConstantValue(*goes_on)->AsDouble() == 0) trips = trip;
    if (trips.has_value() || !build(body_nodes, loop_.body_args)) break;
    bool all = true;
    for (auto& [k, value] : values) {
      const std::optional<Tensor> next = constant(Result(k));
      all = all && next.has_value();
      if (next.has_value()) value = *next;
    }
    if (!all) break;
  }
  b_.graph_ = graph;
  b_.bodies_ = bodies;
  return trips;
}

// Adds the limit to trips_ or `limits` if `at` compares a counter with a number.
absl::StatusOr<bool> NodeBuilder::LoopImporter::AddLimit(FlatTensor at,
                                                         std::vector<Tensor>& limits) {
  const FlatNode& node = nodes_.node(at.node);
  const bool up = IsOneOf(node.op, {"Less", "LessEqual"});
  const bool down = IsOneOf(node.op, {"Greater", "GreaterEqual"});
  if (node.loop != node_ || (!up && !down) || node.inputs.size() != 2) return false;
  const int counter = CounterOf(node.inputs[0], loop_.cond_args);
  const FlatTensor limit = Behind(node.inputs[1]);
  const bool inside = nodes_.node(limit.node).loop == node_;
  if (counter < 0 || (inside && nodes_.op(limit.node) != "Const")) return false;
  const Variable& variable = variables_[static_cast<size_t>(counter)];
  if (variable.step != (up ? 1 : -1)) return false;
  Tensor most;
  if (inside) {
    EST_ASSIGN_OR_RETURN(const std::vector<Tensor> value, b_.BuildConst(limit.node));
    most = value[0];
  } else {
    EST_ASSIGN_OR_RETURN(most, b_.Value(node.inputs[1], node_));
  }
  if (!IsInteger(most.dtype()) || most.shape().num_elements() != 1) return false;
  const int64_t last = IsOneOf(node.op, {"LessEqual", "GreaterEqual"}) ? 1 : 0;
  const std::optional<int64_t> value = ConstantInt(most);
  if (value.has_value() && variable.counts_from.has_value()) {
    const int64_t distance = variable.step * (*value - *variable.counts_from);
    trips_ = std::min(trips_, std::max<int64_t>(distance + last, 0));
    return true;
  }
  const auto scalar = [](const Tensor& tensor) {
    return Reshape(Cast(tensor, DType::kInt64), Shape{});
  };
  const Tensor from = scalar(up ? variable.first : most), to = scalar(up ? most : variable.first);
  const Tensor distance = variable.first.valid() ? Subtract(to, from) : Tensor();
  limits.push_back(last == 0 ? distance : Add(distance, last));
  return true;
}

}  // namespace estimator
