// The update rules of optimizers, by the formulas of op_def/update_formulas.h. Values of 16 bits
// are computed in float32, as in kernels/reference/optimizer_ops.cc.
#include <array>
#include <cstddef>

#include "estimator/op_def/update_formulas.h"
#include "tpu/stablehlo/op_lowering.h"

namespace estimator::tpu::stablehlo {
namespace {

// The kind of number of the formulas: an operation on values writes an op.
struct Number {
  Writer* w = nullptr;
  Value value;

  Number Like(double constant) const { return {w, w->Scalar(value.dtype(), constant)}; }

  friend Number operator+(const Number& x, const Number& y) {
    return {x.w, x.w->Add(x.value, y.value)};
  }
  friend Number operator-(const Number& x, const Number& y) {
    return {x.w, x.w->Sub(x.value, y.value)};
  }
  friend Number operator*(const Number& x, const Number& y) {
    return {x.w, x.w->Mul(x.value, y.value)};
  }
  friend Number operator/(const Number& x, const Number& y) {
    return {x.w, x.w->Div(x.value, y.value)};
  }
  friend Number operator+(double x, const Number& y) { return y.Like(x) + y; }
  friend Number operator-(double x, const Number& y) { return y.Like(x) - y; }
  friend Number operator*(double x, const Number& y) { return y.Like(x) * y; }

  friend Number Sqrt(const Number& x) { return {x.w, x.w->Unary("sqrt", x.value)}; }
  friend Number Square(const Number& x) { return x * x; }
  friend Number Abs(const Number& x) { return {x.w, x.w->Unary("abs", x.value)}; }
  friend Number Sign(const Number& x) { return {x.w, x.w->Unary("sign", x.value)}; }
  friend Number Maximum(const Number& x, const Number& y) {
    return {x.w, x.w->Max(x.value, y.value)};
  }
  friend Number Maximum(const Number& x, double y) { return Maximum(x, x.Like(y)); }
  // The power is a run-time value, so both results are computed.
  friend Number InversePower(const Number& x, const Number& power) {
    Writer& w = *x.w;
    const Value is_sqrt = w.Compare("EQ", power.value, power.Like(-0.5).value);
    const Value other = w.Binary("power", x.value, w.Unary("negate", power.value));
    return {&w, w.Select(is_sqrt, Sqrt(x).value, other)};
  }
  friend Number IfGreater(const Number& a, const Number& b, const Number& x) {
    return {x.w, x.w->Select(x.w->Compare("GT", a.value, b.value), x.value, x.Like(0).value)};
  }
};

template <typename Rule>
LoweringResult LowerUpdate(Writer& w, const LoweringArgs& args) {
  const DType dtype = args.input(0).dtype();
  if (!IsFloating(dtype)) return NotLowerable("variables that are trained must be floats");
  const DType compute = dtype == DType::kFloat64 ? dtype : DType::kFloat32;
  std::array<Number, Rule::kDef.num_operands()> operands;
  for (size_t i = 0; i < operands.size(); ++i)
    operands[i] = {&w, w.Convert(args.inputs[i], compute)};
  const bool flag = !Rule::kDef.flag.empty() && args.spec.attrs.b(Rule::kDef.flag);
  Values results;
  for (const Number& next : Rule::Next(updates::Prepare<Rule>(operands), flag))
    results.push_back(w.Convert(next.value, dtype));
  return results;
}

[[maybe_unused]] const bool kUpdatesRegistered = [] {
  updates::OpRules::ForEach(
      []<typename Rule>() { RegisterLowering(Rule::kDef.op, LowerUpdate<Rule>); });
  return true;
}();

}  // namespace
}  // namespace estimator::tpu::stablehlo
