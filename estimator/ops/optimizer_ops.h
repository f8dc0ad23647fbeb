// The update rules of optimizers, as functions: (state, hyperparameters, gradient) -> new state.
// They change nothing in place: pass the results to Assign.
//
// var, its slots and grad have one floating dtype and one shape; hyperparameters are scalars of
// that dtype. Names, operands and formulas are TensorFlow's. All arithmetic is done for each
// element.
// Errors: INVALID_ARGUMENT naming the operand whose dtype or shape differs.
// Source: TF 2.15 training_ops.cc.
#ifndef ESTIMATOR_OPS_OPTIMIZER_OPS_H_
#define ESTIMATOR_OPS_OPTIMIZER_OPS_H_

#include "estimator/base/string_arg.h"
#include "estimator/graph/tensor.h"

namespace estimator {

// var - alpha * delta
Tensor ApplyGradientDescent(const Tensor& var, const Tensor& alpha, const Tensor& delta,
                            StringArg name = "");

struct VarAccum {
  Tensor var;
  Tensor accum;
};

// accum' = accum * momentum + grad
// var'   = var - lr * accum'                        without Nesterov
// var'   = var - lr * (grad + momentum * accum')    with Nesterov
VarAccum ApplyMomentum(const Tensor& var, const Tensor& accum, const Tensor& lr, const Tensor& grad,
                       const Tensor& momentum, bool use_nesterov = false, StringArg name = "");

struct AdamState {
  Tensor var;
  Tensor m;
  Tensor v;
};
struct AdamRates {
  Tensor beta1_power;  // beta1 ^ t at step t, where the first step is 1
  Tensor beta2_power;
  Tensor lr;
  Tensor beta1;
  Tensor beta2;
  Tensor epsilon;
};
// m'   = m + (grad - m) * (1 - beta1)
// v'   = v + (grad^2 - v) * (1 - beta2)
// var' = var - lr * sqrt(1 - beta2_power) / (1 - beta1_power) * m' / (sqrt(v') + epsilon)
// With Nesterov, m' in the last line is replaced by grad * (1 - beta1) + beta1 * m'.
AdamState ApplyAdam(const AdamState& state, const AdamRates& rates, const Tensor& grad,
                    bool use_nesterov = false, StringArg name = "");

struct RMSPropRates {
  Tensor lr;
  Tensor rho;
  Tensor momentum;
  Tensor epsilon;
};
struct RMSPropState {
  Tensor var;
  Tensor ms;
  Tensor mom;
};
// ms'  = ms + (grad^2 - ms) * (1 - rho)
// mom' = mom * momentum + lr * grad / sqrt(ms' + epsilon)
// var' = var - mom'
RMSPropState ApplyRMSProp(const RMSPropState& state, const RMSPropRates& rates, const Tensor& grad,
                          StringArg name = "");

struct CenteredRMSPropState {
  Tensor var;
  Tensor mg;
  Tensor ms;
  Tensor mom;
};
// As RMSProp, but with ms' - mg'^2 instead of ms' in mom'.
//   mg' = mg + (grad - mg) * (1 - rho)
CenteredRMSPropState ApplyCenteredRMSProp(const CenteredRMSPropState& state,
                                          const RMSPropRates& rates, const Tensor& grad,
                                          StringArg name = "");

// accum' = accum + grad^2                      if update_slots, else accum
// var'   = var - lr * grad / sqrt(accum')
VarAccum ApplyAdagrad(const Tensor& var, const Tensor& accum, const Tensor& lr, const Tensor& grad,
                      bool update_slots = true, StringArg name = "");

struct AdadeltaState {
  Tensor var;
  Tensor accum;
  Tensor accum_update;
};
// accum'        = accum * rho + grad^2 * (1 - rho)
// update        = sqrt(accum_update + epsilon) / sqrt(accum' + epsilon) * grad
// accum_update' = accum_update * rho + update^2 * (1 - rho)
// var'          = var - lr * update
AdadeltaState ApplyAdadelta(const AdadeltaState& state, const Tensor& lr, const Tensor& rho,
                            const Tensor& epsilon, const Tensor& grad, StringArg name = "");

struct FtrlState {
  Tensor var;
  Tensor accum;
  Tensor linear;
};
struct FtrlRates {
  Tensor lr;
  Tensor l1;
  Tensor l2;
  Tensor lr_power;  // usually -0.5
};
// accum'  = accum + grad^2
// linear' = linear + grad - (accum'^-lr_power - accum^-lr_power) / lr * var
// var'    = (l1 * sign(linear') - linear') / (accum'^-lr_power / lr + 2 * l2)   if |linear'| > l1
// var'    = 0                                                                  otherwise
FtrlState ApplyFtrl(const FtrlState& state, const Tensor& grad, const FtrlRates& rates,
                    StringArg name = "");
// The same, but with grad + 2 * l2_shrinkage * var instead of grad in linear' (not in accum').
FtrlState ApplyFtrlV2(const FtrlState& state, const Tensor& grad, const FtrlRates& rates,
                      const Tensor& l2_shrinkage, StringArg name = "");

// accum' = accum + grad^2
// rate   = lr / sqrt(accum')
// p      = var - rate * grad
// var'   = sign(p) * max(|p| - rate * l1, 0) / (1 + rate * l2)
VarAccum ApplyProximalAdagrad(const Tensor& var, const Tensor& accum, const Tensor& lr,
                              const Tensor& l1, const Tensor& l2, const Tensor& grad,
                              StringArg name = "");

}  // namespace estimator

#endif  // ESTIMATOR_OPS_OPTIMIZER_OPS_H_
