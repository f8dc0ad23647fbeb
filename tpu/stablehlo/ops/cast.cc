// Cast.
#include <cmath>

#include "tpu/stablehlo/op_lowering.h"
#include "tpu/stablehlo/ops/support.h"

namespace estimator::tpu::stablehlo {
namespace {

// NaN, and numbers that the integer cannot hold, become its smallest number. Integers below 32 bits
// take the low bits of a 64-bit integer. Both as in the x86 conversion, and so in TensorFlow's.
Value FloatToInteger(Writer& w, const Value& x, DType to) {
  const bool wide = DTypeSize(to) >= 4;
  const double limit = std::ldexp(1.0, to == DType::kInt32 ? 31 : 63);
  const Value fits = w.Binary("and", w.Compare("GE", x, w.Scalar(x.dtype(), -limit)),
                              w.Compare("LT", x, w.Scalar(x.dtype(), limit)));
  const Value safe = w.Select(fits, x, w.Scalar(x.dtype(), 0));
  const Value cut = w.Convert(wide ? safe : w.Convert(safe, DType::kInt64), to);
  return w.Select(fits, cut, w.Lowest({to, Shape{}}));
}

EST_LOWERING(Cast) {
  const Value& x = args.input(0);
  const DType to = args.output(0).dtype;
  if (IsFloating(x.dtype()) && IsInteger(to)) return Values{FloatToInteger(w, Widened(w, x), to)};
  // A 16-bit float is rounded from float32, which float64 and integers are rounded to first.
  const bool rounded_twice = x.dtype() != to && ComputeDType(to) != to;
  return Values{w.Convert(rounded_twice ? w.Convert(x, DType::kFloat32) : x, to)};
}

}  // namespace
}  // namespace estimator::tpu::stablehlo
