#include "estimator/kernels/transformer/keep_mask.h"

#include <cstring>

// Highway compiles this file once for every instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "estimator/kernels/transformer/keep_mask.cc"
#include "estimator/kernels/every_target-inl.h"

HWY_BEFORE_NAMESPACE();
namespace estimator::transformer {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr int64_t kCounters = kMaskBlock / 4;

// A 32-bit word of the state is the lower half of a 64-bit lane, which is where MulEven reads it.
// The upper halves hold what earlier products left there.
void KeepMaskBlocks(uint64_t key, uint64_t counter_low, uint64_t counter_high, uint32_t threshold,
                    int64_t begin, int64_t end, uint8_t* HWY_RESTRICT mask) {
  const hn::ScalableTag<uint64_t> d;
  const hn::Repartition<uint32_t, decltype(d)> d32;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto m0 = hn::BitCast(d32, hn::Set(d, 0xd2511f53)),
             m1 = hn::BitCast(d32, hn::Set(d, 0xcd9e8d57));
  const auto mantissa = hn::Set(d, 0x7fffff);
  // `threshold` - 1 - x is negative, so that its sign bit is 1, if x >= threshold.
  const auto last_dropped = hn::Set(d, static_cast<uint64_t>(threshold) - 1);
  const auto high0 = hn::Set(d, counter_high & 0xffffffffu), high1 = hn::Set(d, counter_high >> 32);
  HWY_ALIGN uint64_t bytes[hn::MaxLanes(d)];
  for (int64_t block = begin; block < end; ++block) {
    for (int64_t i = 0; i < kCounters; i += lanes) {
      const uint64_t first = counter_low + static_cast<uint64_t>(block * kCounters + i);
      const auto counter = hn::Iota(d, first);
      auto c0 = counter, c1 = hn::ShiftRight<32>(counter), c2 = high0, c3 = high1;
      uint32_t key0 = static_cast<uint32_t>(key), key1 = static_cast<uint32_t>(key >> 32);
      for (int round = 0; round < 10; ++round) {
        const auto p0 = hn::MulEven(hn::BitCast(d32, c0), m0),
                   p1 = hn::MulEven(hn::BitCast(d32, c2), m1);
        c0 = hn::Xor(hn::Xor(hn::ShiftRight<32>(p1), c1), hn::Set(d, key0));
        c1 = p1;
        c2 = hn::Xor(hn::Xor(hn::ShiftRight<32>(p0), c3), hn::Set(d, key1));
        c3 = p0;
        key0 += 0x9e3779b9;
        key1 += 0xbb67ae85;
      }
      const auto keeps = [&](decltype(c0) word) HWY_ATTR {
        return hn::ShiftRight<63>(hn::Sub(last_dropped, hn::And(word, mantissa)));
      };
      hn::Store(hn::Or(hn::Or(keeps(c0), hn::ShiftLeft<8>(keeps(c1))),
                       hn::Or(hn::ShiftLeft<16>(keeps(c2)), hn::ShiftLeft<24>(keeps(c3)))),
                d, bytes);
      uint8_t* const to = mask + block * kMaskBlock + 4 * i;
      for (int64_t lane = 0; lane < lanes; ++lane) {
        const auto four = static_cast<uint32_t>(bytes[lane]);
        std::memcpy(to + 4 * lane, &four, sizeof(four));
      }
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace estimator::transformer
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace estimator::transformer {
HWY_EXPORT(KeepMaskBlocks);

void KeepMaskBlocks(uint64_t key, uint64_t counter_low, uint64_t counter_high, uint32_t threshold,
                    int64_t begin, int64_t end, uint8_t* mask) {
  HWY_DYNAMIC_DISPATCH(KeepMaskBlocks)
  (key, counter_low, counter_high, threshold, begin, end, mask);
}

}  // namespace estimator::transformer
#endif  // HWY_ONCE
