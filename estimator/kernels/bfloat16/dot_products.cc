#include "estimator/kernels/bfloat16/dot_products.h"

#include <cstring>

#include "estimator/kernels/bfloat16/target.h"

namespace estimator::bfloat16 {
namespace {

// sums[row][32] (=, or += if not `first`) the products of kRows rows from row kFirst on and two
// panels. The sums stay in registers: 22 of 32, beside two vectors of panels and one of a row.
//   left(step, row): the numbers of a row in a step. Its pairs have a distance of kPairNumbers.
//   right(step): where the numbers of a step begin in the first panel.
template <int kFirst, int kRows, int64_t kPairNumbers, typename Left, typename Right>
EST_INLINE_512 void MultiplySomeRows(const Left& left, const Right& right, int64_t panel,
                                     int64_t steps, bool first, float* sums) {
  constexpr int64_t kPairs = 16;
  sums += kFirst * 32;
  __m512 sum[kRows][2];
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
    sum[i][0] = first ? _mm512_setzero_ps() : _mm512_loadu_ps(sums + i * 32);
    sum[i][1] = first ? _mm512_setzero_ps() : _mm512_loadu_ps(sums + i * 32 + 16);
  }
  for (int64_t step = 0; step < steps; ++step) {
    const Bfloat16* const columns = right(step);
    for (int64_t pair = 0; pair < kPairs; ++pair) {
      const __m512bh factors[2] = {(__m512bh)_mm512_loadu_si512(columns + pair * 32),
                                   (__m512bh)_mm512_loadu_si512(columns + panel + pair * 32)};
#pragma GCC unroll 16
      for (int i = 0; i < kRows; ++i) {
        int32_t numbers;
        std::memcpy(&numbers, left(step, kFirst + i) + pair * kPairNumbers, sizeof(numbers));
        const __m512bh both = (__m512bh)_mm512_set1_epi32(numbers);
        sum[i][0] = _mm512_dpbf16_ps(sum[i][0], both, factors[0]);
        sum[i][1] = _mm512_dpbf16_ps(sum[i][1], both, factors[1]);
      }
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
    _mm512_storeu_ps(sums + i * 32, sum[i][0]);
    _mm512_storeu_ps(sums + i * 32 + 16, sum[i][1]);
  }
}

//   count: how many of the 32 rows are needed.
template <int64_t kPairNumbers, typename Left, typename Right>
EST_INLINE_512 void Multiply(const Left& left, const Right& right, int64_t panel, int64_t steps,
                             bool first, float* sums, int64_t count = 32) {
  // 32 rows do not fit into the registers at once. The panels stay in the L1 cache for all three
  // parts.
  MultiplySomeRows<0, 11, kPairNumbers>(left, right, panel, steps, first, sums);
  if (count > 11) MultiplySomeRows<11, 11, kPairNumbers>(left, right, panel, steps, first, sums);
  if (count > 22) MultiplySomeRows<22, 10, kPairNumbers>(left, right, panel, steps, first, sums);
}

}  // namespace

EST_512 void MultiplyTilesByDotProducts(const Bfloat16* rows, int64_t distance,
                                        const int64_t* offsets, const Bfloat16* panels,
                                        int64_t panel, int64_t steps, bool first, float* sums) {
  Multiply<2>([=](int64_t step, int64_t row)
                  EST_512 { return rows + offsets[step] + row * distance; },
              [=](int64_t step) EST_512 { return panels + step * 512; }, panel, steps, first, sums);
}

EST_512 void MultiplyRowsByDotProducts(const Bfloat16* rows, int64_t distance,
                                       const Bfloat16* panels, int64_t panel, int64_t steps,
                                       bool splits, bool first, int64_t count, float* sums) {
  if (!splits) {
    Multiply<2>([=](int64_t step, int64_t row)
                    EST_512 { return rows + step * 32 + row * distance; },
                [=](int64_t step) EST_512 { return panels + step * 512; }, panel, steps, first,
                sums, count);
    return;
  }
  // The products of AMX in the same order: high * low, high * high, low * high.
  Multiply<2>(
      [=](int64_t product, int64_t row) EST_512 {
        return rows + product / 3 * 64 + (product % 3 == 2 ? 32 : 0) + row * distance;
      },
      [=](int64_t product)
          EST_512 { return panels + product / 3 * 1024 + (product % 3 == 0 ? 512 : 0); },
      panel, steps * 3, first, sums, count);
}

EST_512 void MultiplyPairs(const Bfloat16* left, int64_t left_panel, PairOrder left_order,
                           const Bfloat16* panels, int64_t panel, int64_t steps, bool first,
                           float* sums) {
  const auto right = [=](int64_t step) EST_512 { return panels + step * 512; };
  if (left_order == PairOrder::kPlain) {
    Multiply<32>(
        [=](int64_t step, int64_t channel)
            EST_512 { return left + step * 512 + channel / 16 * left_panel + channel % 16 * 2; },
        right, panel, steps, first, sums);
  } else {
    Multiply<32>(
        [=](int64_t step, int64_t channel) EST_512 {
          return left + step * 512 + channel / 4 % 2 * left_panel +
                 (channel / 8 * 4 + channel % 4) * 2;
        },
        right, panel, steps, first, sums);
  }
}

}  // namespace estimator::bfloat16
