// Ops that change the shape alone or return it, and copies. CheckNumerics and CheckRange are copies
// too: a device cannot report the element that fails. The loss of a step is checked in any case.
#include "tpu/stablehlo/op_lowering.h"
#include "tpu/stablehlo/ops/support.h"

namespace estimator::tpu::stablehlo {
namespace {

LoweringResult LowerReshape(Writer& w, const LoweringArgs& args) {
  return Values{w.Reshape(args.input(0), args.output(0).shape)};
}
LoweringResult LowerCopy(Writer&, const LoweringArgs& args) { return args.inputs; }

EST_REGISTER_STABLEHLO("Reshape", Guarded(LowerReshape));
EST_REGISTER_STABLEHLO("ExpandDims", Guarded(LowerReshape));
EST_REGISTER_STABLEHLO("Squeeze", Guarded(LowerReshape));
EST_REGISTER_STABLEHLO("Identity", Guarded(LowerCopy));
EST_REGISTER_STABLEHLO("IdentityN", Guarded(LowerCopy));
EST_REGISTER_STABLEHLO("StopGradient", Guarded(LowerCopy));
EST_REGISTER_STABLEHLO("EnsureShape", Guarded(LowerCopy));
EST_REGISTER_STABLEHLO("CheckNumerics", Guarded(LowerCopy));
EST_REGISTER_STABLEHLO("CheckRange", Guarded(LowerCopy));

EST_LOWERING(BroadcastTo) { return Values{w.BroadcastTo(args.input(0), args.output(0).shape)}; }

Values KnownInts(Writer& w, const TensorSpec& spec, const Ints& numbers) {
  return {w.Constant(Array::FromSpan<int64_t>(spec.shape, numbers).Cast(spec.dtype))};
}

// These need the type of the operand only, which may hold strings.
EST_REGISTER_STABLEHLO("Shape", [](Writer& w, const LoweringArgs& args) -> LoweringResult {
  return KnownInts(w, args.output(0), args.spec.inputs[0].shape.dims());
});
EST_REGISTER_STABLEHLO("Size", [](Writer& w, const LoweringArgs& args) -> LoweringResult {
  return KnownInts(w, args.output(0), {args.spec.inputs[0].shape.num_elements()});
});
EST_REGISTER_STABLEHLO("Rank", [](Writer& w, const LoweringArgs& args) -> LoweringResult {
  return KnownInts(w, args.output(0), {args.spec.inputs[0].shape.rank()});
});

}  // namespace
}  // namespace estimator::tpu::stablehlo
