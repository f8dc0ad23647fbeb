// Logic and SelectV2 with broadcasting.
#include "tpu/stablehlo/op_lowering.h"
#include "tpu/stablehlo/ops/support.h"

namespace estimator::tpu::stablehlo {
namespace {

OpLowering Logical(const char* op) {
  return Guarded([op](Writer& w, const LoweringArgs& args) -> LoweringResult {
    return Values{w.Binary(op, args.input(0), args.input(1))};
  });
}

EST_REGISTER_STABLEHLO("LogicalAnd", Logical("and"));
EST_REGISTER_STABLEHLO("LogicalOr", Logical("or"));
EST_LOWERING(LogicalNot) { return Values{w.Unary("not", args.input(0))}; }

EST_LOWERING(SelectV2) { return Values{w.Select(args.input(0), args.input(1), args.input(2))}; }

}  // namespace
}  // namespace estimator::tpu::stablehlo
