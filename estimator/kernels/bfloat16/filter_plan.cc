// MakeFilterPlan of filter_gradient.h.
#include <algorithm>

#include "estimator/kernels/bfloat16/filter_gradient.h"
#include "estimator/kernels/bfloat16/tiles.h"

namespace estimator::bfloat16 {
namespace {

// Pixels in a block: with fewer, sums are read and written too often; with more, groups of channels
// do not stay in the L2 cache, or, if each is multiplied several times, in the L1 cache.
constexpr int64_t kBlockPixels = 1024, kBlockPixelsOfSeveralProducts = 256;
// Without AMX: 40 KiB of pairs of 32 channels. Of 256 to 1024 pixels, the fastest on an AMD EPYC
// with L1 caches of 48 KiB.
constexpr int64_t kBlockPixelsOfPairs = 640;
// Sums of pixel parts that are kept apart, in bytes.
constexpr int64_t kMostSumBytes = int64_t{64} << 20;

// The convolution of the copy of x by taps.
Convolution OfTaps(const Convolution& c) {
  Convolution taps = c;
  taps.in_rows = c.out_rows;
  taps.in_columns = c.out_columns;
  taps.in_channels = c.taps() * c.in_channels;
  taps.filter_rows = taps.filter_columns = taps.row_stride = taps.column_stride = 1;
  taps.pad_top = taps.pad_left = 0;
  return taps;
}

}  // namespace

FilterPlan MakeFilterPlan(const Convolution& conv, int threads, bool pooled, bool splits) {
  FilterPlan plan{.conv = IsGathered(conv) ? OfTaps(conv)
                          : pooled         ? conv
                                           : Flattened(conv),
                  .given = conv,
                  .splits = splits};
  const Convolution& g = plan.conv;
  plan.pairs = !HasAmx() && conv.taps() == 1;
  plan.in_padded = RoundUp(g.in_channels, kGroup);
  plan.out_padded = RoundUp(g.out_channels, kGroup);
  plan.phase_rows = std::min(g.row_stride, g.filter_rows);
  plan.phase_columns = std::min(g.column_stride, g.filter_columns);
  const int64_t more_columns = (g.filter_columns - 1) / g.column_stride;
  const int64_t more_rows = (g.filter_rows - 1) / g.row_stride;
  plan.padded_columns = g.out_columns + more_columns;
  if (pooled) plan.padded_columns = RoundUp(plan.padded_columns, 2);  // pairs do not cross rows
  const int64_t block_pixels = splits || g.taps() > 1 ? kBlockPixelsOfSeveralProducts
                               : plan.pairs           ? kBlockPixelsOfPairs
                                                      : kBlockPixels;
  const int64_t most_rows = std::max<int64_t>(1, block_pixels / plan.padded_columns);
  int64_t image_segments = DivideUp(g.out_rows, most_rows);
  const bool flat = g.images == 1 && g.out_columns == 1;
  if (plan.pairs && flat && image_segments > 1) {
    // Threads get equal numbers of segments, but long ones: sums are read and written for each.
    const int64_t most = g.out_rows / kBlockPixelsOfSeveralProducts;
    image_segments = std::max(image_segments, std::min(RoundUp(image_segments, threads), most));
  }
  plan.segment_rows = DivideUp(g.out_rows, image_segments);
  if (plan.pairs && flat) plan.segment_rows = RoundUp(plan.segment_rows, kStep);
  plan.segments = g.images * DivideUp(g.out_rows, plan.segment_rows);
  plan.steps = DivideUp(plan.segment_rows * plan.padded_columns, kStep);
  plan.plane_pixels =
      RoundUp(plan.steps * kStep + more_rows * plan.padded_columns + more_columns, kStep);

  // Every part has as many segments as another, or one more.
  const int64_t sum_bytes = static_cast<int64_t>(plan.sum_floats() * sizeof(float));
  // Each part of the pixels has sums as large as the filter. Beyond the limit, threads divide the
  // channels instead.
  const int64_t most_parts =
      std::clamp<int64_t>(kMostSumBytes / sum_bytes, 1, std::min<int64_t>(threads, plan.segments));
  plan.pixel_parts = static_cast<int>(most_parts);
  const int64_t groups = std::max(plan.in_padded, plan.out_padded) / kGroup;
  plan.channel_parts = static_cast<int>(std::min<int64_t>(threads / plan.pixel_parts, groups));
  const int64_t part = DivideUp(groups, plan.channel_parts) * kGroup;
  // Threads with the same pixels divide the operand with more channels. Each of them copies all of
  // the other one.
  const bool split_in = plan.in_padded > plan.out_padded;
  plan.in_part = split_in ? part : plan.in_padded;
  plan.out_part = split_in ? plan.out_padded : part;

  plan.block_segments = std::clamp<int64_t>(block_pixels / (plan.steps * kStep), 1,
                                            DivideUp(plan.segments, plan.pixel_parts));
  // An odd number of cache lines: channels begin in different sets of the cache.
  const int64_t pixels =
      plan.block_segments * plan.phase_rows * plan.phase_columns * plan.plane_pixels;
  plan.row_pixels = (pixels / 32 | 1) * 32;
  return plan;
}

}  // namespace estimator::bfloat16
