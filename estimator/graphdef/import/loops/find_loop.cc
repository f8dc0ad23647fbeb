// NodeBuilder::LoopImporter: finds the nodes of a While, the kinds of its variables, and its trips.
#include <algorithm>
#include <optional>

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
  if (!value.has_value()) return std::nullopt;
  return static_cast<int64_t>(value->AsDouble());
}

}  // namespace

// The nodes of the condition and the body, each after its inputs.
absl::Status NodeBuilder::LoopImporter::FindMembers() {
  std::vector<int> roots;
  for (size_t k = 0; k < n_; ++k) roots.push_back(Result(k).node);
  EST_ASSIGN_OR_RETURN(const std::vector<int> body, nodes_.Sorted(roots, false));
  EST_ASSIGN_OR_RETURN(const std::vector<int> cond, nodes_.Sorted({Input(n_).node}, false));
  const auto add = [this](const std::vector<int>& sorted, std::vector<int>& members) {
    for (const int i : sorted) {
      const FlatNode& node = nodes_.node(i);
      if (node.loop == node_ && node.op != kLoopArgOp) members.push_back(i);
    }
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

// The variable that grows by 1 and that `at` is; -1 if there is none.
int NodeBuilder::LoopImporter::CounterOf(FlatTensor at, const std::vector<int>& args) const {
  at = Behind(at);
  for (size_t k = 0; k < n_; ++k)
    if (args[k] == at.node && variables_[k].counts_from.has_value()) return static_cast<int>(k);
  return -1;
}

absl::Status NodeBuilder::LoopImporter::FindKinds() {
  variables_.resize(n_);
  for (size_t k = 0; k < n_; ++k) {
    if (loop_.constant[k]) variables_[k].kind = Kind::kConstant;
    const FlatTensor next = Behind(Result(k));
    const FlatNode& node = nodes_.node(next.node);
    if (node.loop != node_ || !IsOneOf(node.op, {"Add", "AddV2"}) || node.inputs.size() != 2)
      continue;
    for (size_t side = 0; side < 2; ++side) {
      const FlatTensor other = Behind(node.inputs[1 - side]);
      if (!IsArg(node.inputs[side], k) || nodes_.op(other.node) != "Const") continue;
      EST_ASSIGN_OR_RETURN(const std::vector<Tensor> step, b_.BuildConst(other.node));
      if (ConstantInt(step[0]) != 1) continue;
      EST_ASSIGN_OR_RETURN(const Tensor first, b_.Value(Input(k), node_));
      variables_[k].counts_from = ConstantInt(first);
    }
  }
  for (size_t k = 0; k < n_; ++k) {
    if (!loop_.constant[k] && b_.IsList(Input(k))) EST_RETURN_IF_ERROR(FindListKind(k));
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
  const bool untouched = !first.rows.valid() && !first.item.valid();
  if (node.op == "TensorListSetItem" && node.inputs.size() >= 3 && untouched) {
    const int counter = CounterOf(node.inputs[1], loop_.body_args);
    if (counter < 0 || variables_[static_cast<size_t>(counter)].counts_from != 0)
      return absl::OkStatus();
    variable.kind = Kind::kSet;
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
    const bool less = node.loop == node_ && node.op == "Less" && node.inputs.size() == 2;
    const int counter = less ? CounterOf(node.inputs[0], loop_.cond_args) : -1;
    const FlatTensor limit = less ? Behind(node.inputs[1]) : FlatTensor{};
    const bool inside = less && nodes_.node(limit.node).loop == node_;
    if (counter < 0 || (inside && nodes_.op(limit.node) != "Const")) {
      cond_is_limits_ = false;
      continue;
    }
    Tensor most;
    if (inside) {
      EST_ASSIGN_OR_RETURN(const std::vector<Tensor> value, b_.BuildConst(limit.node));
      most = value[0];
    } else {
      EST_ASSIGN_OR_RETURN(most, b_.Value(node.inputs[1], node_));
    }
    if (!IsInteger(most.dtype()) || most.shape().num_elements() != 1) {
      cond_is_limits_ = false;
      continue;
    }
    const int64_t first = *variables_[static_cast<size_t>(counter)].counts_from;
    if (const std::optional<int64_t> value = ConstantInt(most); value.has_value()) {
      trips_ = std::min(trips_, std::max<int64_t>(*value - first, 0));
    } else {
      limits.push_back(
          Subtract(Reshape(Cast(most, DType::kInt64), Shape{}), Constant(Array::Scalar(first))));
    }
  }
  if (trips_ != kNoLimit) made_.trips = Constant(Array::Scalar(trips_));
  if (!cond_is_limits_) return absl::OkStatus();
  for (const Tensor& limit : limits)
    made_.trips = made_.trips.valid() ? Minimum(made_.trips, limit) : limit;
  has_constant_trips_ = limits.empty();
  return absl::OkStatus();
}

}  // namespace estimator
