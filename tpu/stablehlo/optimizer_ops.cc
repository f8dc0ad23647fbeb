// The update rules of optimizers, as functions of the state: kernels/reference/optimizer_ops.cc has
// the formulas. Values of 16 bits are computed in float32, as there.
#include <functional>
#include <utility>

#include "estimator/base/status.h"
#include "tpu/stablehlo/op_lowering.h"

namespace estimator::tpu::stablehlo {
namespace {

// The operands of an op in the type of its arithmetic, with short names for that.
struct Operands {
  Writer& w;
  Values values;

  const Value& operator[](int i) const { return values[static_cast<size_t>(i)]; }
  Value Add(const Value& a, const Value& b) const { return w.Add(a, b); }
  Value Sub(const Value& a, const Value& b) const { return w.Sub(a, b); }
  Value Mul(const Value& a, const Value& b) const { return w.Mul(a, b); }
  Value Div(const Value& a, const Value& b) const { return w.Div(a, b); }
  Value Square(const Value& x) const { return w.Mul(x, x); }
  Value Sqrt(const Value& x) const { return w.Unary("sqrt", x); }
  Value OneMinus(const Value& x) const { return w.Sub(w.Scalar(x.dtype(), 1), x); }
  // a + (b - a) * (1 - decay)
  Value Decayed(const Value& a, const Value& b, const Value& decay) const {
    return Add(a, Mul(Sub(b, a), OneMinus(decay)));
  }
};

using Rule = std::function<Values(const Operands& o, const Attrs& attrs)>;

OpLowering Update(Rule rule) {
  return [rule = std::move(rule)](Writer& w, const LoweringArgs& args) -> LoweringResult {
    const DType dtype = args.input(0).dtype();
    if (!IsFloating(dtype)) return NotLowerable("variables that are trained must be floats");
    const DType compute = dtype == DType::kFloat64 ? dtype : DType::kFloat32;
    Operands operands{w, {}};
    for (const Value& input : args.inputs) operands.values.push_back(w.Convert(input, compute));
    Values results;
    for (const Value& result : rule(operands, args.spec.attrs))
      results.push_back(w.Convert(result, dtype));
    return results;
  };
}

// The inputs are var, alpha, delta.
EST_REGISTER_STABLEHLO("ApplyGradientDescent", Update([](const Operands& o, const Attrs&) {
                         return Values{o.Sub(o[0], o.Mul(o[2], o[1]))};
                       }));

// The inputs are var, accum, lr, grad, momentum.
EST_REGISTER_STABLEHLO("ApplyMomentum", Update([](const Operands& o, const Attrs& attrs) {
                         const Value accum = o.Add(o.Mul(o[1], o[4]), o[3]);
                         const Value step =
                             attrs.b("use_nesterov")
                                 ? o.Add(o.Mul(o[3], o[2]), o.Mul(o.Mul(accum, o[4]), o[2]))
                                 : o.Mul(accum, o[2]);
                         return Values{o.Sub(o[0], step), accum};
                       }));

// The inputs are var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad.
EST_REGISTER_STABLEHLO("ApplyAdam", Update([](const Operands& o, const Attrs& attrs) {
                         const Value alpha =
                             o.Div(o.Mul(o[5], o.Sqrt(o.OneMinus(o[4]))), o.OneMinus(o[3]));
                         const Value &beta1 = o[6], &gradient = o[9];
                         const Value m = o.Decayed(o[1], gradient, beta1);
                         const Value v = o.Decayed(o[2], o.Square(gradient), o[7]);
                         const Value direction =
                             attrs.b("use_nesterov")
                                 ? o.Add(o.Mul(gradient, o.OneMinus(beta1)), o.Mul(beta1, m))
                                 : m;
                         const Value step = o.Div(o.Mul(direction, alpha), o.Add(o.Sqrt(v), o[8]));
                         return Values{o.Sub(o[0], step), m, v};
                       }));

// The inputs are var, ms, mom, lr, rho, momentum, epsilon, grad.
EST_REGISTER_STABLEHLO("ApplyRMSProp", Update([](const Operands& o, const Attrs&) {
                         const Value ms = o.Decayed(o[1], o.Square(o[7]), o[4]);
                         const Value mom = o.Add(o.Mul(o[2], o[5]),
                                                 o.Div(o.Mul(o[7], o[3]), o.Sqrt(o.Add(ms, o[6]))));
                         return Values{o.Sub(o[0], mom), ms, mom};
                       }));

// The inputs are var, mg, ms, mom, lr, rho, momentum, epsilon, grad.
EST_REGISTER_STABLEHLO("ApplyCenteredRMSProp", Update([](const Operands& o, const Attrs&) {
                         const Value mg = o.Decayed(o[1], o[8], o[5]);
                         const Value ms = o.Decayed(o[2], o.Square(o[8]), o[5]);
                         const Value variance = o.Add(o.Sub(ms, o.Square(mg)), o[7]);
                         const Value mom =
                             o.Add(o.Mul(o[3], o[6]), o.Div(o.Mul(o[8], o[4]), o.Sqrt(variance)));
                         return Values{o.Sub(o[0], mom), mg, ms, mom};
                       }));

// The inputs are var, accum, lr, grad.
EST_REGISTER_STABLEHLO("ApplyAdagrad", Update([](const Operands& o, const Attrs& attrs) {
                         const Value accum =
                             attrs.b("update_slots") ? o.Add(o[1], o.Square(o[3])) : o[1];
                         const Value step = o.Div(o.Mul(o[3], o[2]), o.Sqrt(accum));
                         return Values{o.Sub(o[0], step), accum};
                       }));

// The inputs are var, accum, accum_update, lr, rho, epsilon, grad.
EST_REGISTER_STABLEHLO("ApplyAdadelta", Update([](const Operands& o, const Attrs&) {
                         const Value &rho = o[4], &epsilon = o[5], &gradient = o[6];
                         const Value rest = o.OneMinus(rho);
                         const Value accum =
                             o.Add(o.Mul(o[1], rho), o.Mul(o.Square(gradient), rest));
                         const Value update = o.Mul(
                             o.Div(o.Sqrt(o.Add(o[2], epsilon)), o.Sqrt(o.Add(accum, epsilon))),
                             gradient);
                         const Value accum_update =
                             o.Add(o.Mul(o[2], rho), o.Mul(o.Square(update), rest));
                         return Values{o.Sub(o[0], o.Mul(update, o[3])), accum, accum_update};
                       }));

// The inputs are var, accum, linear, grad, lr, l1, l2, [l2_shrinkage,] lr_power.
Values Ftrl(const Operands& o, bool shrinks) {
  Writer& w = o.w;
  const Value &var = o[0], &gradient = o[3], &rate = o[4], &l1 = o[5], &l2 = o[6];
  const Value& power = o[shrinks ? 8 : 7];
  const auto twice = [&](const Value& x) { return w.MulConst(x, 2); };
  // The usual power -0.5 is a square root, which rounds differently. The power is a run-time value.
  const auto root = [&](const Value& x) {
    const Value is_sqrt = w.Compare("EQ", power, w.Scalar(power.dtype(), -0.5));
    return w.Select(is_sqrt, o.Sqrt(x), w.Binary("power", x, w.Unary("negate", power)));
  };
  const Value shrunk = shrinks ? o.Add(gradient, o.Mul(var, twice(o[7]))) : gradient;
  const Value accum = o.Add(o[1], o.Square(gradient));
  const Value accum_root = root(accum);
  const Value change = o.Mul(o.Div(o.Sub(accum_root, root(o[1])), rate), var);
  const Value linear = o.Add(o[2], o.Sub(shrunk, change));
  const Value quadratic = o.Add(o.Div(accum_root, rate), twice(l2));
  const Value solved = o.Div(o.Sub(o.Mul(w.Unary("sign", linear), l1), linear), quadratic);
  const Value is_large = w.Compare("GT", w.Unary("abs", linear), l1);
  return {w.Select(is_large, solved, w.Scalar(var.dtype(), 0)), accum, linear};
}
EST_REGISTER_STABLEHLO("ApplyFtrl", Update([](const Operands& o, const Attrs&) {
                         return Ftrl(o, /*shrinks=*/false);
                       }));
EST_REGISTER_STABLEHLO("ApplyFtrlV2", Update([](const Operands& o, const Attrs&) {
                         return Ftrl(o, /*shrinks=*/true);
                       }));

// The inputs are var, accum, lr, l1, l2, grad.
EST_REGISTER_STABLEHLO("ApplyProximalAdagrad", Update([](const Operands& o, const Attrs&) {
                         Writer& w = o.w;
                         const Value &l1 = o[3], &gradient = o[5];
                         const Value zero = w.Scalar(l1.dtype(), 0);
                         const Value accum = o.Add(o[1], o.Square(gradient));
                         const Value scaled = o.Div(o[2], o.Sqrt(accum));
                         const Value proximal = o.Sub(o[0], o.Mul(gradient, scaled));
                         const Value excess =
                             w.Max(o.Sub(w.Unary("abs", proximal), o.Mul(scaled, l1)), zero);
                         const Value shrunk =
                             w.Select(w.Compare("GT", l1, zero),
                                      o.Mul(w.Unary("sign", proximal), excess), proximal);
                         const Value divisor = o.Add(o.Mul(scaled, o[4]), w.Scalar(l1.dtype(), 1));
                         return Values{o.Div(shrunk, divisor), accum};
                       }));

}  // namespace
}  // namespace estimator::tpu::stablehlo
