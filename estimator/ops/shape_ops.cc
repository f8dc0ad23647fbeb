#include "estimator/ops/shape_ops.h"

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/op_registry.h"
#include "estimator/ops/building/builder.h"
#include "estimator/ops/building/shape_rules.h"
#include "estimator/ops/math_binary.h"

namespace estimator {
namespace {

OutputSpecs ShapeRule(const ShapeContext& context) {
  return std::vector<TensorSpec>{
      {context.attrs.dtype("out_type"), Shape{context.input(0).shape.rank()}}};
}
OutputSpecs SizeRule(const ShapeContext& context) {
  return std::vector<TensorSpec>{{context.attrs.dtype("out_type"), Shape{}}};
}
OutputSpecs RankRule(const ShapeContext&) {
  return std::vector<TensorSpec>{{DType::kInt32, Shape{}}};
}

OutputSpecs ReshapeRule(const ShapeContext& context) {
  EST_ASSIGN_OR_RETURN(std::vector<int64_t> dims, context.ConstantInts(1));
  const Shape& from = context.input(0).shape;
  const Shape wanted(dims);
  int unknown = -1;
  int64_t known = 1;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == Shape::kUnknownDim && unknown < 0) {
      unknown = static_cast<int>(i);
    } else if (dims[i] < 0) {
      return InvalidArgument("shape ", wanted.ToString(),
                             " has more than one -1, or a negative size");
    } else {
      known *= dims[i];
    }
  }
  const int64_t n = from.num_elements();
  if (unknown >= 0 && known != 0) dims[static_cast<size_t>(unknown)] = n / known;
  const Shape to(dims);
  if ((unknown >= 0 && known == 0) || to.num_elements() != n) {
    return InvalidArgument(
        "cannot reshape ", from.ToString(), ", ", n, " elements, to ", wanted.ToString(), ", ",
        unknown >= 0 ? absl::StrCat("a multiple of ", known) : absl::StrCat(known));
  }
  return std::vector<TensorSpec>{{context.input(0).dtype, to}};
}

OutputSpecs ExpandDimsRule(const ShapeContext& context) {
  std::vector<int64_t> dims = context.input(0).shape.dims();
  EST_ASSIGN_OR_RETURN(const int axis, ConstantAxis(context, 1, static_cast<int>(dims.size()) + 1));
  dims.insert(dims.begin() + axis, 1);
  return std::vector<TensorSpec>{{context.input(0).dtype, Shape(std::move(dims))}};
}

OutputSpecs SqueezeRule(const ShapeContext& context) {
  const Shape& from = context.input(0).shape;
  const std::vector<int64_t>& axes = context.attrs.ints("squeeze_dims");
  std::vector<bool> drop(from.dims().size(), false);
  for (const int64_t given : axes) {
    EST_ASSIGN_OR_RETURN(const int axis, CheckAxis(given, from.rank()));
    if (from.dim(axis) != 1) {
      return InvalidArgument("cannot squeeze axis ", given, " of ", from.ToString(),
                             ": its size is not 1");
    }
    drop[static_cast<size_t>(axis)] = true;
  }
  Shape to;
  for (size_t i = 0; i < drop.size(); ++i) {
    const bool dropped = axes.empty() ? from.dims()[i] == 1 : drop[i];
    if (!dropped) to.push_back(from.dims()[i]);
  }
  return std::vector<TensorSpec>{{context.input(0).dtype, to}};
}

OutputSpecs BroadcastToRule(const ShapeContext& context) {
  EST_ASSIGN_OR_RETURN(std::vector<int64_t> dims, context.ConstantInts(1));
  const Shape to(std::move(dims));
  const Shape& from = context.input(0).shape;
  const absl::StatusOr<Shape> both = BroadcastShapes(from, to);
  if (!both.ok() || !(*both == to)) {
    return InvalidArgument("cannot broadcast ", from.ToString(), " to ", to.ToString());
  }
  return std::vector<TensorSpec>{{context.input(0).dtype, to}};
}

OutputSpecs EnsureShapeRule(const ShapeContext& context) {
  const Shape& wanted = context.attrs.get<Shape>("shape");
  const Shape& actual = context.input(0).shape;
  bool fits = wanted.rank() == actual.rank();
  for (int axis = 0; fits && axis < wanted.rank(); ++axis) {
    fits = wanted.dim(axis) == Shape::kUnknownDim || wanted.dim(axis) == actual.dim(axis);
  }
  if (!fits) {
    return InvalidArgument("the shape is ", actual.ToString(), ", not ", wanted.ToString());
  }
  return SameAsInput(context);
}

Tensor BackToShapeOf(const Tensor& grad, const Tensor& x) { return Reshape(grad, x.shape()); }

// For ops that do not change elements. The inputs after the first (shape, axis) get no gradient.
Tensors ReshapeGradient(const Node& node, const Tensors& grads) {
  Tensors result(static_cast<size_t>(node.num_inputs()));
  result[0] = BackToShapeOf(grads[0], node.input(0));
  return result;
}
EST_REGISTER_OP("Shape", ShapeRule);
EST_REGISTER_OP("Size", SizeRule);
EST_REGISTER_OP("Rank", RankRule);
EST_REGISTER_OP("Reshape", ReshapeRule, ReshapeGradient);
EST_REGISTER_OP("ExpandDims", ExpandDimsRule, ReshapeGradient);
EST_REGISTER_OP("Squeeze", SqueezeRule, ReshapeGradient);
EST_REGISTER_OP("BroadcastTo", BroadcastToRule,
                [](const Node& node, const Tensors& grads) -> Tensors {
                  return {SumToShapeOf(grads[0], node.input(0)), Tensor()};
                });
EST_REGISTER_OP("Identity", SameAsInput, PassThrough);
EST_REGISTER_OP("EnsureShape", EnsureShapeRule, PassThrough);
EST_REGISTER_OP("StopGradient", SameAsInput);

}  // namespace

Tensor ShapeOf(const Tensor& x, DType dtype, StringArg name) {
  return AddOp("Shape", {x}, {{"out_type", dtype}}, name);
}
Tensor SizeOf(const Tensor& x, DType dtype, StringArg name) {
  return AddOp("Size", {x}, {{"out_type", dtype}}, name);
}
Tensor RankOf(const Tensor& x, StringArg name) { return AddOp("Rank", {x}, {}, name); }

Tensor Reshape(const Tensor& x, const Shape& shape, StringArg name) {
  return OpBuilder("Reshape", name).Input(x).Ints("shape", shape.dims()).Build();
}
Tensor Reshape(const Tensor& x, const Tensor& shape, StringArg name) {
  return AddOp("Reshape", {x, shape}, {}, name);
}
Tensor ExpandDims(const Tensor& x, int axis, StringArg name) {
  return OpBuilder("ExpandDims", name).Input(x).Int("dim", axis).Build();
}
Tensor Squeeze(const Tensor& x, const std::vector<int64_t>& axes, StringArg name) {
  return AddOp("Squeeze", {x}, {{"squeeze_dims", axes}}, name);
}
Tensor BroadcastTo(const Tensor& x, const Shape& shape, StringArg name) {
  return OpBuilder("BroadcastTo", name).Input(x).Ints("shape", shape.dims()).Build();
}
Tensor Identity(const Tensor& x, StringArg name) { return AddOp("Identity", {x}, {}, name); }
Tensor StopGradient(const Tensor& x, StringArg name) {
  return AddOp("StopGradient", {x}, {}, name);
}
Tensor EnsureShape(const Tensor& x, const Shape& shape, StringArg name) {
  return AddOp("EnsureShape", {x}, {{"shape", shape}}, name);
}

}  // namespace estimator
