#include "estimator/kernels/amx/convolve.h"

#include <algorithm>
#include <cstring>

#include "estimator/kernels/amx/tiles.h"
#include "estimator/kernels/fused/parallel.h"

namespace estimator::amx {
namespace {

constexpr int64_t kGroup = 32;  // channels, and pixels, of two tiles
// The copy of a block stays in the L2 cache beside the filter's part for 32 channels.
constexpr int64_t kBlockBytes = int64_t{1} << 20;
constexpr int64_t kMostBlockPixels = 512;

// The layout of a thread's scratch memory, in bytes.
struct ThreadLayout {
  explicit ThreadLayout(const ConvolvePlan& p)
      : sums(p.block_segments * p.segment_pixels * p.pixel_distance * 2),
        pixels(sums + kGroup * kGroup * 4),
        offsets(pixels + RoundUp(p.block_segments * p.tiles * kGroup * 8, 64)),
        end(offsets + RoundUp(p.steps * 8, 64)) {}
  int64_t sums, pixels, offsets, end;
};

class Worker {
 public:
  Worker(const ConvolvePlan& plan, const Bfloat16* from, const Bfloat16* filter, Bfloat16* to,
         char* scratch)
      : plan_(plan), from_(from), filter_(filter), to_(to) {
    const ThreadLayout layout(plan);
    copy_ = reinterpret_cast<Bfloat16*>(scratch);
    sums_ = reinterpret_cast<float*>(scratch + layout.sums);
    pixels_ = reinterpret_cast<Bfloat16**>(scratch + layout.pixels);
    offsets_ = reinterpret_cast<int64_t*>(scratch + layout.offsets);
    const int64_t channel_steps = plan.from_padded / kGroup;
    const GridSums& s = plan.sums;
    for (int64_t step = 0; step < plan.steps; ++step) {
      const int64_t tap = step / channel_steps;
      const int64_t pixel = tap / s.filter_columns * plan.padded_columns + tap % s.filter_columns;
      offsets_[step] = pixel * plan.pixel_distance + step % channel_steps * kGroup;
    }
  }

  //   begin, end: channels of `to`, multiples of 32.
  void Run(int64_t first_segment, int64_t end_segment, int64_t begin, int64_t end) {
    Configure();
    for (int64_t first = first_segment; first < end_segment; first += plan_.block_segments) {
      const int64_t count = std::min(plan_.block_segments, end_segment - first);
      for (int64_t s = 0; s < count; ++s) Copy(first + s, s, begin, end);
      Multiply(count, begin, end);
    }
    Release();
  }

 private:
  // Copies segment number `segment` to place `place` of the block, and finds its pixels in `to`.
  void Copy(int64_t segment, int64_t place, int64_t begin, int64_t end) {
    const GridSums& s = plan_.sums;
    const int64_t image_segments = DivideUp(s.grid_rows, plan_.segment_rows);
    const int64_t image = segment / image_segments;
    const int64_t row = segment % image_segments * plan_.segment_rows;
    const int64_t grid_rows = std::min(plan_.segment_rows, s.grid_rows - row);
    CopyRows(image, row, grid_rows + s.filter_rows - 1,
             copy_ + place * plan_.segment_pixels * plan_.pixel_distance);
    Bfloat16** const pixels = pixels_ + place * plan_.tiles * kGroup;
    std::fill_n(pixels, plan_.tiles * kGroup, nullptr);
    Bfloat16* const to = to_ + image * s.to_rows * s.to_columns * s.to_channels;
    for (int64_t i = 0; i < grid_rows; ++i) {
      for (int64_t j = 0; j < s.grid_columns; ++j) {
        const int64_t pixel = (row + i) * s.to_row_stride * s.to_columns + j * s.to_column_stride;
        pixels[i * plan_.padded_columns + j] = to + pixel * s.to_channels;
      }
    }
    if (s.to_row_stride == 1 && s.to_column_stride == 1) return;
    const int64_t first_row = row * s.to_row_stride;
    const int64_t end_row =
        row + grid_rows == s.grid_rows ? s.to_rows : (row + grid_rows) * s.to_row_stride;
    end = std::min(end, s.to_channels);
    for (int64_t pixel = first_row * s.to_columns; pixel < end_row * s.to_columns; ++pixel)
      std::fill(to + pixel * s.to_channels + begin, to + pixel * s.to_channels + end, Bfloat16(0));
  }

  void CopyRows(int64_t image, int64_t row, int64_t rows, Bfloat16* to) {
    const GridSums& s = plan_.sums;
    const size_t pixel_bytes = static_cast<size_t>(plan_.from_padded) * sizeof(Bfloat16);
    const size_t channel_bytes = static_cast<size_t>(s.from_channels) * sizeof(Bfloat16);
    for (int64_t i = 0; i < rows; ++i) {
      const int64_t from_row = (row + i) * s.from_row_stride - s.pad_top;
      const bool row_exists = from_row >= 0 && from_row < s.from_rows;
      const Bfloat16* const from = from_ + (image * s.from_rows + (row_exists ? from_row : 0)) *
                                               s.from_columns * s.from_channels;
      for (int64_t j = 0; j < plan_.padded_columns; ++j, to += plan_.pixel_distance) {
        const int64_t column = j * s.from_column_stride - s.pad_left;
        if (!row_exists || column < 0 || column >= s.from_columns) {
          std::memset(static_cast<void*>(to), 0, pixel_bytes);
          continue;
        }
        std::memcpy(static_cast<void*>(to), from + column * s.from_channels, channel_bytes);
        if (channel_bytes < pixel_bytes)
          std::memset(static_cast<void*>(to + s.from_channels), 0, pixel_bytes - channel_bytes);
      }
    }
  }

  void Multiply(int64_t segments, int64_t begin, int64_t end) {
    const int64_t panel = plan_.steps * kGroup * 16;  // 16 channels of the filter
    for (int64_t d = begin; d < end; d += kGroup) {
      const Bfloat16* const filter = filter_ + d / 16 * panel;
      const int64_t count = std::min(kGroup, plan_.sums.to_channels - d);
      for (int64_t s = 0; s < segments; ++s) {
        for (int64_t tile = 0; tile < plan_.tiles; ++tile) {
          const Bfloat16* const rows =
              copy_ + (s * plan_.segment_pixels + tile * kGroup) * plan_.pixel_distance;
          MultiplyTiles(rows, plan_.pixel_distance, offsets_, filter, panel, plan_.steps, true,
                        sums_);
          StoreRows(sums_, pixels_ + (s * plan_.tiles + tile) * kGroup, d, count);
        }
      }
    }
  }

  const ConvolvePlan& plan_;
  const Bfloat16 *from_, *filter_;
  Bfloat16* to_;
  Bfloat16* copy_;
  float* sums_;
  Bfloat16** pixels_;
  int64_t* offsets_;
};

// Copies 32 channels d of the filter for all steps.
void CopyFilter(const ConvolvePlan& plan, const Bfloat16* filter, int64_t d, Bfloat16* to) {
  const GridSums& s = plan.sums;
  const int64_t taps = s.filter_rows * s.filter_columns, weights = s.from_channels * s.to_channels;
  const int64_t panel = plan.steps * kGroup * 16;
  to += d / 16 * panel;
  for (int64_t tap = 0; tap < taps; ++tap) {
    for (int64_t r = 0; r < plan.from_padded; r += kGroup, to += kGroup * 16) {
      for (int64_t half = 0; half < 2; ++half) {
        const int64_t channel = d + half * 16;
        if (s.reversed) {
          CopyFilterTransposed(filter + (taps - 1 - tap) * weights, s.to_channels, s.from_channels,
                               channel, r, to + half * panel);
        } else {
          CopyFilterPairs(filter + tap * weights, s.from_channels, s.to_channels, r, channel,
                          to + half * panel);
        }
      }
    }
  }
}

bool HasStride(const Convolution& c) { return c.row_stride != 1 || c.column_stride != 1; }
bool IsStridedBeyondOneTap(const Convolution& c) {
  return HasStride(c) && (c.taps() != 1 || c.pad_top != 0 || c.pad_left != 0);
}

}  // namespace

std::optional<GridSums> ForwardSums(const Convolution& conv) {
  if (IsStridedBeyondOneTap(conv)) return std::nullopt;
  const Convolution c = conv.Flattened();
  return GridSums{.images = c.images,
                  .from_rows = c.in_rows,
                  .from_columns = c.in_columns,
                  .from_channels = c.in_channels,
                  .to_rows = c.out_rows,
                  .to_columns = c.out_columns,
                  .to_channels = c.out_channels,
                  .grid_rows = c.out_rows,
                  .grid_columns = c.out_columns,
                  .filter_rows = c.filter_rows,
                  .filter_columns = c.filter_columns,
                  .from_row_stride = c.row_stride,
                  .from_column_stride = c.column_stride,
                  .pad_top = c.pad_top,
                  .pad_left = c.pad_left};
}

std::optional<GridSums> InputGradientSums(const Convolution& conv) {
  if (IsStridedBeyondOneTap(conv)) return std::nullopt;
  const Convolution c = conv.Flattened();
  const bool strided = HasStride(c);
  // Points of a grid beyond the input are padding that the convolution reads at the end.
  const auto grid = [strided](int64_t in, int64_t out, int64_t stride) {
    return strided ? std::min(out, DivideUp(in, stride)) : in;
  };
  return GridSums{.images = c.images,
                  .from_rows = c.out_rows,
                  .from_columns = c.out_columns,
                  .from_channels = c.out_channels,
                  .to_rows = c.in_rows,
                  .to_columns = c.in_columns,
                  .to_channels = c.in_channels,
                  .grid_rows = grid(c.in_rows, c.out_rows, c.row_stride),
                  .grid_columns = grid(c.in_columns, c.out_columns, c.column_stride),
                  .filter_rows = c.filter_rows,
                  .filter_columns = c.filter_columns,
                  .to_row_stride = c.row_stride,
                  .to_column_stride = c.column_stride,
                  .pad_top = c.filter_rows - 1 - c.pad_top,
                  .pad_left = c.filter_columns - 1 - c.pad_left,
                  .reversed = true};
}

size_t ConvolvePlan::thread_bytes() const { return static_cast<size_t>(ThreadLayout(*this).end); }

ConvolvePlan MakeConvolvePlan(const GridSums& sums, int threads) {
  ConvolvePlan plan{.sums = sums};
  plan.from_padded = RoundUp(sums.from_channels, kGroup);
  plan.to_padded = RoundUp(sums.to_channels, kGroup);
  // An odd number of cache lines: neighbouring pixels begin in different sets of the cache.
  plan.pixel_distance = (plan.from_padded / 32 | 1) * 32;
  plan.steps = sums.filter_rows * sums.filter_columns * plan.from_padded / kGroup;
  plan.padded_columns = sums.grid_columns + sums.filter_columns - 1;
  const int64_t block_pixels =
      std::clamp(kBlockBytes / (plan.pixel_distance * 2), kGroup, kMostBlockPixels);
  const int64_t most_rows = std::max<int64_t>(1, block_pixels / plan.padded_columns);
  // At least one segment for each thread, if there are enough rows.
  const int64_t image_segments =
      std::min(sums.grid_rows,
               std::max(DivideUp(sums.grid_rows, most_rows), DivideUp(threads, sums.images)));
  plan.segment_rows = DivideUp(sums.grid_rows, image_segments);
  plan.segments = sums.images * DivideUp(sums.grid_rows, plan.segment_rows);
  plan.tiles = DivideUp(plan.segment_rows * plan.padded_columns, kGroup);
  plan.segment_pixels =
      plan.tiles * kGroup + (sums.filter_rows - 1) * plan.padded_columns + sums.filter_columns - 1;
  plan.pixel_parts = static_cast<int>(std::min<int64_t>(threads, plan.segments));
  plan.channel_parts =
      static_cast<int>(std::min<int64_t>(threads / plan.pixel_parts, plan.to_padded / kGroup));
  plan.block_segments = std::clamp<int64_t>(block_pixels / (plan.tiles * kGroup), 1,
                                            DivideUp(plan.segments, plan.pixel_parts));
  return plan;
}

void PackFilter(const ConvolvePlan& plan, const Bfloat16* filter, Bfloat16* packed) {
  const int64_t groups = plan.to_padded / kGroup;
  fused::ParallelFor(fused::MakeChunks(groups, plan.steps * kGroup * kGroup),
                     [&](int, int64_t begin, int64_t end) {
                       for (int64_t g = begin; g < end; ++g)
                         CopyFilter(plan, filter, g * kGroup, packed);
                     });
}

void Convolve(const ConvolvePlan& plan, const Bfloat16* from, const Bfloat16* filter, Bfloat16* to,
              void* scratch) {
  char* const bytes = static_cast<char*>(scratch);
  const int64_t groups = plan.to_padded / kGroup;
  const int threads = plan.pixel_parts * plan.channel_parts;
  fused::ParallelFor({threads, threads}, [&](int, int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) {
      const fused::Chunks segments{plan.segments, plan.pixel_parts};
      const fused::Chunks channels{groups, plan.channel_parts};
      const int pixel_part = static_cast<int>(t) / plan.channel_parts;
      const int channel_part = static_cast<int>(t) % plan.channel_parts;
      Worker(plan, from, filter, to, bytes + static_cast<size_t>(t) * plan.thread_bytes())
          .Run(segments.begin(pixel_part), segments.end(pixel_part),
               channels.begin(channel_part) * kGroup, channels.end(channel_part) * kGroup);
    }
  });
}

}  // namespace estimator::amx
