#include "estimator/ops/optimizer_ops.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>

#include "estimator/base/status.h"
#include "estimator/graph/constant_value.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/op_registry.h"
#include "estimator/op_def/update_formulas.h"
#include "estimator/ops/building/shape_checks.h"
#include "estimator/ops/comparison.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/select.h"
#include "glog/logging.h"

namespace estimator {

// What the formulas need of a Tensor besides ops. They are found because they are in Tensor's
// namespace.

static Tensor InversePower(const Tensor& x, const Tensor& power) {
  const std::optional<Array> constant = ConstantValue(power);
  const bool is_sqrt = constant.has_value() && constant->AsDouble() == -0.5;
  return is_sqrt ? Sqrt(x) : Pow(x, Negate(power));
}
static Tensor IfGreater(const Tensor& a, const Tensor& b, const Tensor& x) {
  return Where(Greater(a, b), x, 0.0);
}
static Tensor MovingAverage(const Tensor& old, const Tensor& x, const Tensor& decay) {
  return old * decay + x * (1 - decay);
}
static Tensor OverRoot(const Tensor& x, const Tensor& y) { return x * Rsqrt(y); }
static Tensor ScaledOverRoot(const Tensor& x, const Tensor& rate, const Tensor& y) {
  return Rsqrt(y) * rate * x;
}
static Tensor AddDifference(const Tensor& x, const Tensor& y, const Tensor& z) { return x + y - z; }

namespace {

absl::StatusOr<std::vector<TensorSpec>> UpdateShapes(const UpdateDef& def, const ShapeContext& c) {
  const TensorSpec& var = c.input(0);
  EST_RETURN_IF_ERROR(CheckFloating(var, "var"));
  if (c.attrs.has("multiply_linear_by_lr") && c.attrs.b("multiply_linear_by_lr")) {
    return Unimplemented(
        "multiply_linear_by_lr is not supported: only Keras' Ftrl sets it; leave it false");
  }
  for (int i = 0; i < c.num_inputs(); ++i) {
    const std::string what(def.operand(i));
    if (c.input(i).dtype != var.dtype) {
      return InvalidArgument(what, " is ", DTypeName(c.input(i).dtype), ", var is ",
                             DTypeName(var.dtype), ": Cast it");
    }
    EST_RETURN_IF_ERROR(CheckShape(c.input(i), def.IsFull(i) ? var.shape : Shape{}, what));
  }
  return std::vector<TensorSpec>(static_cast<size_t>(def.num_states), var);
}

[[maybe_unused]] const bool kUpdatesRegistered = [] {
  for (const UpdateDef& def : UpdateOps()) {
    RegisterOp(std::string(def.op), [&def](const ShapeContext& c) { return UpdateShapes(def, c); });
  }
  return true;
}();

using UpdateFormula = std::vector<Tensor> (*)(const std::vector<Tensor>& operands, bool flag);

template <typename Rule>
std::vector<Tensor> ComputeRule(const std::vector<Tensor>& operands, bool flag) {
  std::array<Tensor, Rule::kDef.num_operands()> values;
  CHECK_EQ(operands.size(), values.size()) << Rule::kDef.op;
  std::copy(operands.begin(), operands.end(), values.begin());
  const auto next = Rule::Next(updates::Prepare<Rule>(values), flag);
  return {next.begin(), next.end()};
}

}  // namespace

std::vector<Tensor> ApplyUpdate(const UpdateDef& def, const std::vector<Tensor>& operands,
                                bool flag, StringArg name) {
  Attrs attrs;
  if (!def.flag.empty()) attrs.Set(def.flag, flag);
  return AddOpN(def.op, def.num_states, operands, attrs, name);
}

std::vector<Tensor> ComputeUpdate(const UpdateDef& def, const std::vector<Tensor>& operands,
                                  bool flag) {
  static const auto* const kFormulas = [] {
    auto* const formulas = new std::map<absl::string_view, UpdateFormula>();
    const auto add = [formulas]<typename Rule>() {
      (*formulas)[Rule::kDef.op] = ComputeRule<Rule>;
    };
    updates::OpRules::ForEach(add);
    updates::ImportedRules::ForEach(add);
    return formulas;
  }();
  return kFormulas->at(def.op)(operands, flag);
}

}  // namespace estimator
