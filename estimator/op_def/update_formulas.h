// The update rules of optimizers: (state, hyperparameters, gradient) -> new state.
//
// A rule is a struct: a description, and a formula that is a template over the kind of number N.
// All arithmetic is done for each element. The kinds are
//   float, double   in kernels/reference/optimizer_ops.cc and kernels/fused/optimizers.cc
//   Tensor          in ops/optimizer_ops.cc, for rows of a table and for imported graphs
//   Number          in tpu/stablehlo/ops/number.h
//
// To add a rule, write its struct and name it in OpRules. Then it is an op with a shape rule,
// kernels, a lowering, import and export.
//
// A kind of number has the operators + - * /, also with a C++ number on the left, and the functions
//   Sqrt(x)  Square(x)  Abs(x)  Sign(x)  Maximum(x, y)
//   InversePower(x, p)            x^-p
//   IfGreater(a, b, x)            x if a > b, else 0
// It may have its own way to compute these, as TensorFlow has for rows:
//   MovingAverage(old, x, decay)  old + (x - old) * (1 - decay)
//   OverRoot(x, y)                x / sqrt(y)
//   ScaledOverRoot(x, rate, y)    x * rate / sqrt(y)
//   AddDifference(x, y, z)        x + (y - z)
//   AddIf(flag, x, y)             x + y if flag, else x
//
// Source: TF 2.15 training_ops.cc.
#ifndef ESTIMATOR_OP_DEF_UPDATE_FORMULAS_H_
#define ESTIMATOR_OP_DEF_UPDATE_FORMULAS_H_

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <type_traits>

#include "estimator/op_def/update_def.h"

namespace estimator::updates {

template <std::floating_point T>
T Sqrt(T x) {
  return std::sqrt(x);
}
template <std::floating_point T>
T Square(T x) {
  return x * x;
}
template <std::floating_point T>
T Abs(T x) {
  return std::abs(x);
}
template <std::floating_point T>
T Sign(T x) {
  return static_cast<T>((x > 0) - (x < 0));
}
template <std::floating_point T>
T Maximum(T x, std::type_identity_t<T> y) {
  return std::max(x, y);
}
// As in TensorFlow, the usual power -0.5 uses sqrt, which is faster and rounds differently.
template <std::floating_point T>
T InversePower(T x, T power) {
  return power == T{-0.5} ? std::sqrt(x) : std::pow(x, -power);
}
template <std::floating_point T>
T IfGreater(T a, T b, T x) {
  return a > b ? x : T{0};
}

// For all kinds that have none of their own.
template <typename N>
N AddIf(bool flag, const N& x, const N& y) {
  return flag ? x + y : x;
}
template <typename N>
N MovingAverage(const N& old, const N& x, const N& decay) {
  return old + (x - old) * (1 - decay);
}
template <typename N>
N OverRoot(const N& x, const N& y) {
  return x / Sqrt(y);
}
template <typename N>
N ScaledOverRoot(const N& x, const N& rate, const N& y) {
  return x * rate / Sqrt(y);
}
template <typename N>
N AddDifference(const N& x, const N& y, const N& z) {
  return x + (y - z);
}

// A formula, Next, takes the operands in the order of kDef.operands, and its flag: a bool, or a
// type that becomes a bool when the formula is compiled, so that a loop need not choose.
// A rule with a function Prepare has it called on the operands first, once for all elements.

// var' = var - alpha * delta
struct ApplyGradientDescent {
  static constexpr UpdateDef kDef = {.op = "ApplyGradientDescent",
                                     .signature = "var alpha delta -> var",
                                     .rows = RowUpdates::kSameResult};

  template <typename N>
  static std::array<N, 1> Next(const std::array<N, 3>& operands, auto /*flag*/) {
    const auto& [var, alpha, delta] = operands;
    return {var - delta * alpha};
  }
};

// accum' = accum * momentum + grad
// var'   = var - lr * accum'                        without Nesterov
// var'   = var - lr * (grad + momentum * accum')    with Nesterov
struct ApplyMomentum {
  static constexpr UpdateDef kDef = {.op = "ApplyMomentum",
                                     .signature = "var accum lr grad momentum -> var accum",
                                     .attrs = "use_nesterov:b=false"};

  template <typename N>
  static std::array<N, 2> Next(const std::array<N, 5>& operands, auto use_nesterov) {
    const auto& [var, accum, lr, grad, momentum] = operands;
    const N next = accum * momentum + grad;
    const N step = use_nesterov ? grad * lr + next * momentum * lr : next * lr;
    return {var - step, next};
  }
};

// m'   = m + (grad - m) * (1 - beta1)
// v'   = v + (grad^2 - v) * (1 - beta2)
// var' = var - lr * sqrt(1 - beta2_power) / (1 - beta1_power) * m' / (sqrt(v') + epsilon)
// With Nesterov, m' in the last line is replaced by grad * (1 - beta1) + beta1 * m'.
//   beta1_power, beta2_power: beta1^t and beta2^t at step t, where the first step is 1
struct ApplyAdam {
  static constexpr UpdateDef kDef = {
      .op = "ApplyAdam",
      .signature = "var m v beta1_power beta2_power lr beta1 beta2 epsilon grad -> var m v",
      .attrs = "use_nesterov:b=false",
      .rows = RowUpdates::kAllRows};

  // The rate of the step, which is the same for all elements, takes the place of lr.
  template <typename N>
  static std::array<N, 10> Prepare(std::array<N, 10> operands) {
    auto& [var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad] = operands;
    lr = lr * Sqrt(1 - beta2_power) / (1 - beta1_power);
    return operands;
  }
  template <typename N>
  static std::array<N, 3> Next(const std::array<N, 10>& operands, auto use_nesterov) {
    const auto& [var, m, v, beta1_power, beta2_power, rate, beta1, beta2, epsilon, grad] = operands;
    const N next_m = MovingAverage(m, grad, beta1);
    const N next_v = MovingAverage(v, Square(grad), beta2);
    const N direction = use_nesterov ? grad * (1 - beta1) + beta1 * next_m : next_m;
    return {var - direction * rate / (Sqrt(next_v) + epsilon), next_m, next_v};
  }
};

// ms'  = ms + (grad^2 - ms) * (1 - rho)
// mom' = mom * momentum + lr * grad / sqrt(ms' + epsilon)
// var' = var - mom'
struct ApplyRMSProp {
  static constexpr UpdateDef kDef = {
      .op = "ApplyRMSProp", .signature = "var ms mom lr rho momentum epsilon grad -> var ms mom"};

  template <typename N>
  static std::array<N, 3> Next(const std::array<N, 8>& operands, auto /*flag*/) {
    const auto& [var, ms, mom, lr, rho, momentum, epsilon, grad] = operands;
    const N next_ms = MovingAverage(ms, Square(grad), rho);
    const N next_mom = mom * momentum + ScaledOverRoot(grad, lr, next_ms + epsilon);
    return {var - next_mom, next_ms, next_mom};
  }
};

// As ApplyRMSProp, but with ms' - mg'^2 instead of ms' in mom'.
//   mg' = mg + (grad - mg) * (1 - rho)
struct ApplyCenteredRMSProp {
  static constexpr UpdateDef kDef = {
      .op = "ApplyCenteredRMSProp",
      .signature = "var mg ms mom lr rho momentum epsilon grad -> var mg ms mom"};

  template <typename N>
  static std::array<N, 4> Next(const std::array<N, 9>& operands, auto /*flag*/) {
    const auto& [var, mg, ms, mom, lr, rho, momentum, epsilon, grad] = operands;
    const N next_mg = MovingAverage(mg, grad, rho);
    const N next_ms = MovingAverage(ms, Square(grad), rho);
    const N variance = next_ms - Square(next_mg) + epsilon;
    const N next_mom = mom * momentum + ScaledOverRoot(grad, lr, variance);
    return {var - next_mom, next_mg, next_ms, next_mom};
  }
};

// accum' = accum + grad^2                      if update_slots, else accum
// var'   = var - lr * grad / sqrt(accum')
struct ApplyAdagrad {
  static constexpr UpdateDef kDef = {.op = "ApplyAdagrad",
                                     .signature = "var accum lr grad -> var accum",
                                     .attrs = "update_slots:b=true",
                                     .rows = RowUpdates::kSameResult};

  template <typename N>
  static std::array<N, 2> Next(const std::array<N, 4>& operands, auto update_slots) {
    const auto& [var, accum, lr, grad] = operands;
    const N next = AddIf(update_slots, accum, Square(grad));
    return {var - grad * lr / Sqrt(next), next};
  }
};

// accum'        = accum * rho + grad^2 * (1 - rho)
// update        = sqrt(accum_update + epsilon) / sqrt(accum' + epsilon) * grad
// accum_update' = accum_update * rho + update^2 * (1 - rho)
// var'          = var - lr * update
struct ApplyAdadelta {
  static constexpr UpdateDef kDef = {
      .op = "ApplyAdadelta",
      .signature = "var accum accum_update lr rho epsilon grad -> var accum accum_update"};

  template <typename N>
  static std::array<N, 3> Next(const std::array<N, 7>& operands, auto /*flag*/) {
    const auto& [var, accum, accum_update, lr, rho, epsilon, grad] = operands;
    const N next_accum = accum * rho + Square(grad) * (1 - rho);
    const N update = OverRoot(Sqrt(accum_update + epsilon), next_accum + epsilon) * grad;
    const N next_update = accum_update * rho + Square(update) * (1 - rho);
    return {var - update * lr, next_accum, next_update};
  }
};

// The formula of both Ftrl ops. `shrunk` is the gradient with the shrinkage of l2.
template <typename N>
std::array<N, 3> NextFtrl(const N& var, const N& accum, const N& linear, const N& grad, const N& lr,
                          const N& l1, const N& l2, const N& lr_power, const N& shrunk) {
  const N next_accum = accum + Square(grad);
  const N root = InversePower(next_accum, lr_power);
  const N change = (root - InversePower(accum, lr_power)) / lr * var;
  const N next_linear = AddDifference(linear, shrunk, change);
  const N quadratic = root / lr + 2 * l2;
  const N solved = (l1 * Sign(next_linear) - next_linear) / quadratic;
  return {IfGreater(Abs(next_linear), l1, solved), next_accum, next_linear};
}

// accum'  = accum + grad^2
// linear' = linear + grad - (accum'^-lr_power - accum^-lr_power) / lr * var
// var'    = (l1 * sign(linear') - linear') / (accum'^-lr_power / lr + 2 * l2)   if |linear'| > l1
// var'    = 0                                                                  otherwise
//   lr_power: usually -0.5
struct ApplyFtrl {
  static constexpr UpdateDef kDef = {
      .op = "ApplyFtrl",
      .signature = "var accum linear grad lr l1 l2 lr_power -> var accum linear",
      .attrs = "multiply_linear_by_lr:b=false!"};

  template <typename N>
  static std::array<N, 3> Next(const std::array<N, 8>& operands, auto /*flag*/) {
    const auto& [var, accum, linear, grad, lr, l1, l2, lr_power] = operands;
    return NextFtrl(var, accum, linear, grad, lr, l1, l2, lr_power, grad);
  }
};

// The same, but with grad + 2 * l2_shrinkage * var instead of grad in linear' (not in accum').
struct ApplyFtrlV2 {
  static constexpr UpdateDef kDef = {
      .op = "ApplyFtrlV2",
      .signature = "var accum linear grad lr l1 l2 l2_shrinkage lr_power -> var accum linear",
      .attrs = "multiply_linear_by_lr:b=false!"};

  template <typename N>
  static std::array<N, 3> Next(const std::array<N, 9>& operands, auto /*flag*/) {
    const auto& [var, accum, linear, grad, lr, l1, l2, l2_shrinkage, lr_power] = operands;
    const N shrunk = grad + var * (2 * l2_shrinkage);
    return NextFtrl(var, accum, linear, grad, lr, l1, l2, lr_power, shrunk);
  }
};

// p = var - rate * grad;  sign(p) * max(|p| - rate * l1, 0) / (1 + rate * l2)
template <typename N>
N Proximal(const N& var, const N& rate, const N& l1, const N& l2, const N& grad) {
  const N p = var - grad * rate;
  return Sign(p) * Maximum(Abs(p) - rate * l1, 0) / (1 + l2 * rate);
}

// accum' = accum + grad^2
// var'   = Proximal with the rate lr / sqrt(accum')
struct ApplyProximalAdagrad {
  static constexpr UpdateDef kDef = {.op = "ApplyProximalAdagrad",
                                     .signature = "var accum lr l1 l2 grad -> var accum"};

  template <typename N>
  static std::array<N, 2> Next(const std::array<N, 6>& operands, auto /*flag*/) {
    const auto& [var, accum, lr, l1, l2, grad] = operands;
    const N next = accum + Square(grad);
    return {Proximal(var, OverRoot(lr, next), l1, l2, grad), next};
  }
};

// The rules of TensorFlow that no optimizer here uses. Imported graphs may have them.

// accum' = accum + grad^2                      if update_slots, else accum
// var'   = var - lr * grad / (sqrt(accum') + epsilon)
struct ApplyAdagradV2 {
  static constexpr UpdateDef kDef = {.op = "ApplyAdagradV2",
                                     .signature = "var accum lr epsilon grad -> var accum",
                                     .attrs = "update_slots:b=true"};

  template <typename N>
  static std::array<N, 2> Next(const std::array<N, 5>& operands, auto update_slots) {
    const auto& [var, accum, lr, epsilon, grad] = operands;
    const N next = AddIf(update_slots, accum, Square(grad));
    return {var - grad * lr / (Sqrt(next) + epsilon), next};
  }
};

// m'   = m + (grad - m) * (1 - beta1)
// v'   = max(beta2 * v, |grad|)
// var' = var - lr / (1 - beta1_power) * (m' / (v' + epsilon))
struct ApplyAdaMax {
  static constexpr UpdateDef kDef = {
      .op = "ApplyAdaMax",
      .signature = "var m v beta1_power lr beta1 beta2 epsilon grad -> var m v",
      .rows = RowUpdates::kAllRows};

  template <typename N>
  static std::array<N, 3> Next(const std::array<N, 9>& operands, auto /*flag*/) {
    const auto& [var, m, v, beta1_power, lr, beta1, beta2, epsilon, grad] = operands;
    const N next_m = m + (grad - m) * (1 - beta1);
    const N next_v = Maximum(beta2 * v, Abs(grad));
    return {var - lr / (1 - beta1_power) * (next_m / (next_v + epsilon)), next_m, next_v};
  }
};

// accum' = accum * momentum - lr * grad
// var'   = var + accum'                             without Nesterov
// var'   = var + momentum * accum' - lr * grad      with Nesterov
struct ApplyKerasMomentum {
  static constexpr UpdateDef kDef = {.op = "ApplyKerasMomentum",
                                     .signature = "var accum lr grad momentum -> var accum",
                                     .attrs = "use_nesterov:b=false"};

  template <typename N>
  static std::array<N, 2> Next(const std::array<N, 5>& operands, auto use_nesterov) {
    const auto& [var, accum, lr, grad, momentum] = operands;
    const N step = lr * grad;
    const N next = accum * momentum - step;
    return {var + (use_nesterov ? next * momentum - step : next), next};
  }
};

// var' = Proximal with the rate alpha
struct ApplyProximalGradientDescent {
  static constexpr UpdateDef kDef = {.op = "ApplyProximalGradientDescent",
                                     .signature = "var alpha l1 l2 grad -> var"};

  template <typename N>
  static std::array<N, 1> Next(const std::array<N, 5>& operands, auto /*flag*/) {
    const auto& [var, alpha, l1, l2, grad] = operands;
    return {Proximal(var, alpha, l1, l2, grad)};
  }
};

template <typename Rule, typename Operands>
Operands Prepare(const Operands& operands) {
  if constexpr (requires { Rule::Prepare(operands); }) return Rule::Prepare(operands);
  return operands;
}

template <typename... Rule>
struct Rules {
  // fn.operator()<Rule>() for each rule.
  template <typename Fn>
  static void ForEach(Fn fn) {
    (fn.template operator()<Rule>(), ...);
  }
};

// The rules that are ops here.
using OpRules =
    Rules<ApplyGradientDescent, ApplyMomentum, ApplyAdam, ApplyRMSProp, ApplyCenteredRMSProp,
          ApplyAdagrad, ApplyAdadelta, ApplyFtrl, ApplyFtrlV2, ApplyProximalAdagrad>;
// The others, which become element-wise ops where they are imported.
using ImportedRules =
    Rules<ApplyAdagradV2, ApplyAdaMax, ApplyKerasMomentum, ApplyProximalGradientDescent>;

}  // namespace estimator::updates

#endif  // ESTIMATOR_OP_DEF_UPDATE_FORMULAS_H_
