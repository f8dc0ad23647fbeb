// GatherV2, GatherNd, ScatterNd, TensorScatter..., UnsortedSegment..., OneHot.
//
// An index that is out of range is not an error here, as on a TPU under TensorFlow: a gather reads
// the nearest element, and a scatter drops the update. The kernels of the CPU fail.
#include <cfloat>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/base/status.h"
#include "tpu/stablehlo/op_lowering.h"
#include "tpu/stablehlo/ops/support.h"

namespace estimator::tpu::stablehlo {
namespace {

std::string List(const Ints& numbers) {
  return absl::StrCat("[", absl::StrJoin(numbers, ", "), "]");
}

// The numbers begin, ..., end - 1.
Ints Between(int64_t begin, int64_t end) {
  Ints numbers = Count(end);
  numbers.erase(numbers.begin(), numbers.begin() + begin);
  return numbers;
}

//   start_indices: [..., K], one index for each axis of `axes`, which the result lacks.
//   offset_dims: the axes of the result that hold the slices.
Value Gather(Writer& w, const Value& x, const Value& start_indices, const Ints& offset_dims,
             const Ints& axes, const Type& result) {
  Ints sizes = x.shape().dims();
  for (const int64_t axis : axes) sizes[static_cast<size_t>(axis)] = 1;
  return w.Op(
      "gather", {x, start_indices}, result,
      absl::StrCat("dimension_numbers = #stablehlo.gather<offset_dims = ", List(offset_dims),
                   ", collapsed_slice_dims = ", List(axes), ", start_index_map = ", List(axes),
                   ", index_vector_dim = ", start_indices.rank() - 1,
                   ">, indices_are_sorted = false, slice_sizes = ", IntsAttr(sizes)));
}

}  // namespace

Value GatherAxis(Writer& w, const Value& x, const Value& indices, int axis) {
  const int64_t n = indices.dim(0);
  Ints dims = x.shape().dims();
  dims[static_cast<size_t>(axis)] = n;
  return Gather(w, x, w.Reshape(indices, Shape{n, 1}), AxesExcept(x.rank(), axis), {axis},
                {x.dtype(), Shape(dims)});
}

namespace {

// Reshapes params to [B, O, D, I] and indices to [B, N], where each letter combines several axes:
// batches, axes before `axis`, `axis`, axes after it. Gathers [B, O, N, I].
EST_LOWERING(GatherV2) {
  const Value &params = args.input(0), &indices = args.input(1);
  EST_ASSIGN_OR_RETURN(const int64_t gathered, ConstantAxis(args, 2, params.rank()));
  const auto axis = static_cast<int>(gathered);
  const int64_t given = args.spec.attrs.has("batch_dims") ? args.spec.attrs.i("batch_dims") : 0;
  const auto batch = static_cast<int>(FromFront(given, indices.rank()));
  const int64_t b = SizeOfAxes(params.shape(), 0, batch),
                o = SizeOfAxes(params.shape(), batch, axis), d = params.dim(axis),
                i = SizeOfAxes(params.shape(), axis + 1, params.rank()),
                n = SizeOfAxes(indices.shape(), batch, indices.rank());
  // With one batch, an index needs no number of its batch.
  if (b == 1) {
    const Value y =
        GatherAxis(w, w.Reshape(params, Shape{o, d, i}), w.Reshape(indices, Shape{n}), 1);
    return Values{w.Reshape(y, args.output(0).shape)};
  }
  const Shape one_each{b, n, 1};
  const Value batches = w.Iota({indices.dtype(), one_each}, 0);
  const Value starts = w.Concatenate({batches, w.Reshape(indices, one_each)}, 2);
  const Value y = Gather(w, w.Reshape(params, Shape{b, o, d, i}), starts, {1, 3}, {0, 2},
                         {params.dtype(), Shape{b, o, n, i}});
  return Values{w.Reshape(y, args.output(0).shape)};
}

// Axes of the batch and of the steps become one axis of rows, which are gathered in another order.
EST_LOWERING(ReverseSequence) {
  const Value &x = args.input(0), &lengths = args.input(1);
  const int64_t time = FromFront(args.spec.attrs.i("seq_dim"), x.rank()),
                batch = FromFront(args.spec.attrs.i("batch_dim"), x.rank());
  Ints order = {batch, time};
  for (const int64_t axis : Count(x.rank()))
    if (axis != batch && axis != time) order.push_back(axis);
  Ints back(order.size());
  for (size_t i = 0; i < order.size(); ++i)
    back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  const Value sequences = w.Transpose(x, order);
  const int64_t b = x.dim(batch), t = x.dim(time),
                rest = SizeOfAxes(sequences.shape(), 2, x.rank());
  const Type places(DType::kInt32, Shape{b, t});
  const Value length = w.BroadcastInDim(w.Convert(lengths, DType::kInt32), places.shape, {0});
  const Value step = w.Iota(places, 1);
  const Value from = w.Select(w.Compare("LT", step, length),
                              w.Sub(w.Sub(length, step), w.FillInt(places, 1)), step);
  const Value rows = w.Add(w.Mul(w.Iota(places, 0), w.FillInt(places, t)), from);
  const Value y =
      GatherAxis(w, w.Reshape(sequences, Shape{1, b * t, rest}), w.Reshape(rows, Shape{b * t}), 1);
  return Values{w.Transpose(w.Reshape(y, sequences.shape()), back)};
}

EST_LOWERING(GatherNd) {
  const Value &params = args.input(0), &indices = args.input(1);
  const int64_t depth = indices.dim(-1), rows = indices.rank() - 1;
  const Shape& shape = args.output(0).shape;
  // An index without axes stands for the whole of params.
  if (depth == 0) return Values{w.BroadcastTo(params, shape)};
  return Values{Gather(w, params, indices, Between(rows, shape.rank()), Count(depth),
                       {params.dtype(), shape})};
}

// x with the updates combined by `op`, or set if it is null.
//   indices: [..., K], one index for each of the first K axes of x.
//   updates: [..., slice of x].
Value Scatter(Writer& w, const Value& x, const Value& indices, const Value& updates,
              const char* op) {
  const int64_t depth = indices.dim(-1), rows = indices.rank() - 1;
  const Type element(x.dtype(), Shape{});
  const Region set = {.arguments = {element, element},
                      .body = [](const Values& a) { return Values{a[1]}; }};
  const Region region = op == nullptr ? set : w.ScalarRegion(op, x.dtype());
  return w.Ops("scatter", {x, indices, updates}, {x.type},
               absl::StrCat("indices_are_sorted = false, scatter_dimension_numbers = "
                            "#stablehlo.scatter<update_window_dims = ",
                            List(Between(rows, updates.rank())),
                            ", inserted_window_dims = ", List(Count(depth)),
                            ", scatter_dims_to_operand_dims = ", List(Count(depth)),
                            ", index_vector_dim = ", rows, ">, unique_indices = false"),
               {region})[0];
}

// The same for K = 0 too: then every update is for the whole of x, and they follow one another.
Value ScatterNd(Writer& w, const Value& x, const Value& indices, const Value& updates,
                const char* op) {
  if (updates.shape().num_elements() == 0) return x;
  const int64_t depth = indices.dim(-1);
  if (depth > 0) return Scatter(w, x, indices, updates, op);
  const int64_t rows = SizeOfAxes(indices.shape(), 0, indices.rank() - 1);
  Ints all = x.shape().dims(), whole = all;
  all.insert(all.begin(), rows);
  const Value stacked = w.Reshape(updates, Shape(all));
  if (op != nullptr) return w.Binary(op, x, w.Reduce(op, stacked, {0}));
  return w.Reshape(SliceAxis(w, stacked, 0, rows - 1, 1), Shape(whole));
}

EST_LOWERING(ScatterNd) {
  const Value zeros = w.Fill(args.output(0), 0);
  return Values{ScatterNd(w, zeros, args.input(0), args.input(1), "add")};
}

EST_LOWERING(TensorScatterAdd) {
  return Values{ScatterNd(w, args.input(0), args.input(1), args.input(2), "add")};
}

EST_LOWERING(TensorScatterUpdate) {
  return Values{ScatterNd(w, args.input(0), args.input(1), args.input(2), nullptr)};
}

// The value of a segment without rows.
Value EmptySegments(Writer& w, const TensorSpec& spec, absl::string_view op) {
  if (op == "add") return w.Fill(spec, 0);
  if (!IsFloating(spec.dtype)) return op == "maximum" ? w.Lowest(spec) : w.Highest(spec);
  // The largest finite number: Writer::Lowest of a float is an infinity.
  const double largest = spec.dtype == DType::kFloat64    ? DBL_MAX
                         : spec.dtype == DType::kFloat32  ? double{FLT_MAX}
                         : spec.dtype == DType::kBfloat16 ? 3.38953138925153547590e38
                                                          : 65504;
  return w.Fill(spec, op == "maximum" ? -largest : largest);
}

// A row with a negative id is dropped, as in TensorFlow.
LoweringResult LowerSegments(Writer& w, const LoweringArgs& args, const char* op) {
  const Value &data = args.input(0), &ids = args.input(1);
  const Value empty = EmptySegments(w, args.output(0), op);
  if (data.shape().num_elements() == 0) return Values{empty};
  const int64_t n = ids.shape().num_elements();
  Ints rows = args.output(0).shape.dims();
  // `ids` may have several axes, which become one.
  rows[0] = n;
  return Values{Scatter(w, empty, w.Reshape(ids, Shape{n, 1}), w.Reshape(data, Shape(rows)), op)};
}

EST_LOWERING(UnsortedSegmentSum) { return LowerSegments(w, args, "add"); }
EST_LOWERING(UnsortedSegmentMax) { return LowerSegments(w, args, "maximum"); }
EST_LOWERING(UnsortedSegmentMin) { return LowerSegments(w, args, "minimum"); }

// As in TensorFlow, an index out of range leaves its row at the off value.
EST_LOWERING(OneHot) {
  const Shape& shape = args.output(0).shape;
  const int64_t axis = FromFront(args.spec.attrs.i("axis"), shape.rank());
  const bool small = args.input(0).dtype() == DType::kUint8;  // may not hold the depth
  const Value indices = small ? w.Convert(args.input(0), DType::kInt32) : args.input(0);
  const Value hot =
      w.Compare("EQ", w.BroadcastInDim(indices, shape, AxesExcept(shape.rank(), axis)),
                w.Iota({indices.dtype(), shape}, axis));
  return Values{w.Select(hot, args.input(2), args.input(3))};
}

}  // namespace
}  // namespace estimator::tpu::stablehlo
