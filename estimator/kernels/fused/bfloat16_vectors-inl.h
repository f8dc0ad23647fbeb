// Vectors of floats that are loaded from and stored to arrays of float or of Bfloat16. Rounding is
// to nearest even, with the bits of array/half.h.
//
// A file that Highway's foreach_target.h compiles once for every instruction set includes this
// after hwy/highway.h.
#if defined(ESTIMATOR_KERNELS_FUSED_BFLOAT16_VECTORS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef ESTIMATOR_KERNELS_FUSED_BFLOAT16_VECTORS_INL_H_
#undef ESTIMATOR_KERNELS_FUSED_BFLOAT16_VECTORS_INL_H_
#else
#define ESTIMATOR_KERNELS_FUSED_BFLOAT16_VECTORS_INL_H_
#endif

#include <cstdint>

#include "estimator/array/half.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace estimator::fused {
namespace HWY_NAMESPACE {

// The upper 16 bits of each float, rounded to nearest even, in the lower half of each lane.
template <class D>
HWY_INLINE hwy::HWY_NAMESPACE::Vec<hwy::HWY_NAMESPACE::RebindToUnsigned<D>> RoundedBits(
    D d, hwy::HWY_NAMESPACE::Vec<D> x) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::RebindToUnsigned<D> du;
  const auto bits = hn::BitCast(du, x), upper = hn::ShiftRight<16>(bits);
  // Half a unit less one, plus the last bit that is kept: a number in the middle goes to its even
  // neighbour.
  const auto even = hn::And(upper, hn::Set(du, 1u));
  const auto rounded = hn::ShiftRight<16>(hn::Add(bits, hn::Add(hn::Set(du, 0x7fffu), even)));
  // Rounding a NaN could make it infinite, or carry into its sign. It keeps its upper bits and
  // becomes quiet.
  const auto nan = hn::Or(upper, hn::Set(du, 0x40u));
  (void)d;
  return hn::IfThenElse(hn::RebindMask(du, hn::IsNaN(x)), nan, rounded);
}

template <class D>
HWY_INLINE hwy::HWY_NAMESPACE::Vec<D> LoadFloats(D d, const float* from) {
  return hwy::HWY_NAMESPACE::LoadU(d, from);
}

template <class D>
HWY_INLINE hwy::HWY_NAMESPACE::Vec<D> LoadFloats(D d, const Bfloat16* from) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::Rebind<uint16_t, D> du16;
  const hn::RebindToUnsigned<D> du;
  const auto bits = hn::LoadU(du16, reinterpret_cast<const uint16_t*>(from));
  return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(du, bits)));
}

template <class D>
HWY_INLINE void StoreFloats(hwy::HWY_NAMESPACE::Vec<D> x, D d, float* to) {
  hwy::HWY_NAMESPACE::StoreU(x, d, to);
}

template <class D>
HWY_INLINE void StoreFloats(hwy::HWY_NAMESPACE::Vec<D> x, D d, Bfloat16* to) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::RebindToSigned<D> di;
  const hn::Rebind<uint16_t, D> du16;
  // DemoteTo saturates signed numbers. These are at most 0xffff, so they pass unchanged.
  const auto bits = hn::DemoteTo(du16, hn::BitCast(di, RoundedBits(d, x)));
  hn::StoreU(bits, du16, reinterpret_cast<uint16_t*>(to));
}

// Calls fn(tag, i) for vectors of floats that begin at element i and together cover [0, n): as many
// whole vectors as fit, of at most 16 lanes, then vectors of 4 lanes, then of 1. So nothing beyond
// element n is read or written.
template <typename Fn>
HWY_INLINE void ForEachVector(int64_t n, Fn&& fn) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::CappedTag<float, 16> d;
  const hn::CappedTag<float, 4> d4;
  const hn::CappedTag<float, 1> d1;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) fn(d, i);
  for (; i + 4 <= n; i += 4) fn(d4, i);
  for (; i < n; ++i) fn(d1, i);
}

}  // namespace HWY_NAMESPACE
}  // namespace estimator::fused
HWY_AFTER_NAMESPACE();

#endif  // ESTIMATOR_KERNELS_FUSED_BFLOAT16_VECTORS_INL_H_
