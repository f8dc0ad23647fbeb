// Comparisons, logic and SelectV2, all with broadcasting.
#include "tpu/stablehlo/op_lowering.h"
#include "tpu/stablehlo/ops/support.h"

namespace estimator::tpu::stablehlo {
namespace {

OpLowering Compared(const char* direction) {
  return Guarded([direction](Writer& w, const LoweringArgs& args) -> LoweringResult {
    return Values{w.Compare(direction, args.input(0), args.input(1))};
  });
}
OpLowering Logical(const char* op) {
  return Guarded([op](Writer& w, const LoweringArgs& args) -> LoweringResult {
    return Values{w.Binary(op, args.input(0), args.input(1))};
  });
}

EST_REGISTER_STABLEHLO("Equal", Compared("EQ"));
EST_REGISTER_STABLEHLO("NotEqual", Compared("NE"));
EST_REGISTER_STABLEHLO("Less", Compared("LT"));
EST_REGISTER_STABLEHLO("LessEqual", Compared("LE"));
EST_REGISTER_STABLEHLO("Greater", Compared("GT"));
EST_REGISTER_STABLEHLO("GreaterEqual", Compared("GE"));
EST_REGISTER_STABLEHLO("LogicalAnd", Logical("and"));
EST_REGISTER_STABLEHLO("LogicalOr", Logical("or"));
EST_REGISTER_STABLEHLO("LogicalNot",
                       Guarded([](Writer& w, const LoweringArgs& args) -> LoweringResult {
                         return Values{w.Unary("not", args.input(0))};
                       }));

EST_REGISTER_STABLEHLO("SelectV2",
                       Guarded([](Writer& w, const LoweringArgs& args) -> LoweringResult {
                         return Values{w.Select(args.input(0), args.input(1), args.input(2))};
                       }));

}  // namespace
}  // namespace estimator::tpu::stablehlo
