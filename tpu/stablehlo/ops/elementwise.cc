// The ops of op_def/elementwise_table.h, and AddN. 16-bit floats are computed in float32.
//
// The device does not check divisors and exponents: an integer divided by 0 gives an undefined
// number there, where the kernels of the CPU fail.
#include "estimator/op_def/elementwise_flags.h"
#include "tpu/stablehlo/op_lowering.h"
#include "tpu/stablehlo/ops/number.h"
#include "tpu/stablehlo/ops/support.h"

namespace estimator::tpu::stablehlo {
namespace {

// x and y are the operands in their order; an op of one operand gets it twice.
using Formula = Number (*)(const Number& x, const Number& y, double alpha);

OpLowering Elementwise(Formula formula) {
  return Guarded([formula](Writer& w, const LoweringArgs& args) -> LoweringResult {
    const Number x{&w, Widened(w, args.input(0))};
    const Number y = args.num_inputs() < 2 ? x : Number{&w, Widened(w, args.input(1))};
    const double alpha = args.spec.attrs.has("alpha") ? args.spec.attrs.f("alpha") : 0;
    return Values{w.Convert(formula(x, y, alpha).v, args.output(0).dtype)};
  });
}

#define EST_FORMULA(name, x, y, ...)                                                            \
  EST_REGISTER_STABLEHLO(                                                                       \
      #name, Elementwise([]([[maybe_unused]] const Number& x, [[maybe_unused]] const Number& y, \
                            [[maybe_unused]] double alpha) -> Number { return __VA_ARGS__; }));
#define EST_UNARY(name, x, takes, tiles, flags, ...) EST_FORMULA(name, x, second, __VA_ARGS__)
#define EST_BINARY(name, x, y, takes, tiles, flags, ...) EST_FORMULA(name, x, y, __VA_ARGS__)
#define EST_PREDICATE(name, x, ...) EST_FORMULA(name, x, second, __VA_ARGS__)
#define EST_COMPARISON(name, x, y, tiles, ...) EST_FORMULA(name, x, y, __VA_ARGS__)
#include "estimator/op_def/elementwise_table.h"
#undef EST_FORMULA

EST_LOWERING(AddN) {
  Value sum = Widened(w, args.input(0));
  for (int i = 1; i < args.num_inputs(); ++i) sum = w.Add(sum, Widened(w, args.input(i)));
  return Values{w.Convert(sum, args.output(0).dtype)};
}

}  // namespace
}  // namespace estimator::tpu::stablehlo
