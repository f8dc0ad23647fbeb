#include "estimator/ops/pooling.h"

#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/op_registry.h"
#include "estimator/kernels/window.h"
#include "estimator/ops/building/shape_checks.h"
#include "estimator/ops/building/window_attrs.h"
#include "estimator/ops/reduction.h"

namespace estimator {
namespace {

Attrs AttrsOf(const PoolOptions& options) {
  Attrs attrs = WindowAttrs(options.strides, options.padding, {});
  attrs.Set("ksize", PerAxis(options.ksize));
  return attrs;
}

absl::StatusOr<Shape> PooledShape(const Attrs& attrs, const Shape& input) {
  if (input.rank() != 4) {
    return InvalidArgument("input has rank ", input.rank(),
                           ", expected 4 (batch, rows, columns, channels)");
  }
  const std::vector<int64_t>& ksize = attrs.ints("ksize");
  if (ksize.size() != 4 || ksize[0] != 1 || ksize[3] != 1) {
    return InvalidArgument("ksize must be 4 numbers, with 1 for batch and channels");
  }
  EST_ASSIGN_OR_RETURN(const Window2D windows, MakeWindow2D(attrs, input, ksize[1], ksize[2]));
  return Shape{input.dim(0), windows.rows.output, windows.columns.output, input.dim(3)};
}

OutputSpecs PoolShape(const ShapeContext& c) {
  EST_RETURN_IF_ERROR(CheckFloating(c.input(0), "input"));
  EST_ASSIGN_OR_RETURN(const Shape pooled, PooledShape(c.attrs, c.input(0).shape));
  return std::vector<TensorSpec>{{c.input(0).dtype, pooled}};
}

// MaxPoolGrad: from x, y and the gradient of y, the gradient of x. MaxPoolGradGrad: from x, y and
// the gradient of x, the gradient at each maximum.
//   kLike: the input that the gradient is like. The result is like the other one.
template <int kLike>
OutputSpecs MaxPoolGradShape(const ShapeContext& c) {
  EST_RETURN_IF_ERROR(CheckFloating(c.input(0), "input"));
  EST_RETURN_IF_ERROR(CheckSameDType(c));
  EST_ASSIGN_OR_RETURN(const Shape pooled, PooledShape(c.attrs, c.input(0).shape));
  EST_RETURN_IF_ERROR(CheckShape(c.input(1), pooled, "orig_output"));
  EST_RETURN_IF_ERROR(CheckShape(c.input(2), c.input(kLike).shape, "grad"));
  return std::vector<TensorSpec>{c.input(1 - kLike)};
}

OutputSpecs AvgPoolGradShape(const ShapeContext& c) {
  EST_RETURN_IF_ERROR(CheckFloating(c.input(1), "grad"));
  EST_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, c.ConstantInts(0));
  const Shape input(sizes);
  EST_ASSIGN_OR_RETURN(const Shape pooled, PooledShape(c.attrs, input));
  EST_RETURN_IF_ERROR(CheckShape(c.input(1), pooled, "grad"));
  return std::vector<TensorSpec>{{c.input(1).dtype, input}};
}

Tensor AvgPoolGradOf(const Shape& input, const Tensor& grad, const Attrs& attrs,
                     absl::string_view name = "") {
  const Tensor sizes = ShapeInput(GraphFor({grad}), input, "orig_input_shape");
  return AddOp("AvgPoolGrad", {sizes, grad}, attrs, name);
}

// The gradient of a gradient op that is linear in its last operand: `op` of the others.
GradientFn ByLastOperand(const char* op) {
  return [op](const Node& node, const Tensors& grads) -> Tensors {
    return {Tensor(), Tensor(), AddOp(op, {node.input(0), node.input(1), grads[0]}, node.attrs())};
  };
}

EST_REGISTER_OP("MaxPool", PoolShape, [](const Node& node, const Tensors& grads) -> Tensors {
  const Tensor y = ResultOf(node);
  return {AddOp("MaxPoolGrad", {node.input(0), y, grads[0]}, node.attrs())};
});
// MaxPoolGrad moves the elements of its last operand to the maxima, and MaxPoolGradGrad back.
EST_REGISTER_OP("MaxPoolGrad", MaxPoolGradShape<1>, ByLastOperand("MaxPoolGradGrad"));
EST_REGISTER_OP("MaxPoolGradGrad", MaxPoolGradShape<0>, ByLastOperand("MaxPoolGrad"));
EST_REGISTER_OP("AvgPool", PoolShape, [](const Node& node, const Tensors& grads) -> Tensors {
  return {AvgPoolGradOf(node.input(0).shape(), grads[0], node.attrs())};
});
EST_REGISTER_OP("AvgPoolGrad", AvgPoolGradShape,
                [](const Node& node, const Tensors& grads) -> Tensors {
                  return {Tensor(), AddOp("AvgPool", {grads[0]}, node.attrs())};
                });

}  // namespace

Tensor MaxPool(const Tensor& x, const PoolOptions& options) {
  return AddOp("MaxPool", {x}, AttrsOf(options), options.name);
}

Tensor AvgPool(const Tensor& x, const PoolOptions& options) {
  return AddOp("AvgPool", {x}, AttrsOf(options), options.name);
}

Tensor MaxPoolGrad(const Tensor& x, const Tensor& y, const Tensor& grad,
                   const PoolOptions& options) {
  return AddOp("MaxPoolGrad", {x, y, grad}, AttrsOf(options), options.name);
}

Tensor AvgPoolGrad(const Shape& input, const Tensor& grad, const PoolOptions& options) {
  return AvgPoolGradOf(input, grad, AttrsOf(options), options.name);
}

Tensor GlobalAvgPool(const Tensor& x, bool keepdims) {
  return ReduceMean(x, {1, 2}, {.keepdims = keepdims});
}

Tensor GlobalMaxPool(const Tensor& x, bool keepdims) {
  return ReduceMax(x, {1, 2}, {.keepdims = keepdims});
}

}  // namespace estimator
