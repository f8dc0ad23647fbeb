#include "estimator/ops/gather.h"

#include <vector>

#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/indexed_slices.h"
#include "estimator/graph/op_registry.h"
#include "estimator/ops/building/builder.h"
#include "estimator/ops/building/shape_rules.h"
#include "estimator/ops/comparison.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/manipulation.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/select.h"
#include "estimator/ops/shape_ops.h"

namespace estimator {
namespace {

absl::Status CheckIndex(const TensorSpec& spec) {
  if (spec.dtype == DType::kInt32 || spec.dtype == DType::kInt64) return absl::OkStatus();
  return InvalidArgument("indices must be int32 or int64, not ", DTypeName(spec.dtype));
}

void Append(const Shape& from, int begin, int end, Shape& to) {
  for (int axis = begin; axis < end; ++axis) to.push_back(from.dim(axis));
}

// GatherV2's attribute batch_dims and its axis, counted from the front.
struct GatherAxes {
  int batch = 0;
  int axis = 0;
};

// Reads the axes and checks that params and indices have the same `batch` leading axes.
absl::StatusOr<GatherAxes> AxesOf(const ShapeContext& context) {
  EST_ASSIGN_OR_RETURN(const std::vector<int64_t> given, context.ConstantInts(2));
  const Shape& params = context.input(0).shape;
  const Shape& indices = context.input(1).shape;
  if (given.size() != 1) return InvalidArgument("axis must be a scalar");
  GatherAxes axes;
  EST_ASSIGN_OR_RETURN(axes.axis, CheckAxis(given[0], params.rank()));
  const int64_t batch = context.attrs.has("batch_dims") ? context.attrs.i("batch_dims") : 0;
  axes.batch = static_cast<int>(batch < 0 ? batch + indices.rank() : batch);
  bool fits = axes.batch >= 0 && axes.batch <= indices.rank() && axes.batch <= axes.axis;
  for (int i = 0; fits && i < axes.batch; ++i) fits = params.dim(i) == indices.dim(i);
  if (fits) return axes;
  return InvalidArgument("batch_dims ", batch, " of indices ", indices.ToString(), " and params ",
                         params.ToString(), " at axis ", axes.axis,
                         ": the batch axes must be the same, and come before axis");
}

OutputSpecs GatherRule(const ShapeContext& context) {
  EST_RETURN_IF_ERROR(CheckIndex(context.input(1)));
  EST_ASSIGN_OR_RETURN(const GatherAxes axes, AxesOf(context));
  const Shape& params = context.input(0).shape;
  const Shape& indices = context.input(1).shape;
  Shape to;
  Append(params, 0, axes.axis, to);
  Append(indices, axes.batch, indices.rank(), to);
  Append(params, axes.axis + 1, params.rank(), to);
  return std::vector<TensorSpec>{{context.input(0).dtype, to}};
}

int64_t SizeOfAxes(const Shape& shape, int begin, int end) {
  int64_t size = 1;
  for (int axis = begin; axis < end; ++axis) size *= shape.dim(axis);
  return size;
}

// Reshapes params to [B, O, D, I] and indices to [B, N], where each letter combines several axes:
// batches, axes before `axis`, `axis`, axes after it. The gradient [B, O, N, I] is transposed to
// [B, N, O, I], added up by index into [B, D, O, I], and transposed back.
Tensors GatherGradient(const Node& node, const Tensors& grads) {
  const Shape& params = node.input(0).shape();
  const Tensor& indices = node.input(1);
  const auto [batch, axis] = *AxesOf(ShapeContext{node.inputs(), node.attrs(), node.functions()});
  if (batch == 0 && axis == 0) {  // the gradient of an embedding
    Shape rows{indices.shape().num_elements()};
    Append(params, 1, params.rank(), rows);
    const IndexedSlices slices = {.values = Reshape(grads[0], rows),
                                  .indices = Reshape(indices, Shape{rows.dim(0)})};
    return {AddUp(slices, params.dim(0)), Tensor(), Tensor()};
  }
  const int64_t b = SizeOfAxes(params, 0, batch), o = SizeOfAxes(params, batch, axis),
                d = params.dim(axis), i = SizeOfAxes(params, axis + 1, params.rank()),
                n = SizeOfAxes(indices.shape(), batch, indices.rank());
  Tensor rows = Reshape(grads[0], {b, o, n, i});
  if (o != 1) rows = Transpose(rows, {0, 2, 1, 3});
  Tensor ids = Reshape(indices, {b, n});
  if (b != 1) {
    // Row k of batch b is row b * D + k of the flat table, so that one sum is enough for all
    // batches.
    std::vector<int64_t> starts;
    for (int64_t k = 0; k < b; ++k) starts.push_back(k * d);
    ids = OpBuilder("AddV2", "flat_indices")
              .Input(Cast(ids, DType::kInt64))
              .Const("batch_starts", Array::FromSpan<int64_t>({b, 1}, starts))
              .Build();
  }
  Tensor sum = UnsortedSegmentSum(Reshape(rows, {b * n, o, i}), Reshape(ids, {b * n}), b * d);
  if (o != 1) sum = Transpose(Reshape(sum, {b, d, o, i}), {0, 2, 1, 3});
  return {Reshape(sum, params), Tensor(), Tensor()};
}

absl::StatusOr<int> IndexDepth(const TensorSpec& indices, const Shape& whole) {
  EST_RETURN_IF_ERROR(CheckIndex(indices));
  if (indices.shape.rank() >= 1 && indices.shape.dim(-1) <= whole.rank()) {
    return static_cast<int>(indices.shape.dim(-1));
  }
  return InvalidArgument("the last axis of indices ", indices.shape.ToString(),
                         " must be at most the rank of ", whole.ToString());
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

// Indices [n, 1] look up rows, as Gather does, so the gradient remembers its slices. For other
// shapes TensorFlow's gradient is dense.
Tensors GatherNdGradient(const Node& node, const Tensors& grads) {
  const Shape& params = node.input(0).shape();
  const Tensor& indices = node.input(1);
  if (indices.shape().rank() != 2 || indices.dim(1) != 1)
    return {ScatterNd(indices, grads[0], params), Tensor()};
  const IndexedSlices slices = {.values = grads[0],
                                .indices = Reshape(indices, Shape{indices.dim(0)})};
  return {AddUp(slices, params.dim(0)), Tensor()};
}

// Checks that the shape of updates fits the indices into `whole`.
absl::Status CheckUpdates(const TensorSpec& indices, const TensorSpec& updates,
                          const Shape& whole) {
  EST_ASSIGN_OR_RETURN(const int depth, IndexDepth(indices, whole));
  EST_RETURN_IF_ERROR(CheckNumber(updates));
  Shape wanted;
  Append(indices.shape, 0, indices.shape.rank() - 1, wanted);
  Append(whole, depth, whole.rank(), wanted);
  if (updates.shape == wanted) return absl::OkStatus();
  return InvalidArgument("updates are ", updates.shape.ToString(), "; indices ",
                         indices.shape.ToString(), " into ", whole.ToString(), " take ",
                         wanted.ToString());
}

OutputSpecs ScatterNdRule(const ShapeContext& context) {
  EST_ASSIGN_OR_RETURN(std::vector<int64_t> dims, context.ConstantInts(2));
  const Shape whole(std::move(dims));
  EST_RETURN_IF_ERROR(CheckUpdates(context.input(0), context.input(1), whole));
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
    return InvalidArgument("segment_ids ", ids.ToString(), " are not a prefix of data ",
                           data.ToString());
  }
  if (num.size() != 1 || num[0] < 0) return InvalidArgument("num_segments must be a scalar >= 0");
  Shape to{num[0]};
  Append(data, ids.rank(), data.rank(), to);
  return std::vector<TensorSpec>{{context.input(0).dtype, to}};
}

// A row gets the gradient of its segment. A dropped row, which has a negative id, gets none.
Tensors SegmentGradient(const Node& node, const Tensors& grads) {
  const Tensor& data = node.input(0);
  const Tensor& ids = node.input(1);
  const Tensor rows = Gather(grads[0], Maximum(ids, 0));
  Shape aligned = ids.shape();
  while (aligned.rank() < data.rank()) aligned.push_back(1);
  return {Where(Reshape(GreaterEqual(ids, 0), aligned), rows, 0), Tensor(), Tensor()};
}

// If several rows have the extreme, the gradient is divided evenly among them. A dropped row gets
// none.
Tensors ExtremeSegmentGradient(const Node& node, const Tensors& grads) {
  const Tensor &data = node.input(0), &ids = node.input(1);
  const Tensor extremes = ResultOf(node);
  Shape aligned = ids.shape();
  while (aligned.rank() < data.rank()) aligned.push_back(1);
  const Tensor kept = Reshape(GreaterEqual(ids, 0), aligned);
  const Tensor rows = Maximum(ids, 0);
  const Tensor chosen = LogicalAnd(Equal(data, Gather(extremes, rows)), kept);
  const Tensor count = UnsortedSegmentSum(Cast(chosen, data.dtype()), ids, extremes.dim(0));
  return {Where(chosen, Gather(grads[0] / count, rows), 0), Tensor(), Tensor()};
}

// The inputs are tensor, indices and updates. The result has the shape of the first.
OutputSpecs TensorScatterRule(const ShapeContext& context) {
  const TensorSpec& whole = context.input(0);
  EST_RETURN_IF_ERROR(CheckSameDType(whole, context.input(2)));
  EST_RETURN_IF_ERROR(CheckUpdates(context.input(1), context.input(2), whole.shape));
  return SameAsInput(context);
}

OutputSpecs OneHotRule(const ShapeContext& context) {
  const TensorSpec& indices = context.input(0);
  if (indices.dtype != DType::kUint8) EST_RETURN_IF_ERROR(CheckIndex(indices));
  EST_ASSIGN_OR_RETURN(const std::vector<int64_t> depth, context.ConstantInts(1));
  EST_RETURN_IF_ERROR(CheckSameDType(context.input(2), context.input(3)));
  if (depth.size() != 1 || depth[0] < 0) return InvalidArgument("depth must be a scalar >= 0");
  EST_ASSIGN_OR_RETURN(const int axis,
                       CheckAxis(context.attrs.i("axis"), indices.shape.rank() + 1));
  std::vector<int64_t> dims = indices.shape.dims();
  dims.insert(dims.begin() + axis, depth[0]);
  return std::vector<TensorSpec>{{context.input(2).dtype, Shape(std::move(dims))}};
}

EST_REGISTER_OP("GatherV2", GatherRule, GatherGradient);
EST_REGISTER_OP("GatherNd", GatherNdRule, GatherNdGradient);
EST_REGISTER_OP("ScatterNd", ScatterNdRule, [](const Node& node, const Tensors& grads) -> Tensors {
  return {Tensor(), GatherNd(grads[0], node.input(0)), Tensor()};
});
EST_REGISTER_OP("TensorScatterUpdate", TensorScatterRule,
                [](const Node& node, const Tensors& grads) -> Tensors {
                  const Tensor& indices = node.input(1);
                  return {TensorScatterUpdate(grads[0], indices, ZerosLike(node.input(2))),
                          Tensor(), GatherNd(grads[0], indices)};
                });
EST_REGISTER_OP("TensorScatterAdd", TensorScatterRule,
                [](const Node& node, const Tensors& grads) -> Tensors {
                  return {grads[0], Tensor(), GatherNd(grads[0], node.input(1))};
                });
EST_REGISTER_OP("OneHot", OneHotRule);

}  // namespace

Tensor Gather(const Tensor& params, const Tensor& indices, const GatherOptions& options) {
  return OpBuilder("GatherV2", options.name)
      .Input(params)
      .Input(indices)
      .Int("axis", options.axis)
      .Attr("batch_dims", int64_t{options.batch_dims})
      .Build();
}
Tensor GatherNd(const Tensor& params, const Tensor& indices, StringArg name) {
  return AddOp("GatherNd", {params, indices}, {}, name);
}
Tensor ScatterNd(const Tensor& indices, const Tensor& updates, const Shape& shape, StringArg name) {
  Array sizes = IntArray({shape.rank()}, shape.dims());
  // TensorFlow wants one dtype for both.
  if (indices.valid() && indices.dtype() == DType::kInt64) sizes = sizes.Cast(DType::kInt64);
  return OpBuilder("ScatterNd", name).Input(indices).Input(updates).Const("shape", sizes).Build();
}
// Defines the function, and joins its shape rule and its gradient to the op's row.
#define EST_SEGMENT_FUNCTION(op, gradient)                                                         \
  EST_REGISTER_OP(#op, SegmentRule, gradient);                                                     \
  Tensor op(const Tensor& data, const Tensor& segment_ids, int64_t num_segments, StringArg name) { \
    return OpBuilder(#op, name)                                                                    \
        .Input(data)                                                                               \
        .Input(segment_ids)                                                                        \
        .Int("num_segments", num_segments)                                                         \
        .Build();                                                                                  \
  }
EST_SEGMENT_FUNCTION(UnsortedSegmentSum, SegmentGradient)
EST_SEGMENT_FUNCTION(UnsortedSegmentMax, ExtremeSegmentGradient)
EST_SEGMENT_FUNCTION(UnsortedSegmentMin, ExtremeSegmentGradient)
#undef EST_SEGMENT_FUNCTION

Tensor TensorScatterUpdate(const Tensor& x, const Tensor& indices, const Tensor& updates,
                           StringArg name) {
  return AddOp("TensorScatterUpdate", {x, indices, updates}, {}, name);
}
Tensor TensorScatterAdd(const Tensor& x, const Tensor& indices, const Tensor& updates,
                        StringArg name) {
  return AddOp("TensorScatterAdd", {x, indices, updates}, {}, name);
}

Tensor OneHot(const Tensor& indices, int64_t depth, const OneHotOptions& options) {
  return OpBuilder("OneHot", options.name)
      .Input(indices)
      .Int("depth", depth)
      .Const("on_value", Array::Scalar(options.on_value).Cast(options.dtype))
      .Const("off_value", Array::Scalar(options.off_value).Cast(options.dtype))
      .Attr("axis", int64_t{options.axis})
      .Build();
}

Tensor SequenceMask(const Tensor& lengths, int64_t max_length, const SequenceMaskOptions& options) {
  Graph& graph = GraphFor({lengths});
  if (!lengths.valid()) return AddOp("Identity", {lengths}, {}, options.name);
  if (!IsInteger(lengths.dtype())) {
    return graph.Fail(InvalidArgument(options.name, ": lengths must be integers, not ",
                                      lengths.spec().ToString()));
  }
  const GraphScope building(graph);
  const NameScope scope(options.name, graph);
  return Cast(Less(Range(0, max_length, {.dtype = lengths.dtype()}), ExpandDims(lengths, -1)),
              options.dtype);
}

}  // namespace estimator
