#include "estimator/kernels/fused/bfloat16.h"

// Highway compiles this file once for every instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "estimator/kernels/fused/bfloat16.cc"
#include "estimator/kernels/every_target-inl.h"
#include "estimator/kernels/fused/bfloat16_vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace estimator::fused {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;

void Widen(const Bfloat16* from, float* to, size_t n) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) StoreFloats(LoadFloats(d, from + i), d, to + i);
  for (; i < n; ++i) to[i] = from[i];
}

void Narrow(const float* from, Bfloat16* to, size_t n) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) StoreFloats(LoadFloats(d, from + i), d, to + i);
  for (; i < n; ++i) to[i] = from[i];
}

void Round(const float* from, float* to, size_t n) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto bits = hn::ShiftLeft<16>(RoundedBits(d, hn::LoadU(d, from + i)));
    hn::StoreU(hn::BitCast(d, bits), d, to + i);
  }
  for (; i < n; ++i) to[i] = Bfloat16(from[i]);
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
}  // namespace

void WidenBfloat16(const Bfloat16* from, float* to, size_t n) {
  HWY_DYNAMIC_DISPATCH(Widen)(from, to, n);
}

void NarrowToBfloat16(const float* from, Bfloat16* to, size_t n) {
  HWY_DYNAMIC_DISPATCH(Narrow)(from, to, n);
}

void RoundToBfloat16(const float* from, float* to, size_t n) {
  HWY_DYNAMIC_DISPATCH(Round)(from, to, n);
}

}  // namespace estimator::fused
#endif  // HWY_ONCE
