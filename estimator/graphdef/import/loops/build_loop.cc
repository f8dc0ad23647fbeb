// NodeBuilder: While, as one loop of ours (ops/while_loop.h).
//
// TensorFlow's loops write their conditions and lists out. Here they get back the form in which a
// loop is planned and differentiated:
//   a variable that grows by 1, and a condition that compares it with a number: the trips
//   a list of which trip t sets element t, or to which it appends: a stacked result
//   a list from which each trip takes the last element (a gradient's loop): a scanned operand of a
//   loop in reverse
//   a variable that does not change: a captured tensor
// Any other variable is carried, a list as the tensor of its elements.
#include <algorithm>
#include <limits>
#include <set>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/graph/constant_value.h"
#include "estimator/graph/function.h"
#include "estimator/graphdef/import/node_builder.h"
#include "estimator/graphdef/import/op_kinds.h"
#include "estimator/graphdef/node_attr.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/shape_ops.h"
#include "estimator/ops/building/loop.h"

namespace estimator {
namespace {

constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();

std::optional<int64_t> ConstantInt(const Tensor& tensor) {
  if (!tensor.valid() || !IsInteger(tensor.dtype()) || tensor.shape().num_elements() != 1)
    return std::nullopt;
  const std::optional<Array> value = ConstantValue(tensor);
  if (!value.has_value()) return std::nullopt;
  return static_cast<int64_t>(value->AsDouble());
}

}  // namespace

class NodeBuilder::LoopImporter {
 public:
  LoopImporter(NodeBuilder& builder, int node)
      : b_(builder),
        nodes_(builder.nodes_),
        node_(node),
        name_(builder.NameOf(node)),
        loop_(builder.nodes_.loop(node)),
        n_(loop_.constant.size()) {}

  absl::StatusOr<std::vector<Tensor>> Run() {
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

 private:
  enum class Kind { kConstant, kCarried, kCarriedList, kSet, kPushed, kPopped, kDropped };
  struct Variable {
    Kind kind = Kind::kCarried;
    std::optional<int64_t> counts_from;  // it grows by 1 at each trip
    FlatTensor value;                    // kSet, kPushed: the element of a trip
    FlatTensor popped;                   // kPopped: what takes the last element
    List same = {};                      // kPushed: same.same, if all elements are one tensor
    bool stacks = false;                 // it is a stacked result
  };

  FlatTensor Input(size_t k) const { return nodes_.node(node_).inputs[k]; }
  FlatTensor Result(size_t k) const { return Input(n_ + 1 + k); }
  FlatTensor Behind(FlatTensor at) const { return nodes_.BehindIdentities(at); }
  bool IsArg(FlatTensor at, size_t k) const {
    return loop_.body_args[k] >= 0 && Behind(at) == FlatTensor{loop_.body_args[k], 0};
  }
  int Uses(size_t k) const {
    const auto found = uses_.find({loop_.body_args[k], 0});
    return found == uses_.end() ? 0 : found->second;
  }

  // The nodes of the condition and the body, each after its inputs.
  absl::Status FindMembers() {
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
  int CounterOf(FlatTensor at, const std::vector<int>& args) const {
    at = Behind(at);
    for (size_t k = 0; k < n_; ++k)
      if (args[k] == at.node && variables_[k].counts_from.has_value()) return static_cast<int>(k);
    return -1;
  }

  absl::Status FindKinds() {
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

  absl::Status FindListKind(size_t k) {
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
  absl::Status FindTrips() {
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

  absl::Status AddOperands() {
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
    made_.capacity = set_size.value_or(trips_ == kNoLimit ? -1 : trips_);
    for (size_t k = 0; k < n_; ++k) {
      Variable& variable = variables_[k];
      const bool counts = variable.kind == Kind::kCarried && variable.counts_from.has_value();
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

  static bool IsUnshaped(const List& list) {
    return list.size >= 0 && !list.rows.valid() && !list.item.valid() && !list.element.has_value();
  }

  // TensorFlow need not know the shape of a list's elements before it runs. The body tells it, so
  // it is built once for that.
  absl::Status FindElementShapes() {
    for (size_t k = 0; k < n_; ++k) EST_RETURN_IF_ERROR(AddOperand(k));
    std::vector<TensorSpec> specs;
    for (const Tensor& tensor : made_.carried) specs.push_back(tensor.spec());
    for (const Tensor& tensor : made_.scanned)
      specs.push_back({tensor.dtype(), tensor.shape().Row()});
    const auto build = [this](const Tensors& parameters) {
      const auto elements = parameters.begin() + static_cast<int64_t>(made_.carried.size());
      b_.graph_ = &Graph::Current();
      const absl::Status status =
          BuildBodyNodes({parameters.begin(), elements}, {elements, parameters.end()});
      if (!status.ok()) b_.graph_->Fail(status);
      return Tensors();
    };
    Graph* const graph = b_.graph_;
    const auto function = Function::Build(*graph, "body", specs, build);
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

  absl::Status AddOperand(size_t k) {
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
  void SetArgs(const std::vector<int>& args, const Tensors& carried) {
    size_t next = 0;
    for (size_t k = 0; k < n_; ++k) {
      const Variable& variable = variables_[k];
      const bool is_carried = variable.kind == Kind::kCarried ||
                              (variable.kind == Kind::kCarriedList && unshaped_.count(k) == 0);
      const Tensor value = is_carried ? carried[next++] : Tensor();
      if (args[k] < 0) continue;
      b_.values_[args[k]] = {variable.kind == Kind::kCarried ? value : Tensor()};
      if (b_.IsList(Input(k))) {
        List list = b_.lists_.at(Input(k));
        if (value.valid())
          list = {.rows = value,
                  .size = list.size,
                  .dtype = list.dtype,
                  .element = value.shape().Row()};
        b_.lists_[{args[k], 0}] = list;
      }
    }
  }

  absl::Status BuildMembers(const std::vector<int>& members, const std::set<int>& left_out) {
    for (const int i : members) {
      if (left_out.count(i) == 0) EST_RETURN_IF_ERROR(b_.Build(i));
    }
    return absl::OkStatus();
  }

  Tensor BuildCond(const Tensors& carried) {
    b_.graph_ = &Graph::Current();
    SetArgs(loop_.cond_args, carried);
    absl::Status status = BuildMembers(cond_nodes_, {});
    absl::StatusOr<Tensor> result = Tensor();
    if (status.ok()) result = b_.Value(Input(n_), node_);
    if (!result.ok()) status = result.status();
    if (!status.ok()) return b_.graph_->Fail(status);
    return *result;
  }

  Tensors BuildBody(const Tensors& carried, const Tensors& elements) {
    b_.graph_ = &Graph::Current();
    absl::StatusOr<Tensors> results = Body(carried, elements);
    if (results.ok()) return *results;
    b_.graph_->Fail(results.status());
    return {};
  }

  absl::Status BuildBodyNodes(const Tensors& carried, const Tensors& elements) {
    SetArgs(loop_.body_args, carried);
    std::set<int> left_out;
    size_t element = 0;
    for (size_t k = 0; k < n_; ++k) {
      Variable& variable = variables_[k];
      const bool leaves = variable.kind == Kind::kSet || variable.kind == Kind::kPushed ||
                          variable.kind == Kind::kPopped || variable.kind == Kind::kDropped;
      if (leaves) left_out.insert(Behind(Result(k)).node);
      // What passes the list on to the result.
      for (FlatTensor at = Result(k); leaves && nodes_.op(at.node) == "Identity";
           at = nodes_.node(at.node).inputs[0])
        left_out.insert(at.node);
      if (variable.kind != Kind::kPopped) continue;
      const Tensor& same = b_.lists_.at(Input(k)).same;
      b_.values_[variable.popped.node] = {
          Tensor(), same.valid() ? b_.graph_->Inside(same) : elements[element++]};
    }
    return BuildMembers(body_nodes_, left_out);
  }

  absl::StatusOr<Tensors> Body(const Tensors& carried, const Tensors& elements) {
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
      if (variable.kind != Kind::kSet && variable.kind != Kind::kPushed) continue;
      EST_ASSIGN_OR_RETURN(const Tensor value, b_.Value(variable.value, node_));
      const Tensor inside = b_.graph_->Inside(value);
      if (variable.kind == Kind::kPushed) variable.same.same = OutsideOf(inside);
      variable.stacks = !variable.same.same.valid();
      if (variable.stacks) results.push_back(inside);
      variable.same.element = inside.shape();
    }
    return results;
  }

  // The tensor outside of the loop that a tensor of the body always is; invalid if it changes.
  Tensor OutsideOf(const Tensor& value) const {
    Graph& body = *b_.graph_;
    if (value.node()->op() == "Const")
      return body.outer()->AddConst(value.node()->attrs().get<Array>("value"), "same");
    const auto found = std::find(body.captured().begin(), body.captured().end(), value);
    if (found == body.captured().end()) return Tensor();
    return body.captures()[static_cast<size_t>(found - body.captured().begin())];
  }

  absl::StatusOr<std::vector<Tensor>> Outputs(const Tensors& results) {
    std::vector<Tensor> outputs(n_);
    size_t next = 0;
    for (size_t k = 0; k < n_; ++k) {
      const Kind kind = variables_[k].kind;
      if (kind != Kind::kCarried && kind != Kind::kCarriedList) continue;
      const Tensor& last = results[next++];
      if (kind == Kind::kCarried) {
        outputs[k] = last;
      } else {
        List& list = b_.lists_[{node_, static_cast<int>(k)}];
        list = {.rows = last,
                .size = last.dim(0),
                .dtype = last.dtype(),
                .element = last.shape().Row()};
      }
    }
    // The number of trips comes after the carried results, and AddLoop leaves it out.
    const int num_carried = static_cast<int>(next);
    for (size_t k = 0; k < n_; ++k) {
      const Variable& variable = variables_[k];
      const FlatTensor at = {node_, static_cast<int>(k)};
      if (variable.kind == Kind::kSet || variable.kind == Kind::kPushed) {
        List list = {.size = made_.capacity,
                     .dtype = b_.lists_.at(Input(k)).dtype,
                     .element = variable.same.element,
                     .same = variable.same.same};
        if (variable.stacks) list.rows = results[next++];
        b_.lists_[at] = list;
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
      const bool counts = variable.counts_from.has_value() && cond_is_limits_;
      if (variable.kind != Kind::kDropped && !(counts && variable.kind == Kind::kCarried)) continue;
      EST_ASSIGN_OR_RETURN(const Tensor first, b_.Value(Input(k), node_));
      if (has_constant_trips_) {
        outputs[k] =
            b_.Const(Array::Scalar(*variable.counts_from + trips_).Cast(first.dtype()), name_);
      } else if (variable.kind == Kind::kDropped) {
        if (results.empty()) return Unimplemented("a loop that computes nothing");
        const Tensor trips(b_.graph_, const_cast<Node*>(results[0].node()), num_carried);
        outputs[k] = Add(first, Cast(trips, first.dtype()));
      }
    }
    return outputs;
  }

  NodeBuilder& b_;
  const FlatGraph& nodes_;
  const int node_;
  const std::string name_;
  const FlatLoop loop_;
  const size_t n_;
  std::vector<int> body_nodes_, cond_nodes_;
  std::map<FlatTensor, int> uses_;
  std::vector<Variable> variables_;
  std::set<size_t> unshaped_;  // lists whose elements have no known shape yet
  bool cond_is_limits_ = false, has_constant_trips_ = false;
  int64_t trips_ = kNoLimit;  // as far as it is a constant
  LoopSpec made_;
};

absl::StatusOr<std::vector<Tensor>> NodeBuilder::BuildLoop(int node) {
  return LoopImporter(*this, node).Run();
}

}  // namespace estimator
