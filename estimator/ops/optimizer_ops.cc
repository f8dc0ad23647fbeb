#include "estimator/ops/optimizer_ops.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/op_registry.h"
#include "estimator/ops/building/shape_checks.h"

namespace estimator {
namespace {

// Registers an update rule.
//   operands: the names of the operands in order, separated by spaces. The first num_states are the
//   state, which is also the output. "grad" and "delta" have var's shape; all others are scalars.
bool RegisterUpdate(const char* name, int num_states, const char* operands) {
  const std::vector<std::string> names = absl::StrSplit(operands, ' ');
  return RegisterOp(
      {.name = name,
       .num_inputs = static_cast<int>(names.size()),
       .shape = [names,
                 num_states](const ShapeContext& c) -> absl::StatusOr<std::vector<TensorSpec>> {
         const TensorSpec& var = c.input(0);
         EST_RETURN_IF_ERROR(CheckFloating(var, "var"));
         if (c.attrs.has("multiply_linear_by_lr") && c.attrs.b("multiply_linear_by_lr")) {
           return absl::UnimplementedError(
               "multiply_linear_by_lr is not supported: only Keras' Ftrl sets it; leave it false");
         }
         for (int i = 0; i < c.num_inputs(); ++i) {
           const std::string& what = names[static_cast<size_t>(i)];
           const bool full = i < num_states || what == "grad" || what == "delta";
           if (c.input(i).dtype != var.dtype) {
             return absl::InvalidArgumentError(
                 absl::StrCat(what, " is ", DTypeName(c.input(i).dtype), ", var is ",
                              DTypeName(var.dtype), ": Cast it"));
           }
           EST_RETURN_IF_ERROR(CheckShape(c.input(i), full ? var.shape : Shape{}, what));
         }
         return std::vector<TensorSpec>(static_cast<size_t>(num_states), var);
       }});
}

[[maybe_unused]] const bool registered[] = {
    RegisterUpdate("ApplyGradientDescent", 1, "var alpha delta"),
    RegisterUpdate("ApplyMomentum", 2, "var accum lr grad momentum"),
    RegisterUpdate("ApplyAdam", 3, "var m v beta1_power beta2_power lr beta1 beta2 epsilon grad"),
    RegisterUpdate("ApplyRMSProp", 3, "var ms mom lr rho momentum epsilon grad"),
    RegisterUpdate("ApplyCenteredRMSProp", 4, "var mg ms mom lr rho momentum epsilon grad"),
    RegisterUpdate("ApplyAdagrad", 2, "var accum lr grad"),
    RegisterUpdate("ApplyAdadelta", 3, "var accum accum_update lr rho epsilon grad"),
    RegisterUpdate("ApplyFtrl", 3, "var accum linear grad lr l1 l2 lr_power"),
    RegisterUpdate("ApplyFtrlV2", 3, "var accum linear grad lr l1 l2 l2_shrinkage lr_power"),
    RegisterUpdate("ApplyProximalAdagrad", 2, "var accum lr l1 l2 grad"),
};

}  // namespace

Tensor ApplyGradientDescent(const Tensor& var, const Tensor& alpha, const Tensor& delta,
                            StringArg name) {
  return AddOp("ApplyGradientDescent", {var, alpha, delta}, {}, name);
}

VarAccum ApplyMomentum(const Tensor& var, const Tensor& accum, const Tensor& lr, const Tensor& grad,
                       const Tensor& momentum, bool use_nesterov, StringArg name) {
  const std::vector<Tensor> out = AddOpN("ApplyMomentum", 2, {var, accum, lr, grad, momentum},
                                         {{"use_nesterov", use_nesterov}}, name);
  return {out[0], out[1]};
}

AdamState ApplyAdam(const AdamState& s, const AdamRates& r, const Tensor& grad, bool use_nesterov,
                    StringArg name) {
  const std::vector<Tensor> out = AddOpN(
      "ApplyAdam", 3,
      {s.var, s.m, s.v, r.beta1_power, r.beta2_power, r.lr, r.beta1, r.beta2, r.epsilon, grad},
      {{"use_nesterov", use_nesterov}}, name);
  return {out[0], out[1], out[2]};
}

RMSPropState ApplyRMSProp(const RMSPropState& s, const RMSPropRates& r, const Tensor& grad,
                          StringArg name) {
  const std::vector<Tensor> out = AddOpN(
      "ApplyRMSProp", 3, {s.var, s.ms, s.mom, r.lr, r.rho, r.momentum, r.epsilon, grad}, {}, name);
  return {out[0], out[1], out[2]};
}

CenteredRMSPropState ApplyCenteredRMSProp(const CenteredRMSPropState& s, const RMSPropRates& r,
                                          const Tensor& grad, StringArg name) {
  const std::vector<Tensor> out =
      AddOpN("ApplyCenteredRMSProp", 4,
             {s.var, s.mg, s.ms, s.mom, r.lr, r.rho, r.momentum, r.epsilon, grad}, {}, name);
  return {out[0], out[1], out[2], out[3]};
}

VarAccum ApplyAdagrad(const Tensor& var, const Tensor& accum, const Tensor& lr, const Tensor& grad,
                      bool update_slots, StringArg name) {
  const std::vector<Tensor> out =
      AddOpN("ApplyAdagrad", 2, {var, accum, lr, grad}, {{"update_slots", update_slots}}, name);
  return {out[0], out[1]};
}

AdadeltaState ApplyAdadelta(const AdadeltaState& s, const Tensor& lr, const Tensor& rho,
                            const Tensor& epsilon, const Tensor& grad, StringArg name) {
  const std::vector<Tensor> out = AddOpN(
      "ApplyAdadelta", 3, {s.var, s.accum, s.accum_update, lr, rho, epsilon, grad}, {}, name);
  return {out[0], out[1], out[2]};
}

FtrlState ApplyFtrl(const FtrlState& s, const Tensor& grad, const FtrlRates& r, StringArg name) {
  const std::vector<Tensor> out = AddOpN(
      "ApplyFtrl", 3, {s.var, s.accum, s.linear, grad, r.lr, r.l1, r.l2, r.lr_power}, {}, name);
  return {out[0], out[1], out[2]};
}

FtrlState ApplyFtrlV2(const FtrlState& s, const Tensor& grad, const FtrlRates& r,
                      const Tensor& l2_shrinkage, StringArg name) {
  const std::vector<Tensor> out = AddOpN(
      "ApplyFtrlV2", 3,
      {s.var, s.accum, s.linear, grad, r.lr, r.l1, r.l2, l2_shrinkage, r.lr_power}, {}, name);
  return {out[0], out[1], out[2]};
}

VarAccum ApplyProximalAdagrad(const Tensor& var, const Tensor& accum, const Tensor& lr,
                              const Tensor& l1, const Tensor& l2, const Tensor& grad,
                              StringArg name) {
  const std::vector<Tensor> out =
      AddOpN("ApplyProximalAdagrad", 2, {var, accum, lr, l1, l2, grad}, {}, name);
  return {out[0], out[1]};
}

}  // namespace estimator
