// NodeBuilder::LoopImporter: builds the operands, bodies and outputs of the loop.
#include <algorithm>
#include <utility>

#include "estimator/base/status.h"
#include "estimator/graph/function.h"
#include "estimator/graphdef/import/loops/loop_importer.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/manipulation.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/shape_ops.h"

namespace estimator {

absl::StatusOr<std::vector<Tensor>> NodeBuilder::LoopImporter::Run() {
  EST_RETURN_IF_ERROR(FindMembers());
  EST_RETURN_IF_ERROR(FindKinds());
  EST_RETURN_IF_ERROR(FindTrips());
  EST_RETURN_IF_ERROR(AddOperands());
  Graph* const graph = b_.graph_;
  if (!cond_is_limits_) made_.cond = [this](const Tensors& p) { return BuildCond(p); };
  made_.body = [this](const Tensors& p, const Tensors& e) { return BuildBody(p, e); };
  const Tensors results = AddLoop(made_);
  b_.graph_ = graph;
  EST_RETURN_IF_ERROR(graph->status());
  return Outputs(results);
}

absl::Status NodeBuilder::LoopImporter::AddOperands() {
  made_.name = name_;
  std::optional<int64_t> set_size;
  bool pops = false, pushes = false;
  for (size_t k = 0; k < n_; ++k) pops = pops || variables_[k].kind == Kind::kPopped;
  for (size_t k = 0; k < n_; ++k) {
    Variable& variable = variables_[k];
    // In reverse trip t has another row than t.
    if (variable.kind == Kind::kSet && pops) variable.kind = Kind::kCarriedList;
    if (variable.kind == Kind::kSet) {
      const int64_t size = b_.lists_.at(Input(k)).size;
      // The stacked results of a loop have one number of rows.
      if (set_size.value_or(size) != size || (trips_ != kNoLimit && trips_ > size))
        variable.kind = Kind::kCarriedList;
      else
        set_size = size;
    }
    pushes = pushes || variable.kind == Kind::kPushed;
  }
  if (pops && (pushes || !cond_is_limits_))
    return Unimplemented(
        "a loop that takes elements from TensorLists in another way than "
        "TensorFlow's gradients");
  made_.reverse = pops;
  made_.draws_in_order = has_constant_trips_;
  made_.capacity = set_size.value_or(trips_ == kNoLimit ? -1 : trips_);
  for (size_t k = 0; k < n_ && made_.capacity < 0; ++k) {
    const bool takes = variables_[k].kind == Kind::kPopped;
    const Tensor rows = takes ? b_.lists_.at(Input(k)).rows : Tensor();
    if (rows.valid() && rows.rank() > 0) made_.capacity = rows.dim(0);
  }
  for (size_t k = 0; k < n_; ++k) {
    Variable& variable = variables_[k];
    const bool counts = variable.kind == Kind::kCarried && variable.step != 0;
    // A counter that only counts: its last value follows from the trips.
    if (counts && cond_is_limits_ && Uses(k) <= 1 && uses_[Behind(Result(k))] == 1)
      variable.kind = Kind::kDropped;
    const bool is_list = variable.kind == Kind::kCarriedList;
    if (is_list && IsUnshaped(b_.lists_.at(Input(k)))) unshaped_.insert(k);
  }
  if (!unshaped_.empty()) EST_RETURN_IF_ERROR(FindElementShapes());
  for (size_t k = 0; k < n_; ++k) EST_RETURN_IF_ERROR(AddOperand(k));
  return absl::OkStatus();
}

bool NodeBuilder::LoopImporter::IsUnshaped(const List& list) {
  return list.size >= 0 && list.untouched() && !list.element.has_value();
}

// TensorFlow need not know the shape of a list's elements before it runs. The body tells it, so
// it is built once for that.
absl::Status NodeBuilder::LoopImporter::FindElementShapes() {
  for (size_t k = 0; k < n_; ++k) EST_RETURN_IF_ERROR(AddOperand(k));
  const auto build = [this](const Tensors& parameters) {
    const auto elements = parameters.begin() + static_cast<int64_t>(made_.carried.size());
    b_.graph_ = &Graph::Current();
    const absl::Status status =
        BuildBodyNodes({parameters.begin(), elements}, {elements, parameters.end()});
    if (!status.ok()) b_.graph_->Fail(status);
    return Tensors();
  };
  Graph* const graph = b_.graph_;
  const auto function = Function::Build(*graph, "body", BodyParameters(made_), build);
  b_.graph_ = graph;
  if (function == nullptr) return graph->status();
  for (const size_t k : unshaped_) {
    EST_ASSIGN_OR_RETURN(const List list, b_.ListOf(Result(k)));
    b_.lists_.at(Input(k)).element = list.element;
  }
  unshaped_.clear();
  made_.carried.clear();
  made_.scanned.clear();
  return absl::OkStatus();
}

absl::Status NodeBuilder::LoopImporter::AddOperand(size_t k) {
  Variable& variable = variables_[k];
  if (variable.kind == Kind::kCarried) {
    EST_ASSIGN_OR_RETURN(made_.carried.emplace_back(), b_.Value(Input(k), node_));
  } else if (variable.kind == Kind::kCarriedList && unshaped_.count(k) == 0) {
    EST_ASSIGN_OR_RETURN(made_.carried.emplace_back(), b_.Rows(b_.lists_.at(Input(k)), name_));
  } else if (variable.kind == Kind::kPopped) {
    const List& list = b_.lists_.at(Input(k));
    if (list.same.valid()) return absl::OkStatus();
    if (!list.rows.valid() || list.rows.rank() == 0)
      return Unimplemented("takes elements from a TensorList that no loop made");
    const int64_t size = list.rows.dim(0);
    if (size >= 0 && trips_ != kNoLimit && trips_ > size)
      return InvalidArgument("takes ", trips_, " elements from ", size);
    made_.scanned.push_back(list.rows);
  }
  return absl::OkStatus();
}

// Values of the arguments in the condition or the body.
void NodeBuilder::LoopImporter::SetArgs(const std::vector<int>& args, const Tensors& carried) {
  size_t next = 0;
  for (size_t k = 0; k < n_; ++k) {
    const Variable& variable = variables_[k];
    const bool is_carried = variable.kind == Kind::kCarried ||
                            (variable.kind == Kind::kCarriedList && unshaped_.count(k) == 0);
    const Tensor value = is_carried ? carried[next++] : Tensor();
    if (args[k] < 0) continue;
    b_.values_[args[k]] = {variable.kind == Kind::kCarried ? value : Tensor()};
    if (b_.IsList(Input(k))) {
      b_.lists_[{args[k], 0}] = value.valid() ? List::OfRows(value) : b_.lists_.at(Input(k));
    }
  }
}

absl::Status NodeBuilder::LoopImporter::BuildMembers(const std::vector<int>& members,
                                                     const std::set<int>& left_out) {
  for (const int i : members) {
    if (left_out.count(i) == 0) EST_RETURN_IF_ERROR(b_.Build(i));
  }
  return absl::OkStatus();
}

Tensor NodeBuilder::LoopImporter::BuildCond(const Tensors& carried) {
  b_.graph_ = &Graph::Current();
  SetArgs(loop_.cond_args, carried);
  absl::Status status = BuildMembers(cond_nodes_, {});
  absl::StatusOr<Tensor> result = Tensor();
  if (status.ok()) result = b_.Value(Input(n_), node_);
  if (!result.ok()) status = result.status();
  if (!status.ok()) return b_.graph_->Fail(status);
  return *result;
}

Tensors NodeBuilder::LoopImporter::BuildBody(const Tensors& carried, const Tensors& elements) {
  b_.graph_ = &Graph::Current();
  absl::StatusOr<Tensors> results = Body(carried, elements);
  if (results.ok()) return *results;
  b_.graph_->Fail(results.status());
  return {};
}

absl::Status NodeBuilder::LoopImporter::BuildBodyNodes(const Tensors& carried,
                                                       const Tensors& elements) {
  SetArgs(loop_.body_args, carried);
  std::set<int> left_out;
  size_t element = 0;
  for (size_t k = 0; k < n_; ++k) {
    Variable& variable = variables_[k];
    const bool leaves =
        variable.collects() || variable.kind == Kind::kPopped || variable.kind == Kind::kDropped;
    if (leaves) left_out.insert(Behind(Result(k)).node);
    // What passes the list on to the result.
    for (FlatTensor at = Result(k); leaves && nodes_.op(at.node) == "Identity";
         at = nodes_.node(at.node).inputs[0])
      left_out.insert(at.node);
    if (variable.kind != Kind::kPopped) continue;
    const List& list = b_.lists_.at(Input(k));
    const Tensor popped = list.same.valid() ? b_.graph_->Inside(list.same) : elements[element++];
    b_.values_[variable.popped.node] = {Tensor(), popped};
    if (list.inner == nullptr) continue;
    List inner = *list.inner;
    (inner.same.valid() ? inner.same : inner.rows) = popped;
    b_.lists_[variable.popped] = inner;
  }
  return BuildMembers(body_nodes_, left_out);
}

absl::StatusOr<Tensors> NodeBuilder::LoopImporter::Body(const Tensors& carried,
                                                        const Tensors& elements) {
  EST_RETURN_IF_ERROR(BuildBodyNodes(carried, elements));
  Tensors results;
  for (size_t k = 0; k < n_; ++k) {
    if (variables_[k].kind == Kind::kCarried) {
      EST_ASSIGN_OR_RETURN(results.emplace_back(), b_.Value(Result(k), node_));
    } else if (variables_[k].kind == Kind::kCarriedList) {
      EST_ASSIGN_OR_RETURN(const List list, b_.ListOf(Result(k)));
      EST_ASSIGN_OR_RETURN(results.emplace_back(), b_.Rows(list, name_));
    }
  }
  for (size_t k = 0; k < n_; ++k) {
    Variable& variable = variables_[k];
    if (!variable.collects()) continue;
    Tensor value;
    if (variable.kind == Kind::kPushed && b_.IsDead(variable.value.node)) {
      // What takes it is in the same branch of the gradient, and is not built either.
      value = b_.graph_->AddConst(Array::Scalar(0), "none");
    } else if (variable.kind == Kind::kPushed && b_.IsList(variable.value)) {
      const List& list = b_.lists_.at(variable.value);
      value = list.same.valid() ? list.same : list.rows;
      if (!value.valid() || !value.shape().fully_known())
        return Unimplemented("keeps lists for its gradient whose largest size is not known");
      variable.same.inner = std::make_shared<const List>(list);
    } else {
      EST_ASSIGN_OR_RETURN(value, b_.Value(variable.value, node_));
    }
    const Tensor inside = b_.graph_->Inside(value);
    if (variable.kind == Kind::kPushed) variable.same.same = OutsideOf(inside);
    variable.stacks = !variable.same.same.valid();
    if (variable.stacks) results.push_back(inside);
    variable.same.element = inside.shape();
  }
  return results;
}

// The tensor outside of the loop that a tensor of the body always is; invalid if it changes.
Tensor NodeBuilder::LoopImporter::OutsideOf(const Tensor& value) const {
  Graph& body = *b_.graph_;
  if (value.node()->op() == "Const")
    return body.outer()->AddConst(value.node()->attrs().get<Array>("value"), "same");
  const auto found = std::find(body.captured().begin(), body.captured().end(), value);
  if (found == body.captured().end()) return Tensor();
  return body.captures()[static_cast<size_t>(found - body.captured().begin())];
}

absl::StatusOr<std::vector<Tensor>> NodeBuilder::LoopImporter::Outputs(const Tensors& results) {
  std::vector<Tensor> outputs(n_);
  size_t next = 0;
  for (size_t k = 0; k < n_; ++k) {
    const Kind kind = variables_[k].kind;
    if (kind != Kind::kCarried && kind != Kind::kCarriedList) continue;
    const Tensor& last = results[next++];
    if (kind == Kind::kCarried) {
      outputs[k] = last;
    } else {
      b_.lists_[{node_, static_cast<int>(k)}] = List::OfRows(last);
    }
  }
  // The number of trips comes after the carried results, and AddLoop leaves it out.
  const int num_carried = static_cast<int>(next);
  for (size_t k = 0; k < n_; ++k) {
    const Variable& variable = variables_[k];
    const FlatTensor at = {node_, static_cast<int>(k)};
    if (variable.kind == Kind::kSet || variable.kind == Kind::kPushed) {
      // Only the rows of the trips are elements, whose number is not static then.
      const FlatNode& last = nodes_.node(Behind(Result(k)).node);
      if (variable.kind == Kind::kPushed && last.op == "TensorListSetItem" && !has_constant_trips_)
        return Unimplemented(
            "fills a TensorArray of a size that depends on the data; if the tensor that decides "
            "it, such as lengths, is the same in each batch, give it as a constant (--feed)");
      List list = {.size = made_.capacity,
                   .dtype = b_.lists_.at(Input(k)).dtype,
                   .element = variable.same.element,
                   .same = variable.same.same,
                   .inner = variable.same.inner};
      if (variable.stacks) list.rows = results[next++];
      b_.lists_[at] = list;
    } else if (variable.kind == Kind::kJoined) {
      // In a gradient's loop, the rows of trips that are not made are zeros, which add nothing to a
      // sum. Elsewhere they would be rows of the result.
      if (!has_constant_trips_ && !made_.reverse)
        return Unimplemented("appends rows in a loop whose number of trips depends on the data");
      EST_ASSIGN_OR_RETURN(const Tensor first, b_.Value(Input(k), node_));
      const Tensor& rows = results[next++];
      if (!rows.shape().fully_known() || rows.rank() < 2)
        return Unimplemented("appends rows in a loop whose largest number of trips is not known");
      outputs[k] = Concat({first, b_.JoinedRows(rows)}, 0, name_);
    } else if (variable.kind == Kind::kPopped) {
      b_.lists_[at] = {.dtype = b_.lists_.at(Input(k)).dtype};
    } else if (variable.kind == Kind::kConstant) {
      if (b_.IsList(Input(k))) {
        b_.lists_[at] = b_.lists_.at(Input(k));
      } else {
        EST_ASSIGN_OR_RETURN(outputs[k], b_.OptionalValue(Input(k), node_));
      }
    }
  }
  for (size_t k = 0; k < n_; ++k) {
    const Variable& variable = variables_[k];
    const Tensor& first = variable.first;
    const bool counts = variable.step != 0 && cond_is_limits_;
    if (variable.kind != Kind::kDropped && !(counts && variable.kind == Kind::kCarried)) continue;
    if (has_constant_trips_ && variable.counts_from.has_value()) {
      const int64_t last = *variable.counts_from + variable.step * trips_;
      outputs[k] = b_.Const(Array::Scalar(last).Cast(first.dtype()).Reshaped(first.shape()), name_);
    } else if (variable.kind == Kind::kDropped) {
      if (results.empty()) return Unimplemented("a loop that computes nothing");
      const Tensor trips =
          Cast(Tensor(b_.graph_, const_cast<Node*>(results[0].node()), num_carried), first.dtype());
      outputs[k] = variable.step > 0 ? Add(first, trips) : Subtract(first, trips);
    }
  }
  return outputs;
}

absl::StatusOr<std::vector<Tensor>> NodeBuilder::BuildLoop(int node) {
  const int around = std::exchange(body_, -1);
  absl::StatusOr<std::vector<Tensor>> outputs = LoopImporter(*this, node).Run();
  body_ = around;
  return outputs;
}

}  // namespace estimator
