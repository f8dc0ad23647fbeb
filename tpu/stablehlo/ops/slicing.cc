// Slice, StridedSlice, StridedSliceGrad, Pad, PadV2, MirrorPad, MirrorPadGrad.
#include <cstdlib>

#include "estimator/base/status.h"
#include "estimator/kernels/slice_range.h"
#include "tpu/stablehlo/op_lowering.h"
#include "tpu/stablehlo/ops/support.h"

namespace estimator::tpu::stablehlo {
namespace {

EST_LOWERING(Slice) {
  EST_ASSIGN_OR_RETURN(const Ints begin, args.ConstantInts(1));
  Ints limits = begin;
  for (size_t axis = 0; axis < limits.size(); ++axis)
    limits[axis] += args.output(0).shape.dims()[axis];
  return Values{w.Slice(args.input(0), begin, limits, Repeated(args.input(0).rank(), 1))};
}

// The elements of a strided slice in ascending order, and the axes that it goes through backwards.
struct Taken {
  Shape sizes;
  Shape shape;  // of the slice
  Ints first = {}, last = {}, distance = {}, reversed = {};
};

//   first: the number of the operand `begin`; `end` and `strides` follow.
absl::StatusOr<Taken> TakenBy(const LoweringArgs& args, const Shape& whole, int first) {
  EST_ASSIGN_OR_RETURN(const Ints begin, args.ConstantInts(first));
  EST_ASSIGN_OR_RETURN(const Ints end, args.ConstantInts(first + 1));
  EST_ASSIGN_OR_RETURN(const Ints strides, args.ConstantInts(first + 2));
  EST_ASSIGN_OR_RETURN(const SliceLayout layout,
                       LayOutSlice(whole, begin, end, strides, args.spec.attrs));
  Taken taken = {.sizes = layout.sizes(), .shape = layout.shape};
  for (const SliceRange& axis : layout.axes) {
    // StableHLO has no negative strides: the elements are taken in ascending order, then reversed.
    const int64_t other_end = axis.begin + (axis.size - 1) * axis.stride;
    if (axis.stride < 0) taken.reversed.push_back(static_cast<int64_t>(taken.first.size()));
    taken.first.push_back(axis.stride < 0 ? other_end : axis.begin);
    taken.last.push_back(axis.stride < 0 ? axis.begin : other_end);
    taken.distance.push_back(std::abs(axis.stride));
  }
  return taken;
}

EST_LOWERING(StridedSlice) {
  EST_ASSIGN_OR_RETURN(const Taken taken, TakenBy(args, args.input(0).shape(), 1));
  Ints limits = taken.last;
  for (int64_t& limit : limits) ++limit;
  Value y = w.Slice(args.input(0), taken.first, limits, taken.distance);
  if (!taken.reversed.empty()) y = w.Reverse(y, taken.reversed);
  return Values{w.Reshape(y, args.output(0).shape)};
}

EST_LOWERING(StridedSliceGrad) {
  const TensorSpec& whole = args.output(0);
  if (args.input(4).shape().num_elements() == 0) return Values{w.Fill(whole, 0)};
  EST_ASSIGN_OR_RETURN(const Taken taken, TakenBy(args, whole.shape, 1));
  Value dy = w.Reshape(args.input(4), taken.sizes);
  if (!taken.reversed.empty()) dy = w.Reverse(dy, taken.reversed);
  Ints high, interior;
  for (size_t axis = 0; axis < taken.last.size(); ++axis) {
    high.push_back(whole.shape.dims()[axis] - taken.last[axis] - 1);
    interior.push_back(taken.distance[axis] - 1);
  }
  return Values{w.Pad(dy, w.Scalar(whole.dtype, 0), taken.first, high, interior)};
}

LoweringResult LowerPad(Writer& w, const LoweringArgs& args) {
  EST_ASSIGN_OR_RETURN(const Ints paddings, args.ConstantInts(1));
  const Value& x = args.input(0);
  const Value value = args.num_inputs() > 2 ? args.input(2) : w.Scalar(x.dtype(), 0);
  if (x.shape().num_elements() == 0) return Values{w.BroadcastTo(value, args.output(0).shape)};
  Ints low, high;
  for (size_t i = 0; i < paddings.size(); ++i) (i % 2 == 0 ? low : high).push_back(paddings[i]);
  return Values{w.Pad(x, value, low, high, Repeated(x.rank(), 0))};
}

// How an axis of n elements is padded by MirrorPad. Its elements [edge, edge + low) are added in
// front, reversed. Its elements [n - edge - high, n - edge) are added at the end, reversed. edge is
// 1 if the border is not repeated (REFLECT), else 0.
struct Mirror {
  int64_t axis = 0, n = 0, low = 0, high = 0, edge = 0;
};

absl::StatusOr<std::vector<Mirror>> MirrorsOf(const LoweringArgs& args, const Shape& inner) {
  EST_ASSIGN_OR_RETURN(const Ints paddings, args.ConstantInts(1));
  std::vector<Mirror> mirrors;
  for (size_t axis = 0; axis < inner.dims().size(); ++axis) {
    mirrors.push_back({.axis = static_cast<int64_t>(axis),
                       .n = inner.dims()[axis],
                       .low = paddings[2 * axis],
                       .high = paddings[2 * axis + 1],
                       .edge = args.spec.attrs.s("mode") == "REFLECT" ? 1 : 0});
  }
  return mirrors;
}

EST_LOWERING(MirrorPad) {
  EST_ASSIGN_OR_RETURN(const std::vector<Mirror> mirrors, MirrorsOf(args, args.input(0).shape()));
  Value x = args.input(0);
  // One axis after the other: the next one mirrors what this one added, which fills the corners.
  for (const Mirror& m : mirrors) {
    const auto mirrored = [&](int64_t begin, int64_t size) {
      return w.Reverse(SliceAxis(w, x, m.axis, begin, size), {m.axis});
    };
    Values parts;
    if (m.low > 0) parts.push_back(mirrored(m.edge, m.low));
    parts.push_back(x);
    if (m.high > 0) parts.push_back(mirrored(m.n - m.edge - m.high, m.high));
    if (parts.size() > 1) x = w.Concatenate(parts, m.axis);
  }
  return Values{x};
}

// Adds the mirrored elements to those that they come from.
EST_LOWERING(MirrorPadGrad) {
  EST_ASSIGN_OR_RETURN(const std::vector<Mirror> mirrors, MirrorsOf(args, args.output(0).shape));
  Value dy = Widened(w, args.input(0));
  const Value zero = w.Scalar(dy.dtype(), 0);
  for (const Mirror& m : mirrors) {
    // The elements from `begin` on, backwards, at `place` of an axis of n elements.
    const auto placed = [&](int64_t begin, int64_t size, int64_t place) {
      const Value part = w.Reverse(SliceAxis(w, dy, m.axis, begin, size), {m.axis});
      return PadAxis(w, part, zero, m.axis, place, m.n - size - place);
    };
    Value sum = SliceAxis(w, dy, m.axis, m.low, m.n);
    if (m.low > 0) sum = w.Add(sum, placed(0, m.low, m.edge));
    if (m.high > 0) sum = w.Add(sum, placed(m.low + m.n, m.high, m.n - m.edge - m.high));
    dy = sum;
  }
  return Values{w.Convert(dy, args.output(0).dtype)};
}

EST_REGISTER_STABLEHLO("Pad", Guarded(LowerPad));
EST_REGISTER_STABLEHLO("PadV2", Guarded(LowerPad));

}  // namespace
}  // namespace estimator::tpu::stablehlo
