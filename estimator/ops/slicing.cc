#include "estimator/ops/slicing.h"

#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/op_registry.h"
#include "estimator/kernels/slice_range.h"
#include "estimator/ops/building/builder.h"
#include "estimator/ops/building/shape_rules.h"

namespace estimator {
namespace {

constexpr int64_t kMaxSize = int64_t{1} << 40;  // the sum of a few such sizes does not overflow

absl::Status CheckOnePerAxis(const std::vector<int64_t>& values, const Shape& shape, int per_axis,
                             absl::string_view what) {
  if (static_cast<int>(values.size()) == per_axis * shape.rank()) return absl::OkStatus();
  return InvalidArgument(what, " has ", values.size() / static_cast<size_t>(per_axis),
                         " entries for the ", shape.rank(), " axes of ", shape.ToString());
}

OutputSpecs SliceRule(const ShapeContext& context) {
  EST_ASSIGN_OR_RETURN(const std::vector<int64_t> begin, context.ConstantInts(1));
  EST_ASSIGN_OR_RETURN(const std::vector<int64_t> size, context.ConstantInts(2));
  const Shape& from = context.input(0).shape;
  EST_RETURN_IF_ERROR(CheckOnePerAxis(begin, from, 1, "begin"));
  EST_RETURN_IF_ERROR(CheckOnePerAxis(size, from, 1, "size"));
  Shape to;
  for (size_t i = 0; i < begin.size(); ++i) {
    const int64_t dim = from.dims()[i];
    const int64_t taken = size[i] == -1 ? dim - begin[i] : size[i];
    if (begin[i] < 0 || taken < 0 || begin[i] > dim || taken > dim - begin[i]) {
      return InvalidArgument("elements ", begin[i], " to ", begin[i] + taken,
                             " are not within axis ", i, " of ", from.ToString());
    }
    to.push_back(taken);
  }
  return std::vector<TensorSpec>{{context.input(0).dtype, to}};
}

Tensors SliceGradient(const Node& node, const Tensors& grads) {
  const std::vector<int64_t> begin = ConstantInts(node, 1);
  const Shape& from = node.input(0).shape();
  Paddings paddings;
  for (int i = 0; i < from.rank(); ++i) {
    const int64_t before = begin[static_cast<size_t>(i)];
    paddings.emplace_back(before, from.dim(i) - before - grads[0].dim(i));
  }
  return {Pad(grads[0], paddings), Tensor(), Tensor()};
}

// The shape of a strided slice of `from`. Its begin, end and strides start at input
// `first`.
absl::StatusOr<Shape> StridedShape(const ShapeContext& context, const Shape& from, int first) {
  EST_ASSIGN_OR_RETURN(const std::vector<int64_t> begin, context.ConstantInts(first));
  EST_ASSIGN_OR_RETURN(const std::vector<int64_t> end, context.ConstantInts(first + 1));
  EST_ASSIGN_OR_RETURN(const std::vector<int64_t> strides, context.ConstantInts(first + 2));
  EST_ASSIGN_OR_RETURN(SliceLayout layout, LayOutSlice(from, begin, end, strides, context.attrs));
  return std::move(layout.shape);
}

OutputSpecs StridedSliceRule(const ShapeContext& context) {
  EST_ASSIGN_OR_RETURN(Shape to, StridedShape(context, context.input(0).shape, 1));
  return std::vector<TensorSpec>{{context.input(0).dtype, std::move(to)}};
}

OutputSpecs StridedSliceGradRule(const ShapeContext& context) {
  EST_ASSIGN_OR_RETURN(std::vector<int64_t> dims, context.ConstantInts(0));
  const Shape whole(std::move(dims));
  EST_ASSIGN_OR_RETURN(const Shape part, StridedShape(context, whole, 1));
  if (!(part == context.input(4).shape)) {
    return InvalidArgument("the gradient is ", context.input(4).ToString(), ", but the slice is ",
                           part.ToString());
  }
  return std::vector<TensorSpec>{{context.input(4).dtype, whole}};
}

Tensors StridedSliceGradient(const Node& node, const Tensors& grads) {
  return {OpBuilder("StridedSliceGrad", "StridedSliceGrad")
              .Ints("shape", node.input(0).shape().dims())
              .Input(node.input(1))
              .Input(node.input(2))
              .Input(node.input(3))
              .Input(grads[0])
              .Attr("begin_mask", node.attrs().i("begin_mask"))
              .Attr("end_mask", node.attrs().i("end_mask"))
              .Attr("ellipsis_mask", node.attrs().i("ellipsis_mask"))
              .Attr("new_axis_mask", node.attrs().i("new_axis_mask"))
              .Attr("shrink_axis_mask", node.attrs().i("shrink_axis_mask"))
              .Build(),
          Tensor(), Tensor(), Tensor()};
}

Tensors StridedSliceGradGradient(const Node& node, const Tensors& grads) {
  Tensors result(5);
  result[4] =
      AddOp("StridedSlice", {grads[0], node.input(1), node.input(2), node.input(3)}, node.attrs());
  return result;
}

OutputSpecs PadRule(const ShapeContext& context) {
  EST_ASSIGN_OR_RETURN(const std::vector<int64_t> paddings, context.ConstantInts(1));
  const TensorSpec& from = context.input(0);
  EST_RETURN_IF_ERROR(CheckOnePerAxis(paddings, from.shape, 2, "paddings"));
  if (context.num_inputs() > 2) EST_RETURN_IF_ERROR(CheckSameDType(from, context.input(2)));
  Shape to;
  for (size_t i = 0; i < from.shape.dims().size(); ++i) {
    const int64_t before = paddings[2 * i], after = paddings[2 * i + 1];
    if (before < 0 || after < 0) {
      return InvalidArgument("axis ", i, " is padded by {", before, ", ", after,
                             "}; use Slice to remove elements");
    }
    if (before > kMaxSize || after > kMaxSize) {
      return InvalidArgument("axis ", i, " is padded by {", before, ", ", after, "}: too large");
    }
    to.push_back(before + from.shape.dims()[i] + after);
  }
  return std::vector<TensorSpec>{{from.dtype, to}};
}

Tensors PadGradient(const Node& node, const Tensors& grads) {
  const std::vector<int64_t> paddings = ConstantInts(node, 1);
  std::vector<int64_t> begin;
  for (size_t i = 0; i < paddings.size(); i += 2) begin.push_back(paddings[i]);
  Tensors result(static_cast<size_t>(node.num_inputs()));
  result[0] = Slice(grads[0], begin, node.input(0).shape().dims());
  return result;
}

OutputSpecs MirrorPadRule(const ShapeContext& context) {
  EST_ASSIGN_OR_RETURN(const std::vector<TensorSpec> padded, PadRule(context));
  EST_ASSIGN_OR_RETURN(const std::vector<int64_t> paddings, context.ConstantInts(1));
  const Shape& from = context.input(0).shape;
  const int64_t edge = context.attrs.s("mode") == "REFLECT" ? 1 : 0;
  for (size_t i = 0; i < from.dims().size(); ++i) {
    const int64_t most = from.dims()[i] - edge;
    if (paddings[2 * i] <= most && paddings[2 * i + 1] <= most) continue;
    return InvalidArgument("axis ", i, " of ", from.ToString(), " has only ", most,
                           " elements to mirror, not {", paddings[2 * i], ", ", paddings[2 * i + 1],
                           "}");
  }
  return padded;
}

OutputSpecs MirrorPadGradRule(const ShapeContext& context) {
  EST_ASSIGN_OR_RETURN(const std::vector<int64_t> paddings, context.ConstantInts(1));
  EST_RETURN_IF_ERROR(CheckFloating(context.input(0)));
  Shape to = context.input(0).shape;
  EST_RETURN_IF_ERROR(CheckOnePerAxis(paddings, to, 2, "paddings"));
  for (int i = 0; i < to.rank(); ++i) {
    const auto at = static_cast<size_t>(2 * i);
    to.set_dim(i, to.dim(i) - paddings[at] - paddings[at + 1]);
  }
  return std::vector<TensorSpec>{{context.input(0).dtype, to}};
}

Tensors MirrorPadGradient(const Node& node, const Tensors& grads) {
  return {AddOp("MirrorPadGrad", {grads[0], node.input(1)}, node.attrs()), Tensor()};
}

EST_REGISTER_OP("Slice", SliceRule, SliceGradient);
EST_REGISTER_OP("StridedSlice", StridedSliceRule, StridedSliceGradient);
EST_REGISTER_OP("StridedSliceGrad", StridedSliceGradRule, StridedSliceGradGradient);
EST_REGISTER_OP("Pad", PadRule, PadGradient);
EST_REGISTER_OP("PadV2", PadRule, PadGradient);
EST_REGISTER_OP("MirrorPad", MirrorPadRule, MirrorPadGradient);
EST_REGISTER_OP("MirrorPadGrad", MirrorPadGradRule,
                [](const Node& node, const Tensors& grads) -> Tensors {
                  return {AddOp("MirrorPad", {grads[0], node.input(1)}, node.attrs()), Tensor()};
                });

Array PaddingArray(const Paddings& paddings) {
  std::vector<int64_t> flat;
  for (const auto& [before, after] : paddings) {
    flat.push_back(before);
    flat.push_back(after);
  }
  return IntArray(Shape{static_cast<int64_t>(paddings.size()), 2}, flat);
}

}  // namespace

Tensor Slice(const Tensor& x, const std::vector<int64_t>& begin, const std::vector<int64_t>& size,
             StringArg name) {
  return OpBuilder("Slice", name).Input(x).Ints("begin", begin).Ints("size", size).Build();
}

Tensor StridedSlice(const Tensor& x, const std::vector<Slicing>& axes, StringArg name) {
  std::vector<int64_t> begin, end, strides;
  int64_t begin_mask = 0, end_mask = 0, ellipsis_mask = 0, new_axis_mask = 0, shrink_mask = 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    const Slicing& axis = axes[i];
    const int64_t bit = int64_t{1} << i;
    begin.push_back(axis.begin.value_or(0));
    end.push_back(axis.shrink ? begin.back() + 1 : axis.end.value_or(0));
    strides.push_back(axis.stride);
    if (!axis.begin.has_value()) begin_mask |= bit;
    if (!axis.end.has_value() && !axis.shrink) end_mask |= bit;
    if (axis.shrink) shrink_mask |= bit;
    if (axis.kind == Slicing::Kind::kEllipsis) ellipsis_mask |= bit;
    if (axis.kind == Slicing::Kind::kNewAxis) new_axis_mask |= bit;
  }
  return OpBuilder("StridedSlice", name)
      .Input(x)
      .Ints("stack", begin)
      .Ints("stack_1", end)
      .Ints("stack_2", strides)
      .Attr("begin_mask", begin_mask)
      .Attr("end_mask", end_mask)
      .Attr("ellipsis_mask", ellipsis_mask)
      .Attr("new_axis_mask", new_axis_mask)
      .Attr("shrink_axis_mask", shrink_mask)
      .Build();
}

Tensor Pad(const Tensor& x, const Paddings& paddings, const PadOptions& options) {
  const double value = options.constant_values;
  OpBuilder builder(value == 0 ? "Pad" : "PadV2", options.name);
  builder.Input(x).Const("paddings", PaddingArray(paddings));
  if (value != 0 && x.valid())
    builder.Const("constant_values", Array::Scalar(value).Cast(x.dtype()));
  return builder.Build();
}

Tensor MirrorPad(const Tensor& x, const Paddings& paddings, MirrorMode mode, StringArg name) {
  const std::string text = mode == MirrorMode::kReflect ? "REFLECT" : "SYMMETRIC";
  return OpBuilder("MirrorPad", name)
      .Input(x)
      .Const("paddings", PaddingArray(paddings))
      .Attr("mode", text)
      .Build();
}

}  // namespace estimator
