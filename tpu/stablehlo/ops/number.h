// A value of StableHLO as the kind of number for the formulas of op_def/elementwise_table.h and
// op_def/update_formulas.h: an operation on numbers writes an op.
// StableHLO lacks some of the functions; here they are made of others.
#ifndef TPU_STABLEHLO_OPS_NUMBER_H_
#define TPU_STABLEHLO_OPS_NUMBER_H_

#include <utility>

#include "tpu/stablehlo/ops/support.h"
#include "tpu/stablehlo/writer.h"

namespace estimator::tpu::stablehlo {

// A floating number, an integer or a bool, with the writer that writes what is done with it.
// Numbers of different shapes are broadcast.
struct Number {
  Writer* w = nullptr;
  Value v;

  DType dtype() const { return v.dtype(); }
  // A number of the same dtype.
  Number Of(double value) const { return {w, w->Scalar(dtype(), value)}; }
  Number Unary(const char* op) const { return {w, w->Unary(op, v)}; }
  Number Binary(const char* op, const Number& other) const {
    return {w, w->Binary(op, v, other.v)};
  }
  Number Compare(const char* direction, const Number& other) const {
    return {w, w->Compare(direction, v, other.v)};
  }
};

#define EST_OPERATOR(symbol, call)                                                   \
  inline Number operator symbol(const Number& a, const Number& b) { return a.call; } \
  inline Number operator symbol(const Number& a, double c) {                         \
    const Number b = a.Of(c);                                                        \
    return a.call;                                                                   \
  }                                                                                  \
  inline Number operator symbol(double c, const Number& b) {                         \
    const Number a = b.Of(c);                                                        \
    return a.call;                                                                   \
  }
EST_OPERATOR(+, Binary("add", b))
EST_OPERATOR(-, Binary("subtract", b))
EST_OPERATOR(*, Binary("multiply", b))
EST_OPERATOR(/, Binary("divide", b))
EST_OPERATOR(&, Binary("and", b))
EST_OPERATOR(|, Binary("or", b))
EST_OPERATOR(^, Binary("xor", b))
EST_OPERATOR(==, Compare("EQ", b))
EST_OPERATOR(!=, Compare("NE", b))
EST_OPERATOR(<, Compare("LT", b))
EST_OPERATOR(<=, Compare("LE", b))
EST_OPERATOR(>, Compare("GT", b))
EST_OPERATOR(>=, Compare("GE", b))
#undef EST_OPERATOR
inline Number operator-(const Number& x) { return x.Unary("negate"); }
inline Number operator~(const Number& x) { return x.Unary("not"); }

inline Number Select(const Number& condition, const Number& a, const Number& b) {
  return {a.w, a.w->Select(condition.v, a.v, b.v)};
}
inline Number Select(const Number& condition, double a, const Number& b) {
  return Select(condition, b.Of(a), b);
}
inline Number Select(const Number& condition, const Number& a, double b) {
  return Select(condition, a, a.Of(b));
}
inline Number NegMulAdd(const Number& a, const Number& b, double c) { return c - a * b; }
inline Number Square(const Number& x) { return x * x; }

#define EST_UNARY_OP(function, op) \
  inline Number function(const Number& x) { return x.Unary(op); }
EST_UNARY_OP(Sqrt, "sqrt")
EST_UNARY_OP(Rsqrt, "rsqrt")
EST_UNARY_OP(Exp, "exponential")
EST_UNARY_OP(Expm1, "exponential_minus_one")
EST_UNARY_OP(Log, "log")
EST_UNARY_OP(Log1p, "log_plus_one")
EST_UNARY_OP(Sin, "sine")
EST_UNARY_OP(Cos, "cosine")
EST_UNARY_OP(Tanh, "tanh")
EST_UNARY_OP(Sigmoid, "logistic")
EST_UNARY_OP(Floor, "floor")
EST_UNARY_OP(Ceil, "ceil")
#undef EST_UNARY_OP
#define EST_BINARY_OP(function, op) \
  inline Number function(const Number& a, const Number& b) { return a.Binary(op, b); }
EST_BINARY_OP(Max, "maximum")
EST_BINARY_OP(Min, "minimum")
EST_BINARY_OP(Pow, "power")
EST_BINARY_OP(Atan2, "atan2")
EST_BINARY_OP(Remainder, "remainder")
#undef EST_BINARY_OP

// Update rules call these.
inline Number Maximum(const Number& x, const Number& y) { return Max(x, y); }
inline Number Maximum(const Number& x, double y) { return Max(x, x.Of(y)); }
inline Number IfGreater(const Number& a, const Number& b, const Number& x) {
  return Select(a > b, x, x.Of(0));
}
Number InversePower(const Number& x, const Number& power);

Number Abs(const Number& x);
Number Sign(const Number& x);
Number HalfToEven(const Number& x);
Number Infinity(const Number& like);
Number IsFinite(const Number& x);
Number Tan(const Number& x);
Number Asin(const Number& x);
Number Acos(const Number& x);
Number Atan(const Number& x);
Number Sinh(const Number& x);
Number Cosh(const Number& x);
Number Asinh(const Number& x);
Number Acosh(const Number& x);
Number Atanh(const Number& x);
Number Erf(const Number& x);
Number Erfc(const Number& x);
Number Softplus(const Number& x);

Number Truncate(const Number& x);
Number FloorDiv(const Number& a, const Number& b);
Number FloorMod(const Number& a, const Number& b);
Number ShiftLeft(const Number& a, const Number& bits);
Number ShiftRight(const Number& a, const Number& bits);

}  // namespace estimator::tpu::stablehlo

#endif  // TPU_STABLEHLO_OPS_NUMBER_H_
