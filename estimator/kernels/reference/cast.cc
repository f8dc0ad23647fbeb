// Cast. 16-bit floats are computed in float32.
#include <concepts>
#include <limits>

#include "estimator/kernels/kernel.h"
#include "estimator/kernels/reference/loops.h"

namespace estimator {
namespace {

// Floating to integer truncates. NaN, and numbers that the integer cannot hold, become its smallest
// number, as in the x86 conversion. (C++ leaves both undefined.)
template <typename To, typename From>
To Convert(From x) {
  if constexpr (std::is_same_v<To, bool>) {
    return x != From(0);
  } else if constexpr (std::integral<To> && std::floating_point<From>) {
    using Wide = std::conditional_t<sizeof(To) < 8, int64_t, To>;
    constexpr double kLimit = 9223372036854775808.0;  // 2^63
    const auto wide = static_cast<double>(x);
    if (!(wide >= -kLimit && wide < kLimit)) return std::numeric_limits<To>::min();
    // Integers of 8 and 16 bits have no conversion of their own: they keep the low bits of a wider
    // one.
    if constexpr (sizeof(To) == 4) {
      if (!(wide > -2147483649.0 && wide < 2147483648.0)) return std::numeric_limits<To>::min();
    }
    return static_cast<To>(static_cast<Wide>(x));
  } else {
    return static_cast<To>(x);
  }
}

// Only this is compiled for each of the hundred pairs of types.
using CastFn = void (*)(const void* from, void* to, int64_t n);

template <typename From, typename To>
void CastElements(const void* from, void* to, int64_t n) {
  const From* const x = static_cast<const From*>(from);
  To* const out = static_cast<To*>(to);
  for (int64_t i = 0; i < n; ++i)
    out[i] = static_cast<To>(Convert<Compute<To>>(static_cast<Compute<From>>(x[i])));
}

EST_REGISTER_KERNEL("Cast", KernelTier::kReference, [](const KernelSpec& spec) -> KernelPlan {
  CastFn cast = nullptr;
  VisitNumeric(spec.inputs[0].dtype, [&](auto from) {
    VisitNumeric(spec.outputs[0].dtype,
                 [&](auto to) { cast = CastElements<decltype(from), decltype(to)>; });
  });
  if (cast == nullptr) return nullptr;
  const int64_t n = spec.outputs[0].shape.num_elements();
  return MakeKernel(
      [n, cast](const KernelArgs& args) { cast(args.inputs[0], args.outputs[0], n); });
});

}  // namespace
}  // namespace estimator
