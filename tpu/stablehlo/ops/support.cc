#include "tpu/stablehlo/ops/support.h"

#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"

namespace estimator::tpu::stablehlo {

OpLowering Guarded(OpLowering lowering) {
  return [lowering = std::move(lowering)](Writer& w, const LoweringArgs& args) -> LoweringResult {
    bool empty = true;
    for (const TensorSpec& input : args.spec.inputs) {
      if (input.dtype == DType::kString)
        return NotLowerable("strings stay on the host: do this in input_fn");
    }
    for (const TensorSpec& output : args.spec.outputs) {
      if (output.dtype == DType::kString)
        return NotLowerable("strings stay on the host: do this in input_fn");
      empty = empty && output.shape.num_elements() == 0;
    }
    // Results without elements are written below, so that lowerings need not handle them.
    if (!empty) return lowering(w, args);
    Values results;
    for (const TensorSpec& output : args.spec.outputs) results.push_back(w.Fill(output, 0));
    return results;
  };
}

DType ComputeDType(DType dtype) {
  return dtype == DType::kBfloat16 || dtype == DType::kFloat16 ? DType::kFloat32 : dtype;
}

Value Widened(Writer& w, const Value& x) { return w.Convert(x, ComputeDType(x.dtype())); }

absl::StatusOr<int64_t> ConstantAxis(const LoweringArgs& args, int i, int rank) {
  EST_ASSIGN_OR_RETURN(const Ints axes, args.ConstantInts(i));
  if (axes.size() != 1)
    return NotLowerable(absl::StrCat("input ", i, " has ", axes.size(), " axes, not one"));
  return FromFront(axes[0], rank);
}

Ints Count(int64_t n) {
  Ints numbers(static_cast<size_t>(n));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

Ints AxesExcept(int rank, int64_t axis) {
  Ints axes = Count(rank);
  axes.erase(axes.begin() + axis);
  return axes;
}

Ints Repeated(int64_t n, int64_t value) { return Ints(static_cast<size_t>(n), value); }

int64_t SizeOfAxes(const Shape& shape, int begin, int end) {
  int64_t size = 1;
  for (int axis = begin; axis < end; ++axis) size *= shape.dim(axis);
  return size;
}

Value SliceAxis(Writer& w, const Value& x, int64_t axis, int64_t begin, int64_t size) {
  Ints starts = Repeated(x.rank(), 0), limits = x.shape().dims();
  starts[static_cast<size_t>(axis)] = begin;
  limits[static_cast<size_t>(axis)] = begin + size;
  if (limits == x.shape().dims() && begin == 0) return x;
  return w.Slice(x, starts, limits, Repeated(x.rank(), 1));
}

namespace {

// The indices of the first element of row i.
Values RowStarts(Writer& w, const Value& x, const Value& i) {
  Values starts = {i};
  if (x.rank() > 1) starts.resize(static_cast<size_t>(x.rank()), w.FillInt(i.type, 0));
  return starts;
}

}  // namespace

Value RowAt(Writer& w, const Value& x, const Value& i) {
  const Shape row = x.shape().Row();
  return w.Reshape(w.DynamicSlice(x, RowStarts(w, x, i), row.Stacked(1).dims()), row);
}

Value WithRowAt(Writer& w, const Value& x, const Value& i, const Value& row) {
  return w.DynamicUpdateSlice(x, w.Reshape(row, row.shape().Stacked(1)), RowStarts(w, x, i));
}

Value PadAxis(Writer& w, const Value& x, const Value& value, int64_t axis, int64_t low,
              int64_t high) {
  if (low == 0 && high == 0) return x;
  Ints lows = Repeated(x.rank(), 0), highs = lows;
  lows[static_cast<size_t>(axis)] = low;
  highs[static_cast<size_t>(axis)] = high;
  return w.Pad(x, value, lows, highs, Repeated(x.rank(), 0));
}

Value WithBatch(Writer& w, const Value& x, const Shape& like) {
  Ints shape(like.dims().begin(), like.dims().end() - 2);
  shape.push_back(x.dim(-2));
  shape.push_back(x.dim(-1));
  return w.BroadcastTo(x, Shape(shape));
}

Value MatrixProduct(Writer& w, const Value& a, const Value& b, bool transpose_a, bool transpose_b,
                    DType result) {
  const int64_t batch = a.rank() - 2;
  return w.DotGeneral(a, b,
                      {.lhs_batch = Count(batch),
                       .rhs_batch = Count(batch),
                       .lhs_contracting = {transpose_a ? batch : batch + 1},
                       .rhs_contracting = {transpose_b ? batch + 1 : batch}},
                      result);
}

Value Truncated(Writer& w, const Value& x) {
  // StableHLO has no op that rounds towards zero.
  const Value negative = w.Compare("LT", x, w.Scalar(x.dtype(), 0));
  return w.Select(negative, w.Unary("ceil", x), w.Unary("floor", x));
}

Value Polynomial(Writer& w, const Value& x, absl::Span<const double> coefficients) {
  Value sum = w.Fill(x.type, coefficients[0]);
  for (const double coefficient : coefficients.subspan(1))
    sum = w.AddConst(w.Mul(sum, x), coefficient);
  return sum;
}

}  // namespace estimator::tpu::stablehlo
