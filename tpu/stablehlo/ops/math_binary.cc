// Arithmetic on two operands with broadcasting, and AddN. 16-bit floats are computed in float32.
//
// The device does not check divisors and exponents: an integer divided by 0 gives an undefined
// number there, where the kernels of the CPU fail.
#include "tpu/stablehlo/op_lowering.h"
#include "tpu/stablehlo/ops/support.h"

namespace estimator::tpu::stablehlo {
namespace {

using Fn = Value (*)(Writer& w, const Value& a, const Value& b);

OpLowering Elementwise(Fn fn) {
  return Guarded([fn](Writer& w, const LoweringArgs& args) -> LoweringResult {
    const Value y = fn(w, Widened(w, args.input(0)), Widened(w, args.input(1)));
    return Values{w.Convert(y, args.output(0).dtype)};
  });
}

Value Zero(Writer& w, const Value& like) { return w.Scalar(like.dtype(), 0); }
Value IsZero(Writer& w, const Value& x) { return w.Compare("EQ", x, Zero(w, x)); }
Value IsNegative(Writer& w, const Value& x) { return w.Compare("LT", x, Zero(w, x)); }

// Whether a division leaves a rest whose sign is not the divisor's.
Value HasOtherSign(Writer& w, const Value& rest, const Value& divisor) {
  return w.Binary("and", w.Compare("NE", rest, Zero(w, rest)),
                  w.Compare("NE", IsNegative(w, rest), IsNegative(w, divisor)));
}

Value DivNoNan(Writer& w, const Value& a, const Value& b) {
  return w.Select(IsZero(w, b), Zero(w, a), w.Div(a, b));
}
Value FloorDiv(Writer& w, const Value& a, const Value& b) {
  const Value quotient = w.Div(a, b);
  if (IsFloating(a.dtype())) return w.Unary("floor", quotient);
  if (a.dtype() == DType::kUint8) return quotient;
  const Value below = HasOtherSign(w, w.Binary("remainder", a, b), b);
  return w.Sub(quotient, w.Convert(below, a.dtype()));
}
Value FloorMod(Writer& w, const Value& a, const Value& b) {
  const Value rest = w.Binary("remainder", a, b);
  if (a.dtype() == DType::kUint8) return rest;
  return w.Select(HasOtherSign(w, rest, b), w.Add(rest, b), rest);
}
Value TruncateDiv(Writer& w, const Value& a, const Value& b) {
  const Value quotient = w.Div(a, b);
  return IsFloating(a.dtype()) ? Truncated(w, quotient) : quotient;
}
Value SquaredDifference(Writer& w, const Value& a, const Value& b) {
  const Value difference = w.Sub(a, b);
  return w.Mul(difference, difference);
}
Value Xdivy(Writer& w, const Value& a, const Value& b) {
  return w.Select(IsZero(w, a), Zero(w, a), w.Div(a, b));
}
Value Xlogy(Writer& w, const Value& a, const Value& b) {
  return w.Select(IsZero(w, a), Zero(w, a), w.Mul(a, w.Unary("log", b)));
}

// The number of bits to shift by: numbers out of range are clamped to it, as in TensorFlow.
Value ShiftBy(Writer& w, const Value& b) {
  const double most = static_cast<double>(DTypeSize(b.dtype()) * 8 - 1);
  return w.Min(w.Max(b, Zero(w, b)), w.Scalar(b.dtype(), most));
}
Value LeftShift(Writer& w, const Value& a, const Value& b) {
  return w.Binary("shift_left", a, ShiftBy(w, b));
}
Value RightShift(Writer& w, const Value& a, const Value& b) {
  const bool is_unsigned = a.dtype() == DType::kUint8;
  return w.Binary(is_unsigned ? "shift_right_logical" : "shift_right_arithmetic", a, ShiftBy(w, b));
}

#define EST_BINARY(op, function) EST_REGISTER_STABLEHLO(op, Elementwise(function))
#define EST_BINARY_OP(op, name) \
  EST_BINARY(op, ([](Writer& w, const Value& a, const Value& b) { return w.Binary(name, a, b); }))

EST_BINARY_OP("AddV2", "add");
EST_BINARY_OP("Sub", "subtract");
EST_BINARY_OP("Mul", "multiply");
EST_BINARY_OP("RealDiv", "divide");
EST_BINARY_OP("Div", "divide");
EST_BINARY_OP("Maximum", "maximum");
EST_BINARY_OP("Minimum", "minimum");
EST_BINARY_OP("Pow", "power");
EST_BINARY_OP("Atan2", "atan2");
EST_BINARY_OP("TruncateMod", "remainder");
EST_BINARY_OP("BitwiseAnd", "and");
EST_BINARY_OP("BitwiseOr", "or");
EST_BINARY_OP("BitwiseXor", "xor");
EST_BINARY("DivNoNan", DivNoNan);
EST_BINARY("FloorDiv", FloorDiv);
EST_BINARY("FloorMod", FloorMod);
EST_BINARY("TruncateDiv", TruncateDiv);
EST_BINARY("SquaredDifference", SquaredDifference);
EST_BINARY("Xdivy", Xdivy);
EST_BINARY("Xlogy", Xlogy);
EST_BINARY("LeftShift", LeftShift);
EST_BINARY("RightShift", RightShift);

#undef EST_BINARY_OP
#undef EST_BINARY

EST_REGISTER_STABLEHLO("AddN", Guarded([](Writer& w, const LoweringArgs& args) -> LoweringResult {
                         Value sum = Widened(w, args.input(0));
                         for (int i = 1; i < args.num_inputs(); ++i)
                           sum = w.Add(sum, Widened(w, args.input(i)));
                         return Values{w.Convert(sum, args.output(0).dtype)};
                       }));

}  // namespace
}  // namespace estimator::tpu::stablehlo
