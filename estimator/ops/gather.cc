#include "estimator/ops/gather.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/op_registry.h"
#include "estimator/ops/builder.h"
#include "estimator/ops/comparison.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/manipulation.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/select.h"
#include "estimator/ops/shape_ops.h"
#include "estimator/ops/shape_rules.h"

namespace estimator {
namespace {

using Grads = std::vector<Tensor>;

absl::Status CheckIndex(const TensorSpec& spec) {
  if (spec.dtype == DType::kInt32 || spec.dtype == DType::kInt64) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("indices must be int32 or int64, not ", DTypeName(spec.dtype)));
}

void Append(const Shape& from, int begin, int end, Shape& to) {
  for (int axis = begin; axis < end; ++axis) to.push_back(from.dim(axis));
}

OutputSpecs GatherRule(const ShapeContext& context) {
  EST_RETURN_IF_ERROR(CheckIndex(context.input(1)));
  EST_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, context.ConstantInts(2));
  const Shape& params = context.input(0).shape;
  const Shape& indices = context.input(1).shape;
  EST_ASSIGN_OR_RETURN(const int axis, CheckAxis(axes[0], params.rank()));
  if (context.attrs.has("batch_dims") && context.attrs.i("batch_dims") != 0) {
    return absl::UnimplementedError("batch_dims must be 0; use GatherNd");
  }
  Shape to;
  Append(params, 0, axis, to);
  Append(indices, 0, indices.rank(), to);
  Append(params, axis + 1, params.rank(), to);
  return std::vector<TensorSpec>{{context.input(0).dtype, to}};
}

// Brings the axes of the indices to the front, adds up by index, and brings the axis back.
Grads GatherGradient(const Node& node, const Grads& grads) {
  const Tensor& params = node.input(0);
  const Tensor& indices = node.input(1);
  const int64_t given = (*ShapeContext{node.inputs(), node.attrs()}.ConstantInts(2))[0];
  const int axis = static_cast<int>(given < 0 ? given + params.rank() : given);
  const int num_index_axes = indices.rank();
  Tensor grad = grads[0];
  if (axis > 0) {
    std::vector<int64_t> perm;
    for (int i = 0; i < num_index_axes; ++i) perm.push_back(axis + i);
    for (int i = 0; i < axis; ++i) perm.push_back(i);
    for (int i = axis + num_index_axes; i < grad.rank(); ++i) perm.push_back(i);
    grad = Transpose(grad, perm);
  }
  Tensor sum = UnsortedSegmentSum(grad, indices, params.dim(axis));
  if (axis > 0) {
    std::vector<int64_t> perm;
    for (int i = 1; i <= axis; ++i) perm.push_back(i);
    perm.push_back(0);
    for (int i = axis + 1; i < params.rank(); ++i) perm.push_back(i);
    sum = Transpose(sum, perm);
  }
  return {sum, Tensor(), Tensor()};
}

absl::StatusOr<int> IndexDepth(const TensorSpec& indices, const Shape& whole) {
  EST_RETURN_IF_ERROR(CheckIndex(indices));
  if (indices.shape.rank() >= 1 && indices.shape.dim(-1) <= whole.rank()) {
    return static_cast<int>(indices.shape.dim(-1));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("the last axis of indices ", indices.shape.ToString(),
                   " must be at most the rank of ", whole.ToString()));
}

OutputSpecs GatherNdRule(const ShapeContext& context) {
  const Shape& params = context.input(0).shape;
  const Shape& indices = context.input(1).shape;
  EST_ASSIGN_OR_RETURN(const int depth, IndexDepth(context.input(1), params));
  Shape to;
  Append(indices, 0, indices.rank() - 1, to);
  Append(params, depth, params.rank(), to);
  return std::vector<TensorSpec>{{context.input(0).dtype, to}};
}

OutputSpecs ScatterNdRule(const ShapeContext& context) {
  EST_ASSIGN_OR_RETURN(std::vector<int64_t> dims, context.ConstantInts(2));
  const Shape whole(std::move(dims));
  const Shape& indices = context.input(0).shape;
  EST_ASSIGN_OR_RETURN(const int depth, IndexDepth(context.input(0), whole));
  EST_RETURN_IF_ERROR(CheckNumber(context.input(1)));
  Shape wanted;
  Append(indices, 0, indices.rank() - 1, wanted);
  Append(whole, depth, whole.rank(), wanted);
  if (!(context.input(1).shape == wanted)) {
    return absl::InvalidArgumentError(
        absl::StrCat("updates are ", context.input(1).shape.ToString(), "; indices ",
                     indices.ToString(), " into ", whole.ToString(), " take ", wanted.ToString()));
  }
  return std::vector<TensorSpec>{{context.input(1).dtype, whole}};
}

OutputSpecs SegmentRule(const ShapeContext& context) {
  EST_RETURN_IF_ERROR(CheckNumber(context.input(0)));
  EST_RETURN_IF_ERROR(CheckIndex(context.input(1)));
  EST_ASSIGN_OR_RETURN(const std::vector<int64_t> num, context.ConstantInts(2));
  const Shape& data = context.input(0).shape;
  const Shape& ids = context.input(1).shape;
  bool fits = ids.rank() <= data.rank();
  for (int i = 0; fits && i < ids.rank(); ++i) fits = ids.dim(i) == data.dim(i);
  if (!fits) {
    return absl::InvalidArgumentError(absl::StrCat("segment_ids ", ids.ToString(),
                                                   " are not a prefix of data ", data.ToString()));
  }
  if (num.size() != 1 || num[0] < 0)
    return absl::InvalidArgumentError("num_segments must be a scalar >= 0");
  Shape to{num[0]};
  Append(data, ids.rank(), data.rank(), to);
  return std::vector<TensorSpec>{{context.input(0).dtype, to}};
}

// Every row takes the gradient of its segment; dropped rows take none.
Grads SegmentGradient(const Node& node, const Grads& grads) {
  const Tensor& data = node.input(0);
  const Tensor& ids = node.input(1);
  const Tensor rows = Gather(grads[0], Maximum(ids, 0));
  Shape aligned = ids.shape();
  while (aligned.rank() < data.rank()) aligned.push_back(1);
  return {Where(Reshape(GreaterEqual(ids, 0), aligned), rows, 0), Tensor(), Tensor()};
}

OutputSpecs OneHotRule(const ShapeContext& context) {
  const TensorSpec& indices = context.input(0);
  if (indices.dtype != DType::kUint8) EST_RETURN_IF_ERROR(CheckIndex(indices));
  EST_ASSIGN_OR_RETURN(const std::vector<int64_t> depth, context.ConstantInts(1));
  EST_RETURN_IF_ERROR(CheckSameDType(context.input(2), context.input(3)));
  if (depth.size() != 1 || depth[0] < 0)
    return absl::InvalidArgumentError("depth must be a scalar >= 0");
  EST_ASSIGN_OR_RETURN(const int axis,
                       CheckAxis(context.attrs.i("axis"), indices.shape.rank() + 1));
  std::vector<int64_t> dims = indices.shape.dims();
  dims.insert(dims.begin() + axis, depth[0]);
  return std::vector<TensorSpec>{{context.input(2).dtype, Shape(std::move(dims))}};
}

EST_REGISTER_OP(
    {.name = "GatherV2", .num_inputs = 3, .shape = GatherRule, .gradient = GatherGradient});
EST_REGISTER_OP({.name = "GatherNd",
                 .num_inputs = 2,
                 .shape = GatherNdRule,
                 .gradient = [](const Node& node, const Grads& grads) -> Grads {
                   return {ScatterNd(node.input(1), grads[0], node.input(0).shape()), Tensor()};
                 }});
EST_REGISTER_OP({.name = "ScatterNd",
                 .num_inputs = 3,
                 .shape = ScatterNdRule,
                 .gradient = [](const Node& node, const Grads& grads) -> Grads {
                   return {Tensor(), GatherNd(grads[0], node.input(0)), Tensor()};
                 }});
EST_REGISTER_OP({.name = "UnsortedSegmentSum",
                 .num_inputs = 3,
                 .shape = SegmentRule,
                 .gradient = SegmentGradient});
EST_REGISTER_OP(
    {.name = "OneHot", .num_inputs = 4, .shape = OneHotRule, .not_differentiable = true});

}  // namespace

Tensor Gather(const Tensor& params, const Tensor& indices, int axis, absl::string_view name) {
  return OpBuilder("GatherV2", name)
      .Input(params)
      .Input(indices)
      .Int("axis", axis)
      .Attr("batch_dims", int64_t{0})
      .Build();
}
Tensor GatherNd(const Tensor& params, const Tensor& indices, absl::string_view name) {
  return AddOp("GatherNd", {params, indices}, {}, name);
}
Tensor ScatterNd(const Tensor& indices, const Tensor& updates, const Shape& shape,
                 absl::string_view name) {
  return OpBuilder("ScatterNd", name)
      .Input(indices)
      .Input(updates)
      .Ints("shape", shape.dims())
      .Build();
}
Tensor UnsortedSegmentSum(const Tensor& data, const Tensor& segment_ids, int64_t num_segments,
                          absl::string_view name) {
  return OpBuilder("UnsortedSegmentSum", name)
      .Input(data)
      .Input(segment_ids)
      .Int("num_segments", num_segments)
      .Build();
}

Tensor OneHot(const Tensor& indices, int64_t depth, double on_value, double off_value, DType dtype,
              int axis, absl::string_view name) {
  return OpBuilder("OneHot", name)
      .Input(indices)
      .Int("depth", depth)
      .Const("on_value", Array::Scalar(on_value).Cast(dtype))
      .Const("off_value", Array::Scalar(off_value).Cast(dtype))
      .Attr("axis", int64_t{axis})
      .Build();
}

Tensor SequenceMask(const Tensor& lengths, int64_t max_length, DType dtype,
                    absl::string_view name) {
  Graph& graph = GraphFor({lengths});
  if (!lengths.valid()) return AddOp("Identity", {lengths}, {}, name);
  if (!IsInteger(lengths.dtype())) {
    return graph.Fail(absl::InvalidArgumentError(
        absl::StrCat(name, ": lengths must be integers, not ", lengths.spec().ToString())));
  }
  const GraphScope building(graph);
  const NameScope scope(name, graph);
  return Cast(Less(Range(0, max_length, 1, lengths.dtype()), ExpandDims(lengths, -1)), dtype);
}

}  // namespace estimator
