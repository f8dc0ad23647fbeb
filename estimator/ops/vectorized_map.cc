// VectorizedMap (functional.h): each op of the function is replaced by one op for all rows.
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "estimator/base/status.h"
#include "estimator/graph/constant_value.h"
#include "estimator/graph/function.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/needed_nodes.h"
#include "estimator/graph/op_registry.h"
#include "estimator/op_def/op_def.h"
#include "estimator/ops/building/builder.h"
#include "estimator/ops/building/loop.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/functional.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/matmul.h"
#include "estimator/ops/reduction.h"
#include "estimator/ops/shape_ops.h"

namespace estimator {
namespace {

// What a tensor of the function is outside: one value for all rows, or [N, ...].
struct Mapped {
  Tensor tensor;
  bool is_batched = false;
};

// `first` in front of the dimensions of `rest` from `from` on.
Shape Joined(std::vector<int64_t> first, const Shape& rest, int from = 0) {
  first.insert(first.end(), rest.dims().begin() + from, rest.dims().end());
  return Shape(std::move(first));
}

// A node of the function, with its operands outside.
class Site {
 public:
  Site(Graph& graph, const Node& node, std::vector<Mapped> operands, int64_t num_rows)
      : node(node), n(num_rows), graph_(graph), operands_(std::move(operands)) {}

  bool is_batched(int i) const { return operands_[static_cast<size_t>(i)].is_batched; }
  const Tensor& raw(int i) const { return operands_[static_cast<size_t>(i)].tensor; }
  int rank(int i) const { return node.input(i).rank(); }
  const Shape& out() const { return node.outputs()[0].shape; }
  Shape all_out() const { return Joined({n}, out()); }

  // Operand i as [N, ...].
  Tensor all(int i) const {
    const Shape& row = node.input(i).shape();
    return is_batched(i) ? raw(i)
                         : BroadcastTo(Reshape(raw(i), Joined({1}, row)), Joined({n}, row));
  }
  Tensors All() const {
    Tensors tensors;
    for (int i = 0; i < node.num_inputs(); ++i) tensors.push_back(all(i));
    return tensors;
  }
  // Operand i with axes of size 1 after N, so that it broadcasts to rows of the rank of the result.
  Tensor Aligned(int i) const {
    if (!is_batched(i) || rank(i) >= out().rank()) return raw(i);
    std::vector<int64_t> first(static_cast<size_t>(1 + out().rank() - rank(i)), 1);
    first[0] = n;
    return Reshape(raw(i), Joined(first, node.input(i).shape()));
  }
  // Operand i, whose rows are [A, ...], as [N * A, ...].
  Tensor Folded(int i) const {
    const Shape& row = node.input(i).shape();
    return Reshape(all(i), Joined({n * row[0]}, row, 1));
  }
  bool IsConstant(int i) const { return ConstantValue(node.input(i)).has_value(); }
  // The numbers of operand i. REQUIRES: IsConstant(i).
  std::vector<int64_t> Numbers(int i) const {
    std::vector<int64_t> numbers;
    const Array value = *ConstantValue(node.input(i));
    for (int64_t k = 0; k < value.num_elements(); ++k)
      numbers.push_back(static_cast<int64_t>(value.AsDouble(k)));
    return numbers;
  }
  // Operand i, which has axes of a tensor of that rank, with the axes of [N, ...].
  std::vector<int64_t> Axes(int i, int rank_of_axes) const {
    std::vector<int64_t> axes = Numbers(i);
    for (int64_t& axis : axes) axis += (axis < 0 ? rank_of_axes : 0) + 1;
    return axes;
  }
  // Other numbers for operand i, which has the given shape.
  Tensor Replaced(int i, const Shape& shape, const std::vector<int64_t>& numbers) const {
    return ConstantIn(graph_, IntArray(shape, numbers).Cast(node.input(i).dtype()));
  }
  Tensor ReplacedAxes(int i, int of) const {
    return Replaced(i, node.input(i).shape(), Axes(i, of));
  }
  // Operand i, which has a number or a row of numbers for each axis, with `first` for N.
  Tensor Prefixed(int i, std::vector<int64_t> first) const {
    const Shape& shape = node.input(i).shape();
    const std::vector<int64_t> rest = Numbers(i);
    first.insert(first.end(), rest.begin(), rest.end());
    return Replaced(i, Joined({shape[0] + 1}, shape, 1), first);
  }
  // The same op on other operands.
  Tensors Again(Tensors inputs, const std::map<std::string, int64_t>& changed = {}) const {
    Attrs attrs = node.attrs();
    for (const auto& [name, value] : changed) attrs.Set(name, value);
    Node* const made = graph_.AddNode(node.op(), std::move(inputs), std::move(attrs), node.name());
    Tensors outputs;
    for (int i = 0; i < node.num_outputs(); ++i) outputs.emplace_back(&graph_, made, i);
    return outputs;
  }

  const Node& node;
  const int64_t n;

 private:
  Graph& graph_;
  const std::vector<Mapped> operands_;
};

// From a node of which an operand is [N, ...] to its results, [N, ...]; none if it has no form for
// these operands.
using Rule = Tensors (*)(const Site& s);

Tensors Elementwise(const Site& s) {
  // These do not broadcast.
  if (s.node.op() == "AddN" || absl::EndsWith(s.node.op(), "Grad")) return s.Again(s.All());
  Tensors inputs;
  for (int i = 0; i < s.node.num_inputs(); ++i) inputs.push_back(s.Aligned(i));
  return s.Again(std::move(inputs));
}
// Ops of the last axes take any axes before them.
Tensors OfLastAxes(const Site& s) { return s.Again(s.All()); }
Tensors View(const Site& s) { return {Reshape(s.raw(0), s.all_out())}; }
template <int kOperand>
Tensors Broadcast(const Site& s) {
  return {BroadcastTo(s.Aligned(kOperand), s.all_out())};
}

// Operand kAxes has axes of operand kOf.
template <int kAxes, int kOf>
Tensors AxesOf(const Site& s) {
  Tensors inputs;
  for (int i = 0; i < s.node.num_inputs(); ++i) {
    inputs.push_back(i == kAxes ? s.ReplacedAxes(i, s.rank(kOf)) : i == kOf ? s.all(i) : s.raw(i));
  }
  return s.Again(std::move(inputs));
}
Tensors Concatenated(const Site& s) {
  Tensors inputs = s.All();
  inputs.back() = s.ReplacedAxes(s.node.num_inputs() - 1, s.out().rank());
  return s.Again(std::move(inputs));
}
Tensors StackOrUnstack(const Site& s) {
  const int64_t axis = s.node.attrs().i("axis"), rank = std::max(s.rank(0), s.out().rank());
  return s.Again(s.All(), {{"axis", axis + (axis < 0 ? rank : 0) + 1}});
}
Tensors OneHotOf(const Site& s) {
  const int64_t axis = s.node.attrs().i("axis");
  if (!s.is_batched(0) || s.is_batched(2) || s.is_batched(3)) return {};
  return s.Again({s.raw(0), s.raw(1), s.raw(2), s.raw(3)}, {{"axis", axis < 0 ? axis : axis + 1}});
}
Tensors Transposed(const Site& s) {
  std::vector<int64_t> perm = s.Axes(1, s.rank(0));
  perm.insert(perm.begin(), 0);
  return s.Again({s.raw(0), s.Replaced(1, Shape{s.rank(0) + 1}, perm)});
}
// Operand 1 has a number of copies or two paddings for each axis.
Tensors TiledOrPadded(const Site& s) {
  Tensors inputs = {s.all(0), s.Prefixed(1, s.rank(1) == 2 ? std::vector<int64_t>{0, 0}
                                                           : std::vector<int64_t>{1})};
  if (s.node.num_inputs() == 2) return s.Again(std::move(inputs));
  inputs.push_back(s.raw(2));  // the padding
  return s.is_batched(2) ? Tensors() : s.Again(std::move(inputs));
}
Tensors Sliced(const Site& s) {
  if (!s.IsConstant(1)) return {};
  return s.Again({s.raw(0), s.Prefixed(1, {0}), s.Prefixed(2, {s.n})});
}
Tensors StridedlySliced(const Site& s) {
  if (!s.IsConstant(1) || !s.IsConstant(2)) return {};
  const Attrs& attrs = s.node.attrs();
  // All of N: bit 0 of the masks is its.
  std::map<std::string, int64_t> masks;
  for (const char* mask : {"ellipsis_mask", "new_axis_mask", "shrink_axis_mask"})
    masks[mask] = attrs.i(mask) << 1;
  for (const char* mask : {"begin_mask", "end_mask"}) masks[mask] = attrs.i(mask) << 1 | 1;
  const bool is_gradient = s.node.op() == "StridedSliceGrad";
  Tensors inputs = {is_gradient ? s.Prefixed(0, {s.n}) : s.raw(0), s.Prefixed(1, {0}),
                    s.Prefixed(2, {0}), s.Prefixed(3, {1})};
  if (is_gradient) inputs.push_back(s.all(4));
  return s.Again(std::move(inputs), masks);
}

Tensors Multiplied(const Site& s) {
  const bool ta = s.node.attrs().b("transpose_a"), tb = s.node.attrs().b("transpose_b");
  // One large product is faster than many small ones.
  if (!s.is_batched(1) && !ta)
    return {Reshape(MatMul(s.Folded(0), s.raw(1), {.transpose_b = tb}), s.all_out())};
  return {BatchMatMulV2(s.raw(0), s.raw(1), {.adj_x = ta, .adj_y = tb})};
}
Tensors Gathered(const Site& s) {
  const int64_t batch_dims = s.node.attrs().i("batch_dims");
  // One table for all rows.
  if (!s.is_batched(0) && s.Numbers(2)[0] == 0 && batch_dims == 0)
    return s.Again({s.raw(0), s.raw(1), s.raw(2)});
  return s.Again({s.all(0), s.all(1), s.ReplacedAxes(2, s.rank(0))},
                 {{"batch_dims", batch_dims + 1}});
}

// Ops that have a batch already, in their first kFolded operands and in all results.
template <int kFolded>
Tensors WithBatch(const Site& s) {
  Tensors inputs;
  for (int i = 0; i < s.node.num_inputs(); ++i) {
    if (i >= kFolded && s.is_batched(i)) return {};
    inputs.push_back(i < kFolded ? s.Folded(i) : s.raw(i));
  }
  Tensors outputs = s.Again(std::move(inputs));
  for (size_t i = 0; i < outputs.size(); ++i)
    outputs[i] = Reshape(outputs[i], Joined({s.n}, s.node.outputs()[i].shape));
  return outputs;
}
Tensors ConvolvedBack(const Site& s) {
  if (s.is_batched(1)) return {};
  std::vector<int64_t> sizes = s.Numbers(0);
  sizes[0] *= s.n;
  const Tensors made = s.Again({s.Replaced(0, {4}, sizes), s.raw(1), s.Folded(2)});
  return {Reshape(made[0], s.all_out())};
}
// The sum over the axes of the rows, up to axis `end`.
Tensor SumOfRow(const Tensor& x, int end) {
  std::vector<int64_t> axes;
  for (int axis = 1; axis < end; ++axis) axes.push_back(axis);
  return ReduceSum(x, axes);
}
Tensors BiasGradient(const Site& s) { return {SumOfRow(s.raw(0), s.rank(0))}; }
Tensors HalfOfSquares(const Site& s) { return {SumOfRow(Square(s.raw(0)), s.rank(0) + 1) * 0.5}; }

Rule FindRule(const std::string& op) {
  static const auto& rules = *new std::map<std::string, Rule>([] {
    std::map<std::string, Rule> all;
    for (const auto& [ops, rule] : std::initializer_list<std::pair<const char*, Rule>>{
             {"LogicalAnd LogicalOr LogicalNot ZerosLike OnesLike Identity StopGradient "
              "BatchMatMulV2",
              Elementwise},
             {"Softmax LogSoftmax MatrixDiag MatrixDiagPart Cholesky MatrixInverse", OfLastAxes},
             {"All Any ArgMax ArgMin Cumsum Cumprod ReverseV2", AxesOf<1, 0>},
             {"Split", AxesOf<0, 1>},
             {"SplitV", AxesOf<2, 0>},
             {"ConcatV2", Concatenated},
             {"Pack Unpack", StackOrUnstack},
             {"OneHot", OneHotOf},
             {"BroadcastTo", Broadcast<0>},
             {"Fill", Broadcast<1>},
             {"Transpose", Transposed},
             {"Tile Pad PadV2 MirrorPad MirrorPadGrad", TiledOrPadded},
             {"Slice", Sliced},
             {"StridedSlice StridedSliceGrad", StridedlySliced},
             {"MatMul", Multiplied},
             {"GatherV2", Gathered},
             {"BiasAddGrad", BiasGradient},
             {"L2Loss", HalfOfSquares},
             {"BiasAdd Conv2D DepthwiseConv2dNative MaxPool AvgPool", WithBatch<1>},
             {"SoftmaxCrossEntropyWithLogits SparseSoftmaxCrossEntropyWithLogits", WithBatch<2>},
             {"MaxPoolGrad", WithBatch<3>},
             {"Conv2DBackpropInput", ConvolvedBack}}) {
      for (const absl::string_view name : absl::StrSplit(ops, ' ')) all[std::string(name)] = rule;
    }
    return all;
  }());
  const auto found = rules.find(op);
  if (found != rules.end()) return found->second;
  const OpTraits& traits = TraitsOf(op);
  return traits.elementwise ? Elementwise
         : traits.reduction ? AxesOf<1, 0>
         : traits.view      ? View
                            : nullptr;
}

// The results of `node` outside; none if there is no form for all rows.
std::vector<Mapped> Map(Graph& graph, const Node& node, std::vector<Mapped> operands, int64_t n) {
  Tensors raw, results;
  for (const Mapped& operand : operands) raw.push_back(operand.tensor);
  bool is_batched = std::any_of(operands.begin(), operands.end(),
                                [](const Mapped& operand) { return operand.is_batched; });
  const Site site(graph, node, std::move(operands), n);
  if (node.rules().stateful) {
    // A random op draws other numbers for each row.
  } else if (node.op() == "Shape" || node.op() == "Size" || node.op() == "Rank") {
    const Tensor shape(const_cast<Graph*>(node.input(0).graph()), const_cast<Node*>(&node), 0);
    results = {ConstantIn(graph, *ConstantValue(shape))};
    is_batched = false;
  } else if (!is_batched) {
    results = site.Again(std::move(raw));
  } else if (const Rule rule = FindRule(node.op())) {
    results = rule(site);
  }
  std::vector<Mapped> mapped;
  for (const Tensor& result : results) mapped.push_back({result, is_batched});
  return mapped;
}

}  // namespace

Tensors VectorizedMap(const std::function<Tensors(const Tensors&)>& fn, const Tensors& elems,
                      StringArg name) {
  Graph& graph = GraphFor(elems);
  const int64_t n = NumRows(graph, "VectorizedMap", elems);
  if (n < 0) return {};
  std::vector<TensorSpec> rows;
  for (const Tensor& elem : elems) rows.push_back({elem.dtype(), elem.shape().Row()});
  const std::shared_ptr<Function> body = Function::Build(graph, name, rows, fn);
  if (body == nullptr) return {};
  if (!body->graph().body_updates().empty()) {
    graph.Fail(Unimplemented("the function of VectorizedMap updates variable '",
                             body->graph().body_updates()[0].variable.name(),
                             "'; return its value, and assign it outside"));
    return {};
  }
  const NameScope scope(name, graph);
  std::map<Tensor, Mapped> outside;  // by the tensors of the body
  for (size_t i = 0; i < elems.size(); ++i) outside[body->parameters()[i]] = {elems[i], true};
  for (size_t i = 0; i < body->captures().size(); ++i)
    outside[body->captured()[i]] = {body->captures()[i], false};
  for (const Node* node : NeededNodes(body->graph(), body->results())) {
    if (node->op() == "Placeholder") continue;
    std::vector<Mapped> operands;
    for (const Tensor& input : node->inputs()) operands.push_back(outside.at(input));
    const std::vector<Mapped> results = Map(graph, *node, std::move(operands), n);
    if (results.empty()) {
      graph.Fail(Unimplemented("'", node->name(), "' (", node->op(), ") of the function of ",
                               "VectorizedMap has no form for all rows at once; use MapFn, which ",
                               "runs the function for one row after the other"));
    }
    if (!graph.status().ok()) return {};
    for (size_t i = 0; i < results.size(); ++i)
      outside[Tensor(&body->graph(), const_cast<Node*>(node), static_cast<int>(i))] = results[i];
  }
  Tensors stacked;
  for (const Tensor& result : body->results()) {
    const auto& [tensor, is_batched] = outside.at(result);
    stacked.push_back(is_batched ? tensor : BroadcastTo(tensor, Joined({n}, result.shape())));
  }
  return stacked;
}

}  // namespace estimator
