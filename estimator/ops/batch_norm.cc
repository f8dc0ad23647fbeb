#include "estimator/ops/batch_norm.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/op_registry.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/shape_checks.h"

namespace estimator {
namespace {

using Tensors = std::vector<Tensor>;

// The type of scale, offset and moments.
DType ParameterType(DType x) { return x == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32; }

absl::Status CheckParameter(const TensorSpec& x, const TensorSpec& parameter,
                            absl::string_view what) {
  const DType dtype = ParameterType(x.dtype);
  if (parameter.dtype != dtype) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, " is ", DTypeName(parameter.dtype), ", expected ", DTypeName(dtype)));
  }
  if (parameter.shape == Shape{x.shape.dim(-1)}) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(what, " is ", parameter.shape.ToString(),
                                                 ", but x has ", x.shape.dim(-1), " channels"));
}

absl::Status CheckInput(const TensorSpec& x, absl::string_view what) {
  EST_RETURN_IF_ERROR(CheckFloating(x, what));
  if (x.shape.rank() >= 2) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(what, " has rank ", x.shape.rank(), ", expected 2 or more"));
}

// x, scale, offset, mean, variance -> y, batch_mean, batch_variance, reserve_space_1 to 3.
absl::StatusOr<std::vector<TensorSpec>> ForwardShape(const ShapeContext& c) {
  const TensorSpec& x = c.input(0);
  EST_RETURN_IF_ERROR(CheckInput(x, "x"));
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
absl::StatusOr<std::vector<TensorSpec>> BackwardShape(const ShapeContext& c) {
  const TensorSpec& x = c.input(1);
  EST_RETURN_IF_ERROR(CheckInput(x, "x"));
  EST_RETURN_IF_ERROR(CheckShape(c.input(0), x.shape, "y_backprop"));
  EST_RETURN_IF_ERROR(CheckParameter(x, c.input(2), "scale"));
  EST_RETURN_IF_ERROR(CheckParameter(x, c.input(3), "reserve_space_1"));
  EST_RETURN_IF_ERROR(CheckParameter(x, c.input(4), "reserve_space_2"));
  const TensorSpec& channel = c.input(2);
  return std::vector<TensorSpec>{x, channel, channel, {channel.dtype, {0}}, {channel.dtype, {0}}};
}

EST_REGISTER_OP({.name = "FusedBatchNormV3",
                 .num_inputs = 5,
                 .shape = ForwardShape,
                 // Gradients of batch_mean and batch_variance are dropped, as in TensorFlow: they
                 // feed moving averages.
                 .gradient = [](const Node& node, const Tensors& grads) -> Tensors {
                   if (!grads[0].valid()) return {};
                   Graph* const graph = grads[0].graph();
                   const auto output = [&](int i) {
                     return Tensor(graph, const_cast<Node*>(&node), i);
                   };
                   const bool training = node.attrs().b("is_training");
                   const Tensors d = AddOpN("FusedBatchNormGradV3", 5,
                                            {grads[0], node.input(0), node.input(1),
                                             training ? output(3) : node.input(3),
                                             training ? output(4) : node.input(4), output(5)},
                                            {{"epsilon", node.attrs().f("epsilon")},
                                             {"is_training", training},
                                             {"data_format", node.attrs().s("data_format")}});
                   return {d[0], d[1], d[2], Tensor(), Tensor()};
                 }});
EST_REGISTER_OP({.name = "FusedBatchNormGradV3", .num_inputs = 6, .shape = BackwardShape});

}  // namespace

FusedBatchNormOutputs FusedBatchNorm(const Tensor& x, const Tensor& scale, const Tensor& offset,
                                     const FusedBatchNormOptions& options, const Tensor& mean,
                                     const Tensor& variance, absl::string_view name) {
  Graph& graph = GraphFor({x, scale, offset});
  // A handle without a graph is one that was left out; one that failed keeps its graph.
  const auto moment = [&](const Tensor& given) {
    if (given.valid() || given.graph() != nullptr) return given;
    return ConstantIn(graph, Array(ParameterType(x.dtype()), {0}));
  };
  const Tensors outputs =
      AddOpN("FusedBatchNormV3", 6, {x, scale, offset, moment(mean), moment(variance)},
             {{"epsilon", options.epsilon},
              {"is_training", options.is_training},
              {"exponential_avg_factor", options.exponential_avg_factor},
              {"data_format", std::string("NHWC")}},
             name);
  return {.y = outputs[0], .batch_mean = outputs[1], .batch_variance = outputs[2]};
}

Tensor BatchNormalization(const Tensor& x, const Tensor& mean, const Tensor& variance,
                          const Tensor& offset, const Tensor& scale, float epsilon,
                          absl::string_view name) {
  const NameScope scope(name, GraphFor({x}));
  const auto given = [](const Tensor& t) { return t.valid() || t.graph() != nullptr; };
  Tensor factor = Rsqrt(variance + epsilon);
  if (given(scale)) factor = factor * scale;
  const Tensor shift = given(offset) ? offset - mean * factor : -mean * factor;
  return x * factor + shift;
}

Tensor LayerNorm(const Tensor& x, const Tensor& gamma, const Tensor& beta, float epsilon,
                 absl::string_view name) {
  const NameScope scope(name, GraphFor({x}));
  const MeanAndVariance moments = Moments(x, -1, /*keepdims=*/true);
  return BatchNormalization(x, moments.mean, moments.variance, beta, gamma, epsilon);
}

Tensor L2Normalize(const Tensor& x, const ReduceAxes& axes, float epsilon, absl::string_view name) {
  const NameScope scope(name, GraphFor({x}));
  const Tensor square_sum = ReduceSum(Square(x), axes, /*keepdims=*/true);
  return x * Rsqrt(Maximum(square_sum, epsilon));
}

}  // namespace estimator
