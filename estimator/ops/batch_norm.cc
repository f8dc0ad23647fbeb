#include "estimator/ops/batch_norm.h"

#include <vector>

#include "estimator/base/status.h"
#include "estimator/graph/gradients.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/op_registry.h"
#include "estimator/ops/building/shape_checks.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/shape_ops.h"

namespace estimator {
namespace {

// The dtype of scale, offset and moments for an input of dtype x.
DType ParameterType(DType x) { return x == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32; }

absl::Status CheckParameter(const TensorSpec& x, const TensorSpec& parameter,
                            absl::string_view what) {
  const DType dtype = ParameterType(x.dtype);
  if (parameter.dtype != dtype) {
    return InvalidArgument(what, " is ", DTypeName(parameter.dtype), ", expected ",
                           DTypeName(dtype));
  }
  if (parameter.shape == Shape{x.shape.dim(-1)}) return absl::OkStatus();
  return InvalidArgument(what, " is ", parameter.shape.ToString(), ", but x has ", x.shape.dim(-1),
                         " channels");
}

absl::Status CheckImages(const Attrs& attrs, const TensorSpec& x) {
  if (attrs.s("data_format") != "NHWC") {
    return InvalidArgument("data_format is ", attrs.s("data_format"),
                           ", only NHWC is supported: transpose x to NHWC");
  }
  EST_RETURN_IF_ERROR(CheckFloating(x, "x"));
  return CheckRankAtLeast(x, 2, "x");
}

// x, scale, offset, mean, variance -> y, batch_mean, batch_variance, reserve_space_1 to 3.
OutputSpecs ForwardShape(const ShapeContext& c) {
  const TensorSpec& x = c.input(0);
  EST_RETURN_IF_ERROR(CheckImages(c.attrs, x));
  EST_RETURN_IF_ERROR(CheckParameter(x, c.input(1), "scale"));
  EST_RETURN_IF_ERROR(CheckParameter(x, c.input(2), "offset"));
  const bool empty_moments = c.attrs.b("is_training") && c.attrs.f("exponential_avg_factor") == 1 &&
                             c.input(3).shape == Shape{0} && c.input(4).shape == Shape{0};
  if (!empty_moments) {
    EST_RETURN_IF_ERROR(CheckParameter(x, c.input(3), "mean"));
    EST_RETURN_IF_ERROR(CheckParameter(x, c.input(4), "variance"));
  }
  const TensorSpec& channel = c.input(1);
  return std::vector<TensorSpec>{x, channel, channel, channel, channel, {channel.dtype, {0}}};
}

// y_backprop, x, scale, reserve_space_1 to 3 -> x_backprop, scale_backprop, offset_backprop,
// reserve_space_4 and 5 (empty).
OutputSpecs BackwardShape(const ShapeContext& c) {
  const TensorSpec& x = c.input(1);
  EST_RETURN_IF_ERROR(CheckImages(c.attrs, x));
  EST_RETURN_IF_ERROR(CheckShape(c.input(0), x.shape, "y_backprop"));
  EST_RETURN_IF_ERROR(CheckParameter(x, c.input(2), "scale"));
  EST_RETURN_IF_ERROR(CheckParameter(x, c.input(3), "reserve_space_1"));
  EST_RETURN_IF_ERROR(CheckParameter(x, c.input(4), "reserve_space_2"));
  const TensorSpec& channel = c.input(2);
  return std::vector<TensorSpec>{x, channel, channel, {channel.dtype, {0}}, {channel.dtype, {0}}};
}

EST_REGISTER_OP(
    "FusedBatchNormV3", ForwardShape,
    // Gradients of batch_mean and batch_variance are dropped, as in TensorFlow: they feed moving
    // averages.
    [](const Node& node, const Tensors& grads) -> Tensors {
      if (!grads[0].valid()) return {};
      Graph* const graph = grads[0].graph();
      const auto output = [&](int i) { return Tensor(graph, const_cast<Node*>(&node), i); };
      const bool training = node.attrs().b("is_training");
      const Tensors d =
          AddOpN("FusedBatchNormGradV3", 5,
                 {grads[0], node.input(0), node.input(1), training ? output(3) : node.input(3),
                  training ? output(4) : node.input(4), output(5)},
                 {{"epsilon", node.attrs().f("epsilon")},
                  {"is_training", training},
                  {"data_format", node.attrs().s("data_format")}});
      return {d[0], d[1], d[2], Tensor(), Tensor()};
    });

// The gradient op, built from ops that can be differentiated. In training the moments depend on x.
// Source: TF 2.15 nn_grad._BatchNormGrad.
Tensors ComposedBackward(const Node& node, const Tensor& dy, const Tensor& x, const Tensor& scale) {
  const bool training = node.attrs().b("is_training");
  std::vector<int64_t> axes;
  for (int axis = 0; axis + 1 < x.rank(); ++axis) axes.push_back(axis);
  const Tensor mean = training ? ReduceMean(x, axes, {.keepdims = true}) : node.input(3);
  const Tensor offset = x - mean;
  const Tensor variance =
      training ? ReduceMean(SquaredDifference(x, StopGradient(mean)), axes, {.keepdims = true})
               : node.input(4);
  const Tensor shifted = variance + node.attrs().f("epsilon");
  const Tensor inverse = Rsqrt(shifted);
  Tensor dx = dy;
  if (training) {
    const Tensor mean_dy = ReduceMean(dy, axes, {.keepdims = true});
    const Tensor slope = ReduceMean(dy * offset, axes, {.keepdims = true});
    dx = dy - mean_dy - slope * offset / shifted;
  }
  return {dx * (scale * inverse), ReduceSum(dy * offset * inverse, axes), ReduceSum(dy, axes)};
}

Tensors BackwardGradient(const Node& node, const Tensors& grads) {
  const DType dtype = node.input(2).dtype();
  // Differentiates with respect to copies, so that a path from dy to x outside of this op is not
  // counted here, too.
  const Tensors inputs = {Identity(Cast(node.input(0), dtype)),
                          Identity(Cast(node.input(1), dtype)), Identity(node.input(2))};
  const Tensors all = ComposedBackward(node, inputs[0], inputs[1], inputs[2]);
  Tensors ys, grad_ys;
  for (size_t i = 0; i < all.size(); ++i) {
    if (!grads[i].valid()) continue;
    ys.push_back(all[i]);
    grad_ys.push_back(Cast(grads[i], dtype));
  }
  if (ys.empty()) return {};
  Tensors result = Gradients(ys, inputs, grad_ys);
  for (size_t i = 0; i < result.size(); ++i) {
    if (result[i].valid()) result[i] = Cast(result[i], node.input(static_cast<int>(i)).dtype());
  }
  return result;
}

EST_REGISTER_OP("FusedBatchNormGradV3", BackwardShape, BackwardGradient);

}  // namespace

FusedBatchNormOutputs FusedBatchNorm(const Tensor& x, const Tensor& scale, const Tensor& offset,
                                     const FusedBatchNormOptions& options) {
  Graph& graph = GraphFor({x, scale, offset});
  // A moment that was left out has no graph. One that failed has a graph, and keeps its error.
  const auto moment = [&](const Tensor& given) {
    if (given.valid() || given.graph() != nullptr) return given;
    return ConstantIn(graph, Array(ParameterType(x.dtype()), {0}));
  };
  const Tensors outputs = AddOpN("FusedBatchNormV3", 6,
                                 {x, scale, offset, moment(options.mean), moment(options.variance)},
                                 {{"epsilon", options.epsilon},
                                  {"is_training", options.is_training},
                                  {"exponential_avg_factor", options.exponential_avg_factor},
                                  {"data_format", std::string("NHWC")}},
                                 options.name);
  return {.y = outputs[0], .batch_mean = outputs[1], .batch_variance = outputs[2]};
}

Tensor BatchNormalization(const Tensor& x, const Tensor& mean, const Tensor& variance,
                          const Tensor& offset, const Tensor& scale, float epsilon,
                          StringArg name) {
  const NameScope scope(name, GraphFor({x}));
  const auto given = [](const Tensor& t) { return t.valid() || t.graph() != nullptr; };
  Tensor factor = Rsqrt(variance + epsilon);
  if (given(scale)) factor = factor * scale;
  const Tensor shift = given(offset) ? offset - mean * factor : -mean * factor;
  return x * factor + shift;
}

Tensor LayerNorm(const Tensor& x, const Tensor& gamma, const Tensor& beta, float epsilon,
                 StringArg name) {
  const NameScope scope(name, GraphFor({x}));
  const MeanAndVariance moments = Moments(x, -1, {.keepdims = true});
  return BatchNormalization(x, moments.mean, moments.variance, beta, gamma, epsilon);
}

Tensor L2Normalize(const Tensor& x, const ReduceAxes& axes, const L2NormalizeOptions& options) {
  const NameScope scope(options.name, GraphFor({x}));
  const Tensor square_sum = ReduceSum(Square(x), axes, {.keepdims = true});
  return x * Rsqrt(Maximum(square_sum, options.epsilon));
}

}  // namespace estimator
