#include "estimator/ops/reduction.h"

#include "absl/strings/str_join.h"
#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/indexed_slices.h"
#include "estimator/graph/op_registry.h"
#include "estimator/ops/building/builder.h"
#include "estimator/ops/building/shape_rules.h"
#include "estimator/ops/comparison.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/scan.h"
#include "estimator/ops/select.h"
#include "estimator/ops/shape_ops.h"

namespace estimator {
namespace {

// `from` without the reduced axes, or with size 1 in their place.
Shape WithoutAxes(const Shape& from, const std::vector<bool>& reduced, bool keep) {
  Shape to;
  for (size_t i = 0; i < reduced.size(); ++i) {
    if (!reduced[i])
      to.push_back(from.dims()[i]);
    else if (keep)
      to.push_back(1);
  }
  return to;
}

OutputSpecs ReductionRule(const ShapeContext& context) {
  EST_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, context.ConstantInts(1));
  const Shape& from = context.input(0).shape;
  std::vector<bool> reduced(from.dims().size(), false);
  for (const int64_t given : axes) {
    EST_ASSIGN_OR_RETURN(const int axis, CheckAxis(given, from.rank()));
    if (reduced[static_cast<size_t>(axis)]) {
      return InvalidArgument("axis ", given, " is given twice in [", absl::StrJoin(axes, ","), "]");
    }
    reduced[static_cast<size_t>(axis)] = true;
  }
  return std::vector<TensorSpec>{
      {context.input(0).dtype, WithoutAxes(from, reduced, context.attrs.b("keep_dims"))}};
}

OutputSpecs NumberReductionRule(const ShapeContext& context) {
  EST_RETURN_IF_ERROR(CheckNumber(context.input(0)));
  return ReductionRule(context);
}

OutputSpecs BoolReductionRule(const ShapeContext& context) {
  if (context.input(0).dtype != DType::kBool) {
    return InvalidArgument("reduces bool, not ", DTypeName(context.input(0).dtype));
  }
  return ReductionRule(context);
}

// The operands of a reduction's gradient. grad and out have the rank of x, with size 1 on the
// reduced axes, so that they broadcast to x.
struct Reduced {
  Tensor x, axes, grad, out;
};

Reduced KeepAxes(const Node& node, const Tensors& grads) {
  const Tensor& x = node.input(0);
  const Tensor out = ResultOf(node);
  Shape kept = x.shape();
  for (const int64_t axis : ConstantInts(node, 1)) kept.set_dim(static_cast<int>(axis), 1);
  return {x, node.input(1), Reshape(grads[0], kept), Reshape(out, kept)};
}

Tensor SumKeeping(const Tensor& x, const Tensor& axes) {
  return AddOp("Sum", {x, axes}, {{"keep_dims", true}});
}

Tensors SumGradient(const Node& node, const Tensors& grads) {
  const Reduced r = KeepAxes(node, grads);
  return {BroadcastTo(r.grad, r.x.shape()), Tensor()};
}

Tensors MeanGradient(const Node& node, const Tensors& grads) {
  const Reduced r = KeepAxes(node, grads);
  const double count = static_cast<double>(r.x.shape().num_elements()) /
                       static_cast<double>(std::max<int64_t>(1, r.grad.shape().num_elements()));
  return {BroadcastTo(r.grad / count, r.x.shape()), Tensor()};
}

// The gradient for an element is the product of the other elements. It is computed from products
// from both ends, along one axis after the other. Without a division it is also right for zeros,
// NaN and infinities.
Tensors ProdGradient(const Node& node, const Tensors& grads) {
  const Reduced r = KeepAxes(node, grads);
  const auto others_along = [](const Tensor& x, int64_t axis) {
    const auto exclusive = [&](bool reverse) {
      return Cumprod(x, static_cast<int>(axis), {.exclusive = true, .reverse = reverse});
    };
    return exclusive(false) * exclusive(true);
  };
  Tensor result = r.grad;
  Tensor rest = r.x;  // the product over the axes so far
  for (const int64_t axis : ConstantInts(node, 1)) {
    result = result * others_along(rest, axis);
    rest = ReduceProd(rest, axis, {.keepdims = true});
  }
  return {BroadcastTo(result, r.x.shape()), Tensor()};
}

Tensors ExtremeGradient(const Node& node, const Tensors& grads) {
  const Reduced r = KeepAxes(node, grads);
  const Tensor chosen = Cast(Equal(r.x, r.out), r.x.dtype());
  return {chosen / SumKeeping(chosen, r.axes) * r.grad, Tensor()};
}

OutputSpecs L2LossRule(const ShapeContext& context) {
  EST_RETURN_IF_ERROR(CheckFloating(context.input(0)));
  return std::vector<TensorSpec>{{context.input(0).dtype, Shape{}}};
}

EST_REGISTER_OP("L2Loss", L2LossRule, [](const Node& node, const Tensors& grads) -> Tensors {
  return {node.input(0) * grads[0]};
});

Tensor Reduce(absl::string_view op, const Tensor& x, const ReduceAxes& axes,
              const ReduceOptions& options) {
  return OpBuilder(op, NameOr(options.name, op))
      .Input(x)
      .Ints("reduction_indices", axes.ForRank(x.rank()))
      .Attr("keep_dims", options.keepdims)
      .Build();
}

}  // namespace

std::vector<int64_t> ReduceAxes::ForRank(int rank) const {
  if (axes_.has_value()) return *axes_;
  std::vector<int64_t> all;
  for (int axis = 0; axis < rank; ++axis) all.push_back(axis);
  return all;
}

// Defines the function, and joins its shape rule and its gradient to the op's row.
#define EST_REDUCTION_FUNCTION(function, op, rule, ...)                                    \
  EST_REGISTER_OP(op, rule __VA_OPT__(, ) __VA_ARGS__);                                    \
  Tensor function(const Tensor& x, const ReduceAxes& axes, const ReduceOptions& options) { \
    return Reduce(op, x, axes, options);                                                   \
  }
EST_REDUCTION_FUNCTION(ReduceSum, "Sum", NumberReductionRule, SumGradient)
EST_REDUCTION_FUNCTION(ReduceMean, "Mean", NumberReductionRule, MeanGradient)
EST_REDUCTION_FUNCTION(ReduceProd, "Prod", NumberReductionRule, ProdGradient)
EST_REDUCTION_FUNCTION(ReduceMax, "Max", NumberReductionRule, ExtremeGradient)
EST_REDUCTION_FUNCTION(ReduceMin, "Min", NumberReductionRule, ExtremeGradient)
EST_REDUCTION_FUNCTION(ReduceAll, "All", BoolReductionRule)
EST_REDUCTION_FUNCTION(ReduceAny, "Any", BoolReductionRule)
#undef EST_REDUCTION_FUNCTION

Tensor ReduceLogSumExp(const Tensor& x, const ReduceAxes& axes, const ReduceOptions& options) {
  const NameScope scope(NameOr(options.name, "ReduceLogSumExp"), GraphFor({x}));
  const Tensor max = ReduceMax(x, axes, {.keepdims = true});
  // With an infinite maximum, x - shift would be inf - inf.
  const Tensor shift = StopGradient(Where(IsFinite(max), max, 0));
  const Tensor kept = Log(ReduceSum(Exp(x - shift), axes, {.keepdims = true})) + shift;
  if (options.keepdims || !kept.valid()) return kept;
  std::vector<bool> reduced(x.shape().dims().size(), false);
  for (const int64_t axis : axes.ForRank(x.rank()))
    reduced[static_cast<size_t>(axis < 0 ? axis + x.rank() : axis)] = true;
  return Reshape(kept, WithoutAxes(x.shape(), reduced, /*keep=*/false));
}

MeanAndVariance Moments(const Tensor& x, const ReduceAxes& axes, const ReduceOptions& options) {
  const NameScope scope(NameOr(options.name, "moments"), GraphFor({x}));
  const bool half = x.dtype() == DType::kBfloat16 || x.dtype() == DType::kFloat16;
  const Tensor y = half ? Cast(x, DType::kFloat32) : x;
  const Tensor mean = ReduceMean(y, axes, {.keepdims = true, .name = "mean"});
  // As in TensorFlow, no gradient flows through the mean inside the variance. It would be zero.
  const Tensor variance = ReduceMean(SquaredDifference(y, StopGradient(mean)), axes,
                                     {.keepdims = options.keepdims, .name = "variance"});
  const Tensor shaped =
      options.keepdims || !variance.valid() ? mean : Reshape(mean, variance.shape(), "Squeeze");
  return {half ? Cast(shaped, x.dtype()) : shaped, half ? Cast(variance, x.dtype()) : variance};
}

Tensor L2Loss(const Tensor& x, StringArg name) { return AddOp("L2Loss", {x}, {}, name); }

Tensor Norm(const Tensor& x, const ReduceAxes& axes, const ReduceOptions& options) {
  const NameScope scope(NameOr(options.name, "norm"), GraphFor({x}));
  return Sqrt(ReduceSum(x * x, axes, {.keepdims = options.keepdims}));
}

Tensor GlobalNorm(const Tensors& tensors, StringArg name) {
  const NameScope scope(name, GraphFor(tensors));
  Tensors squares;
  for (const Tensor& tensor : tensors) {
    if (!tensor.valid() && tensor.graph() != nullptr && !tensor.graph()->status().ok())
      return tensor;
    const std::optional<IndexedSlices> slices = SlicesOf(tensor);
    if (tensor.valid()) squares.push_back(L2Loss(slices.has_value() ? slices->values : tensor));
  }
  return Sqrt(AddN(squares) * 2, "global_norm");
}

}  // namespace estimator
