#include "estimator/kernels/bfloat16/convolve.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "estimator/kernels/bfloat16/copies.h"
#include "estimator/kernels/bfloat16/stores.h"
#include "estimator/kernels/bfloat16/tiles.h"
#include "estimator/kernels/fused/parallel.h"

namespace estimator::bfloat16 {
namespace {

// The copy of a block stays in the L2 cache beside the filter's part for 32 channels.
constexpr int64_t kBlockBytes = int64_t{1} << 20;
constexpr int64_t kMostBlockPixels = 512;

TapWindows WindowsOf(const GridSums& s) {
  return {.rows = s.from_rows,
          .columns = s.from_columns,
          .channels = s.from_channels,
          .filter_rows = s.filter_rows,
          .filter_columns = s.filter_columns,
          .row_stride = s.from_row_stride,
          .column_stride = s.from_column_stride};
}

// The distance of taps, for an image that is copied by taps: an odd number of cache lines.
int64_t TapDistance(const ConvolvePlan& p) { return (p.tiles | 1) * kGroup; }

// The layout of a thread's scratch memory, in bytes.
struct ThreadLayout {
  explicit ThreadLayout(const ConvolvePlan& p)
      : sums(p.block_segments * p.segment_pixels * p.pixel_distance * 2),
        row(sums + (p.pools ? p.tiles : 1) * kGroup * kGroup * 4),
        taps(row + RoundUp(RowNumbers(p) * (p.splits ? 4 : 2), 64)),
        pixels(taps + (p.sums.gathered ? p.from_padded * TapDistance(p) * 2 : 0)),
        offsets(pixels + RoundUp(p.block_segments * p.tiles * kGroup * 8, 64)),
        end(offsets + RoundUp(p.steps * 8, 64)) {}
  int64_t sums, row, taps, pixels, offsets, end;

 private:
  static int64_t RowNumbers(const ConvolvePlan& p) {
    const GridSums& s = p.sums;
    return s.gathered ? PlaneNumbers(WindowsOf(s), p.segment_rows, s.grid_columns)
                      : s.from_columns * s.from_channels;
  }
};

class Worker {
 public:
  Worker(const ConvolvePlan& plan, const ConvolveSource& from, const Bfloat16* filter,
         const ConvolveTarget& to, char* scratch)
      : plan_(plan), from_(from), filter_(filter), to_(to) {
    const ThreadLayout layout(plan);
    copy_ = reinterpret_cast<Bfloat16*>(scratch);
    sums_ = reinterpret_cast<float*>(scratch + layout.sums);
    row_ = reinterpret_cast<float*>(scratch + layout.row);
    taps_ = reinterpret_cast<Bfloat16*>(scratch + layout.taps);
    // CopyTaps writes existing taps only. The others are multiplied with zeros of the filter, and 0
    // times a NaN is not 0.
    std::memset(scratch + layout.taps, 0, static_cast<size_t>(layout.pixels - layout.taps));
    pixels_ = reinterpret_cast<int64_t*>(scratch + layout.pixels);
    offsets_ = reinterpret_cast<int64_t*>(scratch + layout.offsets);
    const int64_t channel_steps = plan.from_padded / kGroup, products = plan.products();
    for (int64_t step = 0; step < plan.steps; ++step) {
      const int64_t group = step / products, tap = group / channel_steps;
      const int64_t columns = plan.sums.copied_columns();
      const int64_t pixel = tap / columns * plan.padded_columns + tap % columns;
      // The last of three products has the low parts of `from` (CopyFilter).
      const int64_t part = step % products == 2 ? plan.from_padded : 0;
      offsets_[step] = pixel * plan.pixel_distance + part + group % channel_steps * kGroup;
    }
  }

  //   begin, end: channels of `to`, multiples of 32.
  void Run(int64_t first_segment, int64_t end_segment, int64_t begin, int64_t end) {
    Configure();
    for (int64_t first = first_segment; first < end_segment; first += plan_.block_segments) {
      const int64_t count = std::min(plan_.block_segments, end_segment - first);
      for (int64_t s = 0; s < count; ++s) {
        const Segment segment = SegmentOf(first + s);
        Copy(segment, s);
        if (!plan_.pools) FindPixels(segment, s, begin, end);
      }
      // The channels are the outer loop, so that the filter's part for 32 of them is used for the
      // whole block.
      for (int64_t d = begin; d < end; d += kGroup) Multiply(first, count, d);
    }
    Release();
  }

 private:
  // Rows of the grid of one image.
  struct Segment {
    int64_t image, row, rows;
  };
  Segment SegmentOf(int64_t number) const {
    const GridSums& s = plan_.sums;
    const int64_t image_segments = DivideUp(s.grid_rows, plan_.segment_rows);
    const int64_t row = number % image_segments * plan_.segment_rows;
    return {number / image_segments, row, std::min(plan_.segment_rows, s.grid_rows - row)};
  }

  // Copies a segment to place `place` of the block.
  void Copy(const Segment& segment, int64_t place) {
    const GridSums& s = plan_.sums;
    Bfloat16* to = copy_ + place * plan_.segment_pixels * plan_.pixel_distance;
    if (s.gathered) {
      CopyWindows(segment, to);
      return;
    }
    const int64_t row_numbers = plan_.padded_columns * plan_.pixel_distance;
    for (int64_t i = 0; i < segment.rows + s.copied_rows() - 1; ++i, to += row_numbers) {
      const int64_t row = (segment.row + i) * s.from_row_stride - s.pad_top;
      const bool exists = row >= 0 && row < s.from_rows;
      if (plan_.splits) {
        CopyRow(exists ? Row(from_.wide, segment.image, row, row_) : nullptr, to);
      } else {
        Bfloat16* const unpooled = reinterpret_cast<Bfloat16*>(row_);
        CopyRow(exists ? Row(from_.narrow, segment.image, row, unpooled) : nullptr, to);
      }
    }
  }

  // The same for an image that is copied by taps.
  void CopyWindows(const Segment& segment, Bfloat16* to) {
    const GridSums& s = plan_.sums;
    const int64_t distance = TapDistance(plan_), pixels = plan_.tiles * kGroup;
    const int64_t image = segment.image * s.from_rows * s.from_columns * s.from_channels;
    CopyTaps(WindowsOf(s), from_.narrow + image,
             {.row = segment.row * s.from_row_stride - s.pad_top,
              .column = -s.pad_left,
              .num_rows = segment.rows,
              .count = s.grid_columns,
              .end_number = plan_.from_padded},
             distance, reinterpret_cast<Bfloat16*>(row_), taps_);
    const Bfloat16* taps[RoundUp(kMostGatheredTaps * kFewestChannels, kGroup)];
    for (int64_t t = 0; t < plan_.from_padded; ++t) taps[t] = taps_ + t * distance;
    CopyTransposed(taps, plan_.from_padded, 0, pixels, pixels, plan_.pixel_distance, to);
  }

  // A row of `from`, [from_columns, from_channels].
  //   to: of the size of a row; used if there is a pool.
  template <typename T>
  const T* Row(const T* from, int64_t image, int64_t row, T* to) const {
    const GridSums& s = plan_.sums;
    if (from_.argmax == nullptr)
      return from + (image * s.from_rows + row) * s.from_columns * s.from_channels;
    const int64_t windows = s.from_columns / 2;
    const int64_t offset = (image * (s.from_rows / 2) + row / 2) * windows * s.from_channels;
    Unpool(from + offset, from_.argmax + offset, row % 2 == 1, windows, s.from_channels,
           s.from_channels, to);
    return to;
  }

  //   from: null for a row of zeros.
  template <typename T>
  void CopyRow(const T* from, Bfloat16* to) {
    const GridSums& s = plan_.sums;
    for (int64_t j = 0; j < plan_.padded_columns; ++j, to += plan_.pixel_distance) {
      const int64_t column = j * s.from_column_stride - s.pad_left;
      const bool exists = from != nullptr && column >= 0 && column < s.from_columns;
      const int64_t channels = exists ? s.from_channels : 0;
      if constexpr (std::is_same_v<T, float>) {
        if (exists) Split(from + column * channels, channels, to, to + plan_.from_padded);
        Clear(to + plan_.from_padded, channels);
      } else {
        if (exists)
          std::memcpy(to, from + column * channels, static_cast<size_t>(channels) * sizeof(T));
      }
      Clear(to, channels);
    }
  }

  // Clears the channels of a pixel in the copy from `begin`.
  void Clear(Bfloat16* pixel, int64_t begin) const {
    const int64_t count = plan_.from_padded - begin;
    if (count > 0)
      std::memset(static_cast<void*>(pixel + begin), 0, static_cast<size_t>(count) * 2);
  }

  // Finds the places of the sums of a segment in `to`, and clears what is between them.
  void FindPixels(const Segment& segment, int64_t place, int64_t begin, int64_t end) {
    const GridSums& s = plan_.sums;
    int64_t* const pixels = pixels_ + place * plan_.tiles * kGroup;
    // Rows of the grid are padded, so that all taps of a tile have one offset. The sums between the
    // rows mean nothing and are not stored.
    std::fill_n(pixels, plan_.tiles * kGroup, -1);
    const int64_t image = segment.image * s.to_rows * s.to_columns;
    for (int64_t i = 0; i < segment.rows; ++i) {
      for (int64_t j = 0; j < s.grid_columns; ++j) {
        const int64_t pixel =
            (segment.row + i) * s.to_row_stride * s.to_columns + j * s.to_column_stride;
        pixels[i * plan_.padded_columns + j] = (image + pixel) * s.to_channels;
      }
    }
    // With a stride, no window reads the pixels in between. Their gradient is 0.
    if (s.to_row_stride == 1 && s.to_column_stride == 1) return;
    const int64_t first_row = segment.row * s.to_row_stride;
    const int64_t next_row = segment.row + segment.rows;
    // The last segment also clears the rows that no window reaches.
    const int64_t end_row = next_row == s.grid_rows ? s.to_rows : next_row * s.to_row_stride;
    const int64_t count = std::min(end, s.to_channels) - begin;
    for (int64_t pixel = image + first_row * s.to_columns; pixel < image + end_row * s.to_columns;
         ++pixel) {
      const int64_t offset = pixel * s.to_channels + begin;
      if (to_.wide != nullptr) std::fill_n(to_.wide + offset, count, 0.0F);
      if (to_.narrow != nullptr) std::fill_n(to_.narrow + offset, count, Bfloat16(0));
    }
  }

  // Computes 32 channels d of the segments of a block.
  void Multiply(int64_t first_segment, int64_t segments, int64_t d) {
    const int64_t panel = plan_.steps * kGroup * 16;  // 16 channels of the filter
    const Bfloat16* const filter = filter_ + d / 16 * panel;
    const Epilogue epilogue =
        EpilogueOf(to_.bias, to_.side, to_.activation, d, plan_.sums.to_channels, bias_);
    for (int64_t s = 0; s < segments; ++s) {
      for (int64_t tile = 0; tile < plan_.tiles; ++tile) {
        const Bfloat16* const rows =
            copy_ + (s * plan_.segment_pixels + tile * kGroup) * plan_.pixel_distance;
        float* const sums = sums_ + (plan_.pools ? tile * kGroup * kGroup : 0);
        MultiplyTiles(rows, plan_.pixel_distance, offsets_, filter, panel, plan_.steps, true, sums);
        // A window needs the sums of two rows, which may be in other tiles, so they are stored
        // after all tiles of the segment.
        if (plan_.pools) continue;
        const int64_t* const pixels = pixels_ + (s * plan_.tiles + tile) * kGroup;
        if (to_.wide != nullptr) {
          StoreRows(sums, pixels, epilogue, to_.wide + d);
        } else {
          StoreRows(sums, pixels, epilogue, to_.narrow + d);
        }
      }
      if (plan_.pools) Pool(SegmentOf(first_segment + s), epilogue, d);
    }
  }

  void Pool(const Segment& segment, const Epilogue& epilogue, int64_t d) {
    const GridSums& s = plan_.sums;
    const int64_t windows = s.to_columns / 2;
    for (int64_t i = 0; i < segment.rows; i += 2) {
      const float* const sums = sums_ + i * plan_.padded_columns * kGroup;
      const int64_t row = segment.image * (s.to_rows / 2) + (segment.row + i) / 2;
      const int64_t offset = row * windows * s.to_channels + d;
      if (to_.wide != nullptr) {
        StorePooled(sums, plan_.padded_columns, windows, epilogue, s.to_channels, to_.wide + offset,
                    to_.argmax + offset);
      } else {
        StorePooled(sums, plan_.padded_columns, windows, epilogue, s.to_channels,
                    to_.narrow + offset, to_.argmax + offset);
      }
    }
  }

  const ConvolvePlan& plan_;
  const ConvolveSource from_;
  const Bfloat16* filter_;
  const ConvolveTarget to_;
  Bfloat16* copy_;
  float* sums_;
  float* row_;       // of `from`, before its pool; or the planes of CopyTaps
  Bfloat16* taps_;   // of a segment
  int64_t* pixels_;  // places in `to`, -1 for none
  int64_t* offsets_;
  float bias_[kGroup];
};

bool HasStride(const Convolution& c) { return c.row_stride != 1 || c.column_stride != 1; }
bool IsStridedBeyondOneTap(const Convolution& c) {
  return HasStride(c) && (c.taps() != 1 || c.pad_top != 0 || c.pad_left != 0);
}

}  // namespace

std::optional<GridSums> ForwardSums(const Convolution& conv, bool pooled) {
  if (IsStridedBeyondOneTap(conv) && !IsGathered(conv)) return std::nullopt;
  const Convolution c = pooled ? conv : Flattened(conv);
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
                  .pad_left = c.pad_left,
                  .gathered = IsGathered(c)};
}

std::optional<GridSums> InputGradientSums(const Convolution& conv, bool pooled) {
  if (IsStridedBeyondOneTap(conv) || IsGathered(conv)) return std::nullopt;
  const Convolution c = pooled ? conv : Flattened(conv);
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

ConvolvePlan MakeConvolvePlan(const GridSums& sums, int threads, bool pools, bool splits) {
  ConvolvePlan plan{.sums = sums, .splits = splits, .pools = pools};
  plan.from_padded = RoundUp(sums.copied_channels(), kGroup);
  plan.to_padded = RoundUp(sums.to_channels, kGroup);
  // An odd number of cache lines: neighbouring pixels begin in different sets of the cache.
  plan.pixel_distance = (plan.from_padded * (splits ? 2 : 1) / 32 | 1) * 32;
  plan.steps =
      sums.copied_rows() * sums.copied_columns() * plan.from_padded / kGroup * plan.products();
  plan.padded_columns = sums.grid_columns + sums.copied_columns() - 1;
  const int64_t block_pixels =
      std::clamp(kBlockBytes / (plan.pixel_distance * 2), kGroup, kMostBlockPixels);
  const int64_t most_rows = std::max<int64_t>(1, block_pixels / plan.padded_columns);
  // At least one segment for each thread, if there are enough rows.
  const int64_t image_segments =
      std::min(sums.grid_rows,
               std::max(DivideUp(sums.grid_rows, most_rows), DivideUp(threads, sums.images)));
  plan.segment_rows = DivideUp(sums.grid_rows, image_segments);
  if (pools) plan.segment_rows = RoundUp(plan.segment_rows, 2);  // no window is divided
  plan.segments = sums.images * DivideUp(sums.grid_rows, plan.segment_rows);
  plan.tiles = DivideUp(plan.segment_rows * plan.padded_columns, kGroup);
  plan.segment_pixels = plan.tiles * kGroup + (sums.copied_rows() - 1) * plan.padded_columns +
                        sums.copied_columns() - 1;
  plan.pixel_parts = static_cast<int>(std::min<int64_t>(threads, plan.segments));
  plan.channel_parts =
      static_cast<int>(std::min<int64_t>(threads / plan.pixel_parts, plan.to_padded / kGroup));
  plan.block_segments = std::clamp<int64_t>(block_pixels / (plan.tiles * kGroup), 1,
                                            DivideUp(plan.segments, plan.pixel_parts));
  return plan;
}

void Convolve(const ConvolvePlan& plan, const ConvolveSource& from, const Bfloat16* filter,
              const ConvolveTarget& to, void* scratch) {
  char* const bytes = static_cast<char*>(scratch);
  const int64_t groups = plan.to_padded / kGroup;
  const int threads = plan.pixel_parts * plan.channel_parts;
  fused::ForEachItem({threads, threads}, [&](int, int64_t t) {
    const fused::Chunks segments{plan.segments, plan.pixel_parts};
    const fused::Chunks channels{groups, plan.channel_parts};
    const int pixel_part = static_cast<int>(t) / plan.channel_parts;
    const int channel_part = static_cast<int>(t) % plan.channel_parts;
    Worker(plan, from, filter, to, bytes + static_cast<size_t>(t) * plan.thread_bytes())
        .Run(segments.begin(pixel_part), segments.end(pixel_part),
             channels.begin(channel_part) * kGroup, channels.end(channel_part) * kGroup);
  });
}

}  // namespace estimator::bfloat16
