#include "estimator/ops/search.h"

#include <vector>

#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/op_registry.h"
#include "estimator/ops/building/builder.h"
#include "estimator/ops/building/shape_rules.h"
#include "estimator/ops/gather.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/shape_ops.h"

namespace estimator {
namespace {

OutputSpecs ArgRule(const ShapeContext& context) {
  const Shape& from = context.input(0).shape;
  EST_ASSIGN_OR_RETURN(const int axis, ConstantAxis(context, 1, from.rank()));
  if (from.dim(axis) == 0) {
    return InvalidArgument("axis ", axis, " of ", from.ToString(), " is empty");
  }
  const DType type = context.attrs.dtype("output_type");
  if (type != DType::kInt32 && type != DType::kInt64) {
    return InvalidArgument("output_type is int32 or int64, not ", DTypeName(type));
  }
  std::vector<int64_t> dims = from.dims();
  dims.erase(dims.begin() + axis);
  return std::vector<TensorSpec>{{type, Shape(std::move(dims))}};
}

OutputSpecs TopKRule(const ShapeContext& context) {
  EST_RETURN_IF_ERROR(CheckNumber(context.input(0)));
  EST_ASSIGN_OR_RETURN(const std::vector<int64_t> k, context.ConstantInts(1));
  Shape shape = context.input(0).shape;
  if (shape.rank() < 1) return InvalidArgument("takes rank 1 or more, not a scalar");
  if (k.size() != 1 || k[0] < 0 || k[0] > shape.dim(-1)) {
    return InvalidArgument("k must be a scalar in [0, ", shape.dim(-1),
                           "], the size of the last axis; it is ", k.empty() ? 0 : k[0]);
  }
  shape.set_dim(-1, k[0]);
  return std::vector<TensorSpec>{{context.input(0).dtype, shape}, {DType::kInt32, shape}};
}

// Adds the gradient of every chosen element to its place in the flattened input.
Tensors TopKGradient(const Node& node, const Tensors& grads) {
  if (!grads[0].valid()) return {Tensor(), Tensor()};
  const Tensor& x = node.input(0);
  const Tensor indices = ResultOf(node, 1);
  const int64_t columns = x.dim(-1), k = indices.dim(-1);
  const int64_t rows = columns == 0 ? 0 : x.shape().num_elements() / columns;
  std::vector<int64_t> starts;
  for (int64_t row = 0; row < rows; ++row) starts.push_back(row * columns);
  const Tensor flat = OpBuilder("AddV2", "flat_indices")
                          .Input(Reshape(indices, {rows, k}))
                          .Const("row_starts", IntArray({rows, 1}, starts))
                          .Build();
  const Tensor scattered = ScatterNd(Reshape(flat, {rows * k, 1}), Reshape(grads[0], {rows * k}),
                                     {x.shape().num_elements()});
  return {Reshape(scattered, x.shape()), Tensor()};
}

OutputSpecs InTopKRule(const ShapeContext& context) {
  const TensorSpec& predictions = context.input(0);
  const TensorSpec& targets = context.input(1);
  EST_RETURN_IF_ERROR(ConstantInt(context, 2).status());
  if (predictions.dtype != DType::kFloat32 || predictions.shape.rank() != 2) {
    return InvalidArgument("predictions must be f32 [N, C], not ", predictions.ToString());
  }
  const bool is_index = targets.dtype == DType::kInt32 || targets.dtype == DType::kInt64;
  if (!is_index || !(targets.shape == Shape{predictions.shape.dim(0)})) {
    return InvalidArgument("targets must be i32 or i64 [", predictions.shape.dim(0), "], not ",
                           targets.ToString());
  }
  return std::vector<TensorSpec>{{DType::kBool, targets.shape}};
}

EST_REGISTER_OP("ArgMax", ArgRule);
EST_REGISTER_OP("ArgMin", ArgRule);
EST_REGISTER_OP("TopKV2", TopKRule, TopKGradient);
EST_REGISTER_OP("InTopKV2", InTopKRule);

}  // namespace

Tensor ArgMax(const Tensor& x, int axis, const ArgMaxOptions& options) {
  return OpBuilder("ArgMax", NameOr(options.name, "ArgMax"))
      .Input(x)
      .Int("dimension", axis)
      .Attr("output_type", options.output_type)
      .Build();
}
Tensor ArgMin(const Tensor& x, int axis, const ArgMaxOptions& options) {
  return OpBuilder("ArgMin", NameOr(options.name, "ArgMin"))
      .Input(x)
      .Int("dimension", axis)
      .Attr("output_type", options.output_type)
      .Build();
}

TopKResult TopK(const Tensor& x, int64_t k, const TopKOptions& options) {
  const Tensors outputs = OpBuilder("TopKV2", options.name)
                              .Input(x)
                              .Int("k", k)
                              .Attr("sorted", options.sorted)
                              .BuildN(2);
  return {outputs[0], outputs[1]};
}

Tensor InTopK(const Tensor& predictions, const Tensor& targets, int64_t k, StringArg name) {
  return OpBuilder("InTopKV2", name)
      .Input(predictions)
      .Input(targets)
      .Const("k", Array::Scalar(k).Cast(targets.dtype() == DType::kInt64 ? DType::kInt64
                                                                         : DType::kInt32))
      .Build();
}

}  // namespace estimator
