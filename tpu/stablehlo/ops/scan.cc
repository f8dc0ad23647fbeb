// Cumsum, Cumprod, MatrixBandPart, MatrixDiag, MatrixDiagPart, InvertPermutation.
#include <algorithm>

#include "estimator/base/status.h"
#include "tpu/stablehlo/op_lowering.h"
#include "tpu/stablehlo/ops/support.h"

namespace estimator::tpu::stablehlo {
namespace {

// x moved by `distance` along the axis, towards its end or, if reverse, its begin. `neutral` fills
// the gap.
Value Moved(Writer& w, const Value& x, const Value& neutral, int64_t axis, int64_t distance,
            bool reverse) {
  const int64_t rest = x.dim(axis) - distance;
  const Value kept = SliceAxis(w, x, axis, reverse ? distance : 0, rest);
  return PadAxis(w, kept, neutral, axis, reverse ? 0 : distance, reverse ? distance : 0);
}

// log2(n) steps over all elements: after step k every element has the total of 2^k elements.
LoweringResult LowerScan(Writer& w, const LoweringArgs& args, const char* op, double neutral) {
  Value total = Widened(w, args.input(0));
  EST_ASSIGN_OR_RETURN(const int64_t axis, ConstantAxis(args, 1, total.rank()));
  const bool reverse = args.spec.attrs.b("reverse");
  const int64_t n = total.dim(axis);
  const Value fill = w.Scalar(total.dtype(), neutral);
  // An exclusive scan is the inclusive one of values that are moved by one place.
  if (args.spec.attrs.b("exclusive")) total = Moved(w, total, fill, axis, 1, reverse);
  for (int64_t distance = 1; distance < n; distance *= 2)
    total = w.Binary(op, total, Moved(w, total, fill, axis, distance, reverse));
  return Values{w.Convert(total, args.output(0).dtype)};
}

EST_LOWERING(Cumsum) { return LowerScan(w, args, "add", 0); }
EST_LOWERING(Cumprod) { return LowerScan(w, args, "multiply", 1); }

EST_LOWERING(MatrixBandPart) {
  EST_ASSIGN_OR_RETURN(const Ints lower, args.ConstantInts(1));
  EST_ASSIGN_OR_RETURN(const Ints upper, args.ConstantInts(2));
  const Value& x = args.input(0);
  const Type matrix(DType::kInt32, Shape{x.dim(-2), x.dim(-1)});
  const Value below = w.Sub(w.Iota(matrix, 0), w.Iota(matrix, 1));  // row - column
  Value y = x;
  const Value zero = w.Scalar(x.dtype(), 0);
  const auto limit = [&](int64_t n) { return w.FillInt({DType::kInt32, Shape{}}, n); };
  // A number of diagonals that reaches the corner keeps all of them, and may not fit into an int32.
  if (lower[0] >= 0 && lower[0] < matrix.shape.dim(0))
    y = w.Select(w.Compare("LE", below, limit(lower[0])), y, zero);
  if (upper[0] >= 0 && upper[0] < matrix.shape.dim(1))
    y = w.Select(w.Compare("GE", below, limit(-upper[0])), y, zero);
  return Values{y};
}

Shape WithLastAxes(const Shape& shape, int kept, const Ints& last) {
  Ints dims(shape.dims().begin(), shape.dims().begin() + kept);
  dims.insert(dims.end(), last.begin(), last.end());
  return Shape(dims);
}

// Row-major, the diagonal's elements are N + 1 apart.
EST_LOWERING(MatrixDiag) {
  const Value& x = args.input(0);
  Ints none = Repeated(x.rank(), 0), interior = none;
  interior.back() = x.dim(-1);
  const Value flat = w.Pad(x, w.Scalar(x.dtype(), 0), none, none, interior);
  return Values{w.Reshape(flat, args.output(0).shape)};
}

EST_LOWERING(MatrixDiagPart) {
  const Value& x = args.input(0);
  const int64_t rows = x.dim(-2), columns = x.dim(-1);
  const int64_t size = std::min(rows, columns);
  const Value flat = w.Reshape(x, WithLastAxes(x.shape(), x.rank() - 2, {rows * columns}));
  Ints starts = Repeated(flat.rank(), 0), limits = flat.shape().dims();
  Ints strides = Repeated(flat.rank(), 1);
  limits.back() = (size - 1) * (columns + 1) + 1;
  strides.back() = columns + 1;
  return Values{w.Slice(flat, starts, limits, strides)};
}

// The inverse of a permutation is the order that sorts it.
EST_LOWERING(InvertPermutation) {
  const Value& x = args.input(0);
  const Value position = w.Iota(x.type, 0);
  const Type scalar(x.dtype(), Shape{});
  const Region less = {
      .arguments = {scalar, scalar, scalar, scalar},
      .body = [&w](const Values& a) { return Values{w.Compare("LT", a[0], a[1])}; }};
  const Values sorted = w.Ops("sort", {x, position}, {x.type, x.type},
                              "dimension = 0 : i64, is_stable = true", {less});
  return Values{sorted[1]};
}

}  // namespace
}  // namespace estimator::tpu::stablehlo
