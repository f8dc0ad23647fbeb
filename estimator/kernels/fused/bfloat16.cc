#include "estimator/kernels/fused/bfloat16.h"

#include <cstdint>

// Highway's foreach_target.h compiles this file once for every instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "estimator/kernels/fused/bfloat16.cc"
#define HWY_DISABLE_PCLMUL_AES  // x86-64-v3 lacks it and we do not use it; so AVX2 is the baseline
// The order matters: each header includes this file, or needs what the header before it defined.
// clang-format off
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace estimator::fused {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using DU = hn::RebindToUnsigned<D>;
using DI = hn::RebindToSigned<D>;
using DU16 = hn::Rebind<uint16_t, D>;
using VU = hn::Vec<DU>;

// The upper 16 bits of each float32, rounded to nearest even, in the lower half of each lane.
HWY_INLINE VU RoundedBits(hn::Vec<D> x) {
  const DU du;
  const VU bits = hn::BitCast(du, x), upper = hn::ShiftRight<16>(bits);
  const VU even = hn::And(upper, hn::Set(du, 1u));
  const VU rounded = hn::ShiftRight<16>(hn::Add(bits, hn::Add(hn::Set(du, 0x7fffu), even)));
  const VU nan = hn::Or(upper, hn::Set(du, 0x40u));
  return hn::IfThenElse(hn::RebindMask(du, hn::IsNaN(x)), nan, rounded);
}

void Widen(const uint16_t* from, float* to, size_t n) {
  const D d;
  const DU du;
  const DU16 du16;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const VU bits = hn::PromoteTo(du, hn::LoadU(du16, from + i));
    hn::StoreU(hn::BitCast(d, hn::ShiftLeft<16>(bits)), d, to + i);
  }
  for (; i < n; ++i) to[i] = Bfloat16BitsToFloat(from[i]);
}

void Narrow(const float* from, uint16_t* to, size_t n) {
  const D d;
  const DI di;
  const DU16 du16;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const VU bits = RoundedBits(hn::LoadU(d, from + i));
    hn::StoreU(hn::DemoteTo(du16, hn::BitCast(di, bits)), du16, to + i);
  }
  for (; i < n; ++i) to[i] = FloatToBfloat16Bits(from[i]);
}

void Round(const float* from, float* to, size_t n) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const VU bits = RoundedBits(hn::LoadU(d, from + i));
    hn::StoreU(hn::BitCast(d, hn::ShiftLeft<16>(bits)), d, to + i);
  }
  for (; i < n; ++i) to[i] = Bfloat16BitsToFloat(FloatToBfloat16Bits(from[i]));
}

}  // namespace HWY_NAMESPACE
}  // namespace estimator::fused
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace estimator::fused {
namespace {
HWY_EXPORT(Widen);
HWY_EXPORT(Narrow);
HWY_EXPORT(Round);
static_assert(sizeof(Bfloat16) == sizeof(uint16_t));
}  // namespace

void WidenBfloat16(const Bfloat16* from, float* to, size_t n) {
  HWY_DYNAMIC_DISPATCH(Widen)(reinterpret_cast<const uint16_t*>(from), to, n);
}

void NarrowToBfloat16(const float* from, Bfloat16* to, size_t n) {
  HWY_DYNAMIC_DISPATCH(Narrow)(from, reinterpret_cast<uint16_t*>(to), n);
}

void RoundToBfloat16(const float* from, float* to, size_t n) {
  HWY_DYNAMIC_DISPATCH(Round)(from, to, n);
}

}  // namespace estimator::fused
#endif  // HWY_ONCE
