// Const, Fill, ZerosLike, OnesLike, Range, LinSpace.
#include <type_traits>

#include "tpu/stablehlo/op_lowering.h"
#include "tpu/stablehlo/ops/support.h"

namespace estimator::tpu::stablehlo {
namespace {

EST_LOWERING(Const) { return Values{w.Constant(args.spec.attrs.get<Array>("value"))}; }

EST_LOWERING(Fill) { return Values{w.BroadcastTo(args.input(1), args.output(0).shape)}; }

EST_LOWERING(ZerosLike) { return Values{w.Fill(args.output(0), 0)}; }

EST_LOWERING(OnesLike) { return Values{w.Fill(args.output(0), 1)}; }

// The shape depends on the operands, so they are constants, and the result is one. As the kernel
// does, it adds delta repeatedly; start + i * delta would be rounded otherwise.
EST_LOWERING(Range) {
  const Array *const start = args.constant(0), *const delta = args.constant(2);
  if (start == nullptr || delta == nullptr)
    return NotLowerable("start and delta are not constants: shapes are static on a TPU");
  Array numbers(args.output(0).dtype, args.output(0).shape);
  VisitNumeric(numbers.dtype(), [&](auto tag) {
    using T = decltype(tag);
    constexpr bool kSixteenBits = std::is_same_v<T, Bfloat16> || std::is_same_v<T, Float16>;
    using Float = std::conditional_t<kSixteenBits, float, T>;
    using Sum = std::conditional_t<std::is_integral_v<T>, uint64_t, Float>;
    auto value = static_cast<Sum>(*start->data<T>());
    for (T& number : numbers.values<T>()) {
      number = static_cast<T>(value);
      value += static_cast<Sum>(*delta->data<T>());
    }
  });
  return Values{w.Constant(numbers)};
}

EST_LOWERING(LinSpace) {
  const Value start = Widened(w, args.input(0)), stop = Widened(w, args.input(1));
  const int64_t n = args.output(0).shape.dim(0);
  if (n == 1) return Values{w.Reshape(args.input(0), Shape{1})};
  const Value step = w.Div(w.Sub(stop, start), w.Scalar(start.dtype(), static_cast<double>(n - 1)));
  const Value i = w.Iota({start.dtype(), Shape{n}}, 0);
  // The last number is exactly `stop`, which start + step * (n - 1) may miss by rounding.
  const Value last = w.Compare("EQ", i, w.Scalar(start.dtype(), static_cast<double>(n - 1)));
  const Value numbers = w.Select(last, stop, w.Add(start, w.Mul(step, i)));
  return Values{w.Convert(numbers, args.output(0).dtype)};
}

}  // namespace
}  // namespace estimator::tpu::stablehlo
