// The update rules of optimizers, by the formulas of op_def/update_formulas.h. Values of 16 bits
// are computed in float32, as in kernels/reference/optimizer_ops.cc.
#include <array>
#include <cstddef>

#include "estimator/op_def/update_formulas.h"
#include "tpu/stablehlo/op_lowering.h"
#include "tpu/stablehlo/ops/number.h"

namespace estimator::tpu::stablehlo {
namespace {

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
    results.push_back(w.Convert(next.v, dtype));
  return results;
}

[[maybe_unused]] const bool kUpdatesRegistered = [] {
  updates::OpRules::ForEach(
      []<typename Rule>() { RegisterLowering(Rule::kDef.op, LowerUpdate<Rule>); });
  return true;
}();

}  // namespace
}  // namespace estimator::tpu::stablehlo
