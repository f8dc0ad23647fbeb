// Transpose, ConcatV2, Split, SplitV, Pack, Unpack, ReverseV2, Tile.
#include "estimator/base/status.h"
#include "tpu/stablehlo/op_lowering.h"
#include "tpu/stablehlo/ops/support.h"

namespace estimator::tpu::stablehlo {
namespace {

// The constant axes in input i, counted from the front.
absl::StatusOr<Ints> AxesOf(const LoweringArgs& args, int i) {
  EST_ASSIGN_OR_RETURN(Ints axes, args.ConstantInts(i));
  for (int64_t& axis : axes) axis = FromFront(axis, args.input(0).rank());
  return axes;
}

EST_LOWERING(Transpose) {
  EST_ASSIGN_OR_RETURN(const Ints permutation, AxesOf(args, 1));
  return Values{w.Transpose(args.input(0), permutation)};
}

EST_LOWERING(ReverseV2) {
  EST_ASSIGN_OR_RETURN(const Ints axes, AxesOf(args, 1));
  if (axes.empty()) return Values{args.input(0)};
  return Values{w.Reverse(args.input(0), axes)};
}

// Two axes for each axis of x: the repetitions, then the elements.
EST_LOWERING(Tile) {
  EST_ASSIGN_OR_RETURN(const Ints multiples, args.ConstantInts(1));
  const Value& x = args.input(0);
  Shape repeated;
  Ints dims;
  for (size_t axis = 0; axis < multiples.size(); ++axis) {
    repeated.push_back(multiples[axis]);
    dims.push_back(repeated.rank());
    repeated.push_back(x.shape().dims()[axis]);
  }
  return Values{w.Reshape(w.BroadcastInDim(x, repeated, dims), args.output(0).shape)};
}

// The values without the ones that have no elements; at least one.
Values WithElements(const Values& values) {
  Values result;
  for (const Value& value : values) {
    if (value.shape().num_elements() > 0) result.push_back(value);
  }
  return result;
}

Value Joined(Writer& w, const Values& parts, int64_t axis) {
  const Values full = WithElements(parts);
  return full.size() == 1 ? full[0] : w.Concatenate(full, axis);
}

EST_LOWERING(ConcatV2) {
  const int n = args.num_inputs() - 1;
  EST_ASSIGN_OR_RETURN(const int64_t axis, ConstantAxis(args, n, args.output(0).shape.rank()));
  return Values{Joined(w, Values(args.inputs.begin(), args.inputs.begin() + n), axis)};
}

EST_LOWERING(Pack) {
  const Shape& whole = args.output(0).shape;
  const int64_t axis = FromFront(args.spec.attrs.i("axis"), whole.rank());
  Ints part = whole.dims();
  part[static_cast<size_t>(axis)] = 1;
  Values parts;
  for (const Value& input : args.inputs) parts.push_back(w.Reshape(input, Shape(part)));
  return Values{Joined(w, parts, axis)};
}

EST_LOWERING(Unpack) {
  const Value& x = args.input(0);
  const int64_t axis = FromFront(args.spec.attrs.i("axis"), x.rank());
  Values parts;
  for (const TensorSpec& output : args.spec.outputs) {
    const auto i = static_cast<int64_t>(parts.size());
    parts.push_back(w.Reshape(SliceAxis(w, x, axis, i, 1), output.shape));
  }
  return parts;
}

// The parts of x along `axis`, with the sizes of the outputs.
Values Divided(Writer& w, const LoweringArgs& args, const Value& x, int64_t axis) {
  Values parts;
  int64_t begin = 0;
  for (const TensorSpec& output : args.spec.outputs) {
    const int64_t size = output.shape.dim(static_cast<int>(axis));
    parts.push_back(SliceAxis(w, x, axis, begin, size));
    begin += size;
  }
  return parts;
}

EST_LOWERING(Split) {
  const Value& x = args.input(1);
  EST_ASSIGN_OR_RETURN(const int64_t axis, ConstantAxis(args, 0, x.rank()));
  return Divided(w, args, x, axis);
}

EST_LOWERING(SplitV) {
  const Value& x = args.input(0);
  EST_ASSIGN_OR_RETURN(const int64_t axis, ConstantAxis(args, 2, x.rank()));
  return Divided(w, args, x, axis);
}

}  // namespace
}  // namespace estimator::tpu::stablehlo
