// Logic and SelectV2 with broadcasting.
#include "tpu/stablehlo/op_lowering.h"
#include "tpu/stablehlo/ops/support.h"

namespace estimator::tpu::stablehlo {
namespace {

EST_LOWERING(LogicalAnd) { return Values{w.Binary("and", args.input(0), args.input(1))}; }
EST_LOWERING(LogicalOr) { return Values{w.Binary("or", args.input(0), args.input(1))}; }
EST_LOWERING(LogicalNot) { return Values{w.Unary("not", args.input(0))}; }

EST_LOWERING(SelectV2) { return Values{w.Select(args.input(0), args.input(1), args.input(2))}; }

}  // namespace
}  // namespace estimator::tpu::stablehlo
