// PackFilter of convolve.h.
#include "estimator/kernels/bfloat16/convolve.h"
#include "estimator/kernels/bfloat16/copies.h"
#include "estimator/kernels/fused/parallel.h"

namespace estimator::bfloat16 {
namespace {

// Copies 32 channels d of the filter for all steps.
//   low: of the numbers of a filter in f32, or null. The three products of a step are those of the
//   high parts, of a low part of the filter, and of a low part of `from`.
void CopyFilter(const ConvolvePlan& plan, const Bfloat16* filter, const Bfloat16* low, int64_t d,
                Bfloat16* to) {
  const GridSums& s = plan.sums;
  const int64_t taps = s.copied_rows() * s.copied_columns();
  const int64_t from_channels = s.copied_channels(), weights = from_channels * s.to_channels;
  const int64_t panel = plan.steps * kGroup * 16;
  to += d / 16 * panel;
  for (int64_t tap = 0; tap < taps; ++tap) {
    for (int64_t r = 0; r < plan.from_padded; r += kGroup) {
      for (int64_t product = 0; product < plan.products(); ++product, to += kGroup * 16) {
        const Bfloat16* const part = product == 1 ? low : filter;
        for (int64_t half = 0; half < 2; ++half) {
          const int64_t channel = d + half * 16;
          if (s.reversed) {
            CopyFilterTransposed(part + (taps - 1 - tap) * weights, s.to_channels, from_channels,
                                 channel, r, to + half * panel);
          } else {
            CopyFilterPairs(part + tap * weights, from_channels, s.to_channels, r, channel,
                            to + half * panel);
          }
        }
      }
    }
  }
}

int64_t FilterNumbers(const GridSums& s) {
  return s.filter_rows * s.filter_columns * s.from_channels * s.to_channels;
}

}  // namespace

size_t ConvolvePlan::filter_bytes() const {
  // PackFilter keeps the two parts of the filter behind the panels.
  const int64_t parts = splits ? RoundUp(FilterNumbers(sums), 32) * 4 : 0;
  return panel_bytes() + static_cast<size_t>(parts);
}

void PackFilter(const ConvolvePlan& plan, const void* filter, Bfloat16* packed) {
  const Bfloat16* high = static_cast<const Bfloat16*>(filter);
  const Bfloat16* low = nullptr;
  if (plan.splits) {
    const int64_t numbers = FilterNumbers(plan.sums);
    Bfloat16* const parts = packed + plan.panel_bytes() / sizeof(Bfloat16);
    Bfloat16* const rest = parts + RoundUp(numbers, 32);
    // The filter is split once for all steps. CopyFilter would split a weight again for each copy
    // of it.
    fused::ParallelFor(fused::MakeChunks(numbers), [&](int, int64_t begin, int64_t end) {
      Split(static_cast<const float*>(filter) + begin, end - begin, parts + begin, rest + begin);
    });
    high = parts;
    low = rest;
  }
  const int64_t groups = plan.to_padded / kGroup;
  fused::ForEachItem(fused::MakeChunks(groups, plan.steps * kGroup * kGroup),
                     [&](int, int64_t g) { CopyFilter(plan, high, low, g * kGroup, packed); });
}

}  // namespace estimator::bfloat16
