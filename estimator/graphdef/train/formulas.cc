#include "estimator/graphdef/train/formulas.h"

#include "estimator/ops/comparison.h"
#include "estimator/ops/gather.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/select.h"
#include "estimator/ops/shape_ops.h"

namespace estimator {
namespace {

// [I...] -> [I..., 1]
Tensor AsRowIndices(const Tensor& indices) { return ExpandDims(indices, -1); }

// `updates` may be a scalar, which is then the update of all elements.
Tensor FullUpdates(const WriteOperands& in) {
  const Tensor& updates = in["updates"];
  if (!updates.valid() || updates.rank() > 0) return updates;
  std::vector<int64_t> dims = in["indices"].shape().dims();
  const Shape& whole = in["ref"].shape();
  for (int i = 1; i < whole.rank(); ++i) dims.push_back(whole.dim(i));
  return BroadcastTo(updates, Shape(dims));
}

std::vector<Tensor> AddRows(const WriteOperands& in, const Tensor& updates) {
  const Tensor& ref = in["ref"];
  const Tensor& indices = in["indices"];
  if (!in.repeated_indices) return {TensorScatterAdd(ref, AsRowIndices(indices), updates)};
  // Each row of the sum is computed once for each repetition, with the same bits.
  return {TensorScatterUpdate(ref, AsRowIndices(indices), Gather(ref, indices) + updates)};
}

// The state of an optimizer: whole tensors, or some of their rows.
class States {
 public:
  explicit States(const WriteOperands& in)
      : in_(in), indices_(in.operands.count("indices") > 0 ? in["indices"] : Tensor()) {}

  Tensor operator[](absl::string_view name) const {
    return indices_.valid() ? Gather(in_[name], indices_) : in_[name];
  }
  Tensor Whole(absl::string_view name, const Tensor& value) const {
    if (!indices_.valid()) return value;
    return TensorScatterUpdate(in_[name], AsRowIndices(indices_), value);
  }

 private:
  const WriteOperands& in_;
  const Tensor indices_;
};

bool Flag(const WriteOperands& in, absl::string_view name, bool otherwise) {
  return in.attrs.has(name) ? in.attrs.b(name) : otherwise;
}

// sign(p) max(|p| - rate l1, 0) / (1 + rate l2)
Tensor Proximal(const Tensor& p, const Tensor& rate, const WriteOperands& in) {
  return Sign(p) * Maximum(Abs(p) - rate * in["l1"], 0) / (rate * in["l2"] + 1);
}

}  // namespace

std::vector<Tensor> AssignFormula(const WriteOperands& in) { return {in["value"]}; }
std::vector<Tensor> AssignAddFormula(const WriteOperands& in) { return {in["ref"] + in["value"]}; }
std::vector<Tensor> AssignSubFormula(const WriteOperands& in) { return {in["ref"] - in["value"]}; }

std::vector<Tensor> ScatterAddFormula(const WriteOperands& in) {
  return AddRows(in, FullUpdates(in));
}
std::vector<Tensor> ScatterSubFormula(const WriteOperands& in) {
  return AddRows(in, Negate(FullUpdates(in)));
}
std::vector<Tensor> ScatterUpdateFormula(const WriteOperands& in) {
  return {TensorScatterUpdate(in["ref"], AsRowIndices(in["indices"]), FullUpdates(in))};
}
std::vector<Tensor> ScatterNdAddFormula(const WriteOperands& in) {
  return {TensorScatterAdd(in["ref"], in["indices"], in["updates"])};
}
std::vector<Tensor> ScatterNdSubFormula(const WriteOperands& in) {
  return {TensorScatterAdd(in["ref"], in["indices"], Negate(in["updates"]))};
}
std::vector<Tensor> ScatterNdUpdateFormula(const WriteOperands& in) {
  return {TensorScatterUpdate(in["ref"], in["indices"], in["updates"])};
}

std::vector<Tensor> AdagradV2Formula(const WriteOperands& in) {
  const States states(in);
  const Tensor& grad = in["grad"];
  Tensor accum = states["accum"];
  if (Flag(in, "update_slots", true)) accum = accum + Square(grad);
  const Tensor root = Sqrt(accum);
  const Tensor divisor = in.operands.count("epsilon") > 0 ? root + in["epsilon"] : root;
  const Tensor var = states["var"] - in["lr"] * grad / divisor;
  return {states.Whole("var", var), states.Whole("accum", accum)};
}

std::vector<Tensor> AdaMaxFormula(const WriteOperands& in) {
  const States states(in);
  const Tensor& grad = in["grad"];
  const Tensor old_m = states["m"];
  const Tensor m = old_m + (grad - old_m) * (1 - in["beta1"]);
  const Tensor v = Maximum(in["beta2"] * states["v"], Abs(grad));
  const Tensor rate = in["lr"] / (1 - in["beta1_power"]);
  const Tensor var = states["var"] - rate * (m / (v + in["epsilon"]));
  return {states.Whole("var", var), states.Whole("m", m), states.Whole("v", v)};
}

std::vector<Tensor> KerasMomentumFormula(const WriteOperands& in) {
  const States states(in);
  const Tensor step = in["lr"] * in["grad"];
  const Tensor accum = states["accum"] * in["momentum"] - step;
  const Tensor change = Flag(in, "use_nesterov", false) ? accum * in["momentum"] - step : accum;
  return {states.Whole("var", states["var"] + change), states.Whole("accum", accum)};
}

std::vector<Tensor> MomentumFormula(const WriteOperands& in) {
  const States states(in);
  const Tensor& grad = in["grad"];
  const Tensor accum = states["accum"] * in["momentum"] + grad;
  const Tensor change = Flag(in, "use_nesterov", false)
                            ? grad * in["lr"] + accum * in["momentum"] * in["lr"]
                            : accum * in["lr"];
  return {states.Whole("var", states["var"] - change), states.Whole("accum", accum)};
}

std::vector<Tensor> RMSPropFormula(const WriteOperands& in) {
  const States states(in);
  const Tensor& grad = in["grad"];
  const Tensor one_minus_rho = 1 - in["rho"];
  const bool centered = in.operands.count("mg") > 0;
  const Tensor ms = states["ms"] * in["rho"] + Square(grad) * one_minus_rho;
  Tensor mg, variance = ms;
  if (centered) {
    mg = states["mg"] * in["rho"] + grad * one_minus_rho;
    variance = ms - Square(mg);
  }
  const Tensor mom =
      states["mom"] * in["momentum"] + Rsqrt(variance + in["epsilon"]) * in["lr"] * grad;
  std::vector<Tensor> result = {states.Whole("var", states["var"] - mom)};
  if (centered) result.push_back(states.Whole("mg", mg));
  result.push_back(states.Whole("ms", ms));
  result.push_back(states.Whole("mom", mom));
  return result;
}

std::vector<Tensor> AdadeltaFormula(const WriteOperands& in) {
  const States states(in);
  const Tensor& grad = in["grad"];
  const Tensor& rho = in["rho"];
  const Tensor accum = states["accum"] * rho + Square(grad) * (1 - rho);
  const Tensor old_update = states["accum_update"];
  const Tensor update = Sqrt(old_update + in["epsilon"]) * Rsqrt(accum + in["epsilon"]) * grad;
  const Tensor accum_update = old_update * rho + Square(update) * (1 - rho);
  return {states.Whole("var", states["var"] - update * in["lr"]), states.Whole("accum", accum),
          states.Whole("accum_update", accum_update)};
}

std::vector<Tensor> FtrlFormula(const WriteOperands& in) {
  const States states(in);
  const Tensor& grad = in["grad"];
  const Tensor old_var = states["var"], old_accum = states["accum"];
  const Tensor shrunk =
      in.operands.count("l2_shrinkage") > 0 ? grad + 2 * in["l2_shrinkage"] * old_var : grad;
  const Tensor accum = old_accum + Square(grad);
  const Tensor power = Negate(in["lr_power"]);
  const Tensor new_power = Pow(accum, power);
  const Tensor linear =
      states["linear"] + shrunk - (new_power - Pow(old_accum, power)) / in["lr"] * old_var;
  const Tensor quadratic = new_power / in["lr"] + 2 * in["l2"];
  const Tensor var =
      Where(Greater(Abs(linear), in["l1"]), (Sign(linear) * in["l1"] - linear) / quadratic, 0);
  return {states.Whole("var", var), states.Whole("accum", accum), states.Whole("linear", linear)};
}

std::vector<Tensor> ProximalAdagradFormula(const WriteOperands& in) {
  const States states(in);
  const Tensor& grad = in["grad"];
  const Tensor accum = states["accum"] + Square(grad);
  const Tensor rate = in["lr"] * Rsqrt(accum);
  return {states.Whole("var", Proximal(states["var"] - rate * grad, rate, in)),
          states.Whole("accum", accum)};
}

std::vector<Tensor> ProximalGradientDescentFormula(const WriteOperands& in) {
  const States states(in);
  const Tensor& rate = in["alpha"];
  const Tensor& grad = in["grad"];
  return {states.Whole("var", Proximal(states["var"] - rate * grad, rate, in))};
}

}  // namespace estimator
