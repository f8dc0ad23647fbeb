#include "estimator/ops/softmax.h"

#include <numeric>
#include <utility>
#include <vector>

#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/op_registry.h"
#include "estimator/ops/building/shape_checks.h"
#include "estimator/ops/comparison.h"
#include "estimator/ops/manipulation.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/reduction.h"
#include "estimator/ops/select.h"
#include "estimator/ops/shape_ops.h"

namespace estimator {
namespace {

OutputSpecs SoftmaxShape(const ShapeContext& c) {
  EST_RETURN_IF_ERROR(CheckFloating(c.input(0), "logits"));
  if (c.input(0).shape.rank() < 1)
    return InvalidArgument("logits is a scalar, expected rank 1 or more");
  return std::vector<TensorSpec>{c.input(0)};
}

OutputSpecs CrossEntropyShape(const ShapeContext& c) {
  EST_RETURN_IF_ERROR(CheckFloating(c.input(0), "logits"));
  EST_RETURN_IF_ERROR(CheckSameDType(c));
  EST_RETURN_IF_ERROR(CheckRank(c.input(0), 2, "logits", "(batch, classes)"));
  EST_RETURN_IF_ERROR(CheckShape(c.input(1), c.input(0).shape, "labels"));
  return std::vector<TensorSpec>{{c.input(0).dtype, {c.input(0).shape.dim(0)}}, c.input(0)};
}

OutputSpecs SparseCrossEntropyShape(const ShapeContext& c) {
  EST_RETURN_IF_ERROR(CheckFloating(c.input(0), "logits"));
  EST_RETURN_IF_ERROR(CheckRank(c.input(0), 2, "logits", "(batch, classes)"));
  const TensorSpec& labels = c.input(1);
  if (labels.dtype != DType::kInt32 && labels.dtype != DType::kInt64) {
    return InvalidArgument("labels is ", DTypeName(labels.dtype),
                           ", expected int32 or int64: Cast it, or use ",
                           "SoftmaxCrossEntropyWithLogits if these are one-hot labels");
  }
  EST_RETURN_IF_ERROR(CheckShape(labels, {c.input(0).shape.dim(0)}, "labels"));
  return std::vector<TensorSpec>{{c.input(0).dtype, {c.input(0).shape.dim(0)}}, c.input(0)};
}

// The gradient of logits, from the gradients of the outputs loss and backprop. grads[1] gives
// the second derivative: d(softmax) applied to grads[1].
Tensor LogitsGradient(const Node& node, const Tensors& grads) {
  const Tensor& logits = node.input(0);
  Tensor result;
  if (grads[0].valid()) result = ExpandDims(grads[0], -1) * ResultOf(node, 1);
  if (grads[1].valid()) {
    const Tensor p = Softmax(logits);
    const Tensor second = (grads[1] - ReduceSum(grads[1] * p, -1, {.keepdims = true})) * p;
    result = result.valid() ? result + second : second;
  }
  return result;
}

EST_REGISTER_OP("Softmax", SoftmaxShape, [](const Node& node, const Tensors& grads) -> Tensors {
  const Tensor y = ResultOf(node, 0);
  return {(grads[0] - ReduceSum(grads[0] * y, -1, {.keepdims = true})) * y};
});
EST_REGISTER_OP("LogSoftmax", SoftmaxShape, [](const Node& node, const Tensors& grads) -> Tensors {
  const Tensor y = ResultOf(node, 0);
  return {grads[0] - ReduceSum(grads[0], -1, {.keepdims = true}) * Exp(y)};
});
EST_REGISTER_OP("SoftmaxCrossEntropyWithLogits", CrossEntropyShape,
                [](const Node& node, const Tensors& grads) -> Tensors {
                  Tensor labels;
                  if (grads[0].valid())
                    labels = -ExpandDims(grads[0], -1) * LogSoftmax(node.input(0));
                  if (grads[1].valid()) labels = labels.valid() ? labels - grads[1] : -grads[1];
                  return {LogitsGradient(node, grads), labels};
                });
EST_REGISTER_OP("SparseSoftmaxCrossEntropyWithLogits", SparseCrossEntropyShape,
                [](const Node& node, const Tensors& grads) -> Tensors {
                  return {LogitsGradient(node, grads), Tensor()};
                });

// The permutation that swaps `axis` and the last one; empty if they are the same.
// Errors: INVALID_ARGUMENT if axis is out of range.
absl::StatusOr<std::vector<int64_t>> ToLast(const Tensor& x, int axis, absl::string_view name) {
  const int rank = x.rank();
  if (axis < -rank || axis >= rank) {
    return InvalidArgument(name, ": axis ", axis, " is not in [", -rank, ", ", rank, ") (",
                           x.spec().ToString(), ")");
  }
  const int from = axis < 0 ? axis + rank : axis;
  if (from == rank - 1) return std::vector<int64_t>();
  std::vector<int64_t> perm(static_cast<size_t>(rank));
  std::iota(perm.begin(), perm.end(), int64_t{0});
  std::swap(perm[static_cast<size_t>(from)], perm.back());
  return perm;
}

Tensor AlongAxis(absl::string_view op, const Tensor& x, int axis, absl::string_view name) {
  Graph& graph = GraphFor({x});
  if (!x.valid() || x.rank() == 0) return graph.AddOp(op, {x}, {}, name);
  const auto perm = ToLast(x, axis, name);
  if (!perm.ok()) return graph.Fail(perm.status());
  if (perm->empty()) return graph.AddOp(op, {x}, {}, name);
  const NameScope scope(name, graph);
  return Transpose(graph.AddOp(op, {Transpose(x, *perm)}), *perm);
}

Shape WithoutLast(const Shape& shape) {
  return Shape(std::vector<int64_t>(shape.dims().begin(), shape.dims().end() - 1));
}

}  // namespace

Tensor Softmax(const Tensor& logits, int axis, StringArg name) {
  return AlongAxis("Softmax", logits, axis, name);
}

Tensor LogSoftmax(const Tensor& logits, int axis, StringArg name) {
  return AlongAxis("LogSoftmax", logits, axis, name);
}

Tensor SoftmaxCrossEntropyWithLogits(const Tensor& labels, const Tensor& logits, int axis,
                                     StringArg name) {
  Graph& graph = GraphFor({logits, labels});
  const char* const op = "SoftmaxCrossEntropyWithLogits";
  // Matrices need no reshaping. Operands that do not fit go to the op's shape rule, which reports
  // the error.
  if (!logits.valid() || !labels.valid() || logits.rank() == 0 ||
      !(labels.shape() == logits.shape()) || (logits.rank() == 2 && (axis == -1 || axis == 1))) {
    return AddOpN(op, 2, {logits, labels}, {}, name)[0];
  }
  const auto perm = ToLast(logits, axis, name);
  if (!perm.ok()) return graph.Fail(perm.status());
  const NameScope scope(name, graph);
  const auto rows = [&perm](const Tensor& x) {
    const Tensor last = perm->empty() ? x : Transpose(x, *perm);
    return std::pair(Reshape(last, {-1, last.dim(-1)}), WithoutLast(last.shape()));
  };
  const auto [flat, shape] = rows(logits);
  Tensor loss = Reshape(AddOpN(op, 2, {flat, rows(labels).first})[0], shape);
  if (perm->empty()) return loss;
  // After the swap, the last axis of logits is where the classes were. Move it back to the end.
  const size_t hole = static_cast<size_t>(axis < 0 ? axis + logits.rank() : axis);
  std::vector<int64_t> order;
  for (size_t i = 0; i < perm->size() - 1; ++i) {
    if (i != hole) order.push_back(static_cast<int64_t>(i));
  }
  order.push_back(static_cast<int64_t>(hole));
  return Transpose(loss, order);
}

Tensor SparseSoftmaxCrossEntropyWithLogits(const Tensor& labels, const Tensor& logits,
                                           StringArg name) {
  const char* const op = "SparseSoftmaxCrossEntropyWithLogits";
  if (!logits.valid() || !labels.valid() || logits.rank() < 1 || logits.rank() == 2 ||
      !(labels.shape() == WithoutLast(logits.shape()))) {
    return AddOpN(op, 2, {logits, labels}, {}, name)[0];
  }
  const NameScope scope(name, GraphFor({logits}));
  const Tensor flat = Reshape(logits, {-1, logits.dim(-1)});
  return Reshape(AddOpN(op, 2, {flat, Reshape(labels, Shape{-1})})[0], labels.shape());
}

Tensor SigmoidCrossEntropyWithLogits(const Tensor& labels, const Tensor& logits, StringArg name) {
  Graph& graph = GraphFor({logits, labels});
  const NameScope scope(name, graph);
  if (logits.valid() && labels.valid() && !(labels.spec() == logits.spec())) {
    return graph.Fail(InvalidArgument("labels and logits differ: ", labels.spec().ToString(),
                                      " and ", logits.spec().ToString()));
  }
  const Tensor positive = GreaterEqual(logits, 0);
  const Tensor relu = Where(positive, logits, 0);
  const Tensor negative_abs = Where(positive, -logits, logits);
  return relu - logits * labels + Log1p(Exp(negative_abs));
}

}  // namespace estimator
