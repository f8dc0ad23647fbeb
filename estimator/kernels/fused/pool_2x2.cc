#include "estimator/kernels/fused/pool_2x2.h"

// Highway's foreach_target.h compiles this file once for every instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "estimator/kernels/fused/pool_2x2.cc"
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
using DI = hn::RebindToSigned<D>;
using DU8 = hn::Rebind<uint8_t, D>;

int64_t Lanes() { return static_cast<int64_t>(hn::Lanes(D())); }

void MaxRow(const float* top, const float* bottom, int64_t windows, int64_t channels, float* y,
            uint8_t* argmax) {
  const D d;
  const DI di;
  const DU8 du8;
  const int64_t lanes = Lanes();
  const auto one = hn::Set(di, 1), two = hn::Set(di, 2), three = hn::Set(di, 3);
  for (int64_t q = 0; q < windows; ++q, top += channels, bottom += channels) {
    // The inner loop advances top and bottom by one pixel, the outer loop skips the second pixel of
    // each window.
    for (int64_t c = 0; c < channels; c += lanes, top += lanes, bottom += lanes, y += lanes) {
      auto best = hn::LoadU(d, top);
      const auto b = hn::LoadU(d, top + channels);
      const auto second = hn::Gt(b, best);
      best = hn::IfThenElse(second, b, best);
      const auto v = hn::LoadU(d, bottom);
      const auto third = hn::Gt(v, best);
      best = hn::IfThenElse(third, v, best);
      const auto w = hn::LoadU(d, bottom + channels);
      const auto fourth = hn::Gt(w, best);
      best = hn::IfThenElse(fourth, w, best);
      hn::StoreU(best, d, y);
      if (argmax == nullptr) continue;
      auto tap = hn::IfThenElseZero(hn::RebindMask(di, second), one);
      tap = hn::IfThenElse(hn::RebindMask(di, third), two, tap);
      tap = hn::IfThenElse(hn::RebindMask(di, fourth), three, tap);
      hn::StoreU(hn::DemoteTo(du8, tap), du8, argmax);
      argmax += lanes;
    }
  }
}

void GradRow(const uint8_t* argmax, const float* dy, const float* y, int64_t windows,
             int64_t channels, float* dx_top, float* dx_bottom) {
  const D d;
  const DI di;
  const DU8 du8;
  const int64_t lanes = Lanes();
  const auto zero = hn::Zero(di), one = hn::Set(di, 1), two = hn::Set(di, 2),
             three = hn::Set(di, 3);
  for (int64_t q = 0; q < windows; ++q, dx_top += channels, dx_bottom += channels) {
    for (int64_t c = 0; c < channels; c += lanes, dx_top += lanes, dx_bottom += lanes) {
      auto gradient = hn::LoadU(d, dy);
      if (y != nullptr) {
        gradient = hn::IfThenElseZero(hn::Gt(hn::LoadU(d, y), hn::Zero(d)), gradient);
        y += lanes;
      }
      const auto tap = hn::PromoteTo(di, hn::LoadU(du8, argmax));
      const auto where = [&](auto number) HWY_ATTR {
        return hn::IfThenElseZero(hn::RebindMask(d, hn::Eq(tap, number)), gradient);
      };
      hn::StoreU(where(zero), d, dx_top);
      hn::StoreU(where(one), d, dx_top + channels);
      hn::StoreU(where(two), d, dx_bottom);
      hn::StoreU(where(three), d, dx_bottom + channels);
      argmax += lanes;
      dy += lanes;
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace estimator::fused
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace estimator::fused {
namespace {
HWY_EXPORT(Lanes);
HWY_EXPORT(MaxRow);
HWY_EXPORT(GradRow);
}  // namespace

bool Pool2x2Takes(int64_t channels) { return channels % HWY_DYNAMIC_DISPATCH(Lanes)() == 0; }

void MaxPool2x2Row(const float* top, const float* bottom, int64_t windows, int64_t channels,
                   float* y, uint8_t* argmax) {
  HWY_DYNAMIC_DISPATCH(MaxRow)(top, bottom, windows, channels, y, argmax);
}

void MaxPool2x2GradRow(const uint8_t* argmax, const float* dy, const float* y, int64_t windows,
                       int64_t channels, float* dx_top, float* dx_bottom) {
  HWY_DYNAMIC_DISPATCH(GradRow)(argmax, dy, y, windows, channels, dx_top, dx_bottom);
}

}  // namespace estimator::fused
#endif  // HWY_ONCE
