#include "estimator/kernels/bfloat16/filter_gradient.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "estimator/kernels/bfloat16/copies.h"
#include "estimator/kernels/bfloat16/dot_products.h"
#include "estimator/kernels/bfloat16/stores.h"
#include "estimator/kernels/bfloat16/tiles.h"
#include "estimator/kernels/fused/parallel.h"

namespace estimator::bfloat16 {
namespace {

TapWindows TapWindowsOf(const Convolution& c) {
  return {.rows = c.in_rows,
          .columns = c.in_columns,
          .channels = c.in_channels,
          .filter_rows = c.filter_rows,
          .filter_columns = c.filter_columns,
          .row_stride = c.row_stride,
          .column_stride = c.column_stride};
}

// The layout of a thread's scratch memory, in bytes.
struct FilterThreadLayout {
  explicit FilterThreadLayout(const FilterPlan& p)
      : x(0),
        dy(x + p.in_part * p.channel_distance() * 2 * p.parts()),
        zeros(dy + p.out_part / 16 * p.panel() * 2 * p.parts()),
        pixels(zeros + std::max(p.in_padded, p.out_padded) * 2 * p.parts()),
        offsets(pixels + RoundUp(std::max(p.plane_pixels, p.steps * kStep) * 8, 64)),
        bias(offsets + RoundUp(p.block_segments * p.steps * 8, 64)),
        planes(bias + p.out_part * 4),
        end(planes +
            RoundUp(IsGathered(p.given)
                        ? PlaneNumbers(TapWindowsOf(p.given), p.segment_rows, p.given.out_columns) *
                              2 * p.parts()
                        : 0,
                    64)) {}
  int64_t x, dy, zeros, pixels, offsets, bias, planes, end;
};

// What a thread computes.
struct Part {
  int64_t first_segment = 0, end_segment = 0;
  int64_t in_begin = 0, in_end = 0;  // channels, multiples of 32 up to the padded number
  int64_t out_begin = 0, out_end = 0;
  float* sums = nullptr;
  double* bias_sums = nullptr;  // of the channels [out_begin, out_end), or null
};

//   T: Bfloat16, or float if the plan splits.
template <typename T>
class FilterWorker {
 public:
  FilterWorker(const FilterPlan& plan, const Part& part, const T* x, const T* dy,
               const uint8_t* argmax, char* scratch)
      : plan_(plan), part_(part), x_image_(x), dy_image_(dy), argmax_(argmax) {
    const FilterThreadLayout layout(plan);
    x_ = reinterpret_cast<Bfloat16*>(scratch + layout.x);
    dy_ = reinterpret_cast<Bfloat16*>(scratch + layout.dy);
    zeros_ = reinterpret_cast<T*>(scratch + layout.zeros);
    pixels_ = reinterpret_cast<const T**>(scratch + layout.pixels);
    offsets_ = reinterpret_cast<int64_t*>(scratch + layout.offsets);
    bias_ = reinterpret_cast<float*>(scratch + layout.bias);
    planes_ = reinterpret_cast<T*>(scratch + layout.planes);
    // CopyTaps and UnpoolPairs leave gaps in the copies, which must be 0.
    const auto clear = [scratch](int64_t begin, int64_t end) {
      std::memset(scratch + begin, 0, static_cast<size_t>(end - begin));
    };
    if (IsGathered(plan.given)) clear(layout.x, layout.dy);
    if (argmax != nullptr) clear(layout.dy, layout.zeros);
    clear(layout.zeros, layout.pixels);
  }

  void Run() {
    Configure();
    for (int64_t first = part_.first_segment; first < part_.end_segment;
         first += plan_.block_segments) {
      const int64_t count = std::min(plan_.block_segments, part_.end_segment - first);
      for (int64_t s = 0; s < count; ++s) Copy(first + s, s);
      Multiply(count * plan_.steps, first == part_.first_segment);
    }
    Release();
  }

 private:
  // Copies segment number `segment` to place `place` of the block.
  void Copy(int64_t segment, int64_t place) {
    const Convolution& g = plan_.conv;
    const int64_t image_segments = DivideUp(g.out_rows, plan_.segment_rows);
    const int64_t image = segment / image_segments;
    const int64_t row = segment % image_segments * plan_.segment_rows;
    const int64_t rows = std::min(plan_.segment_rows, g.out_rows - row);
    const int64_t plane = plan_.plane_pixels;
    const int64_t phases = plan_.phase_rows * plan_.phase_columns;
    Bfloat16* const x = x_ + place * phases * plane;
    if (IsGathered(plan_.given)) {
      CopyInputTaps(image, row, rows, x);
    } else if (plan_.pairs) {
      FindInput(image, row, 0, 0);
      ForHalves([&](Half half, auto... given_half) {
        CopyPairs(pixels_, given_half..., plane, part_.in_begin, part_.in_end, g.in_channels,
                  plan_.panel(), x_ + place * plane * 16 + (half == Half::kLow ? low_x() : 0));
      });
    } else {
      for (int64_t phase = 0; phase < phases; ++phase) {
        FindInput(image, row, phase / plan_.phase_columns, phase % plan_.phase_columns);
        ForHalves([&](Half half, auto... given_half) {
          CopyTransposed(pixels_, given_half..., plane, part_.in_begin, part_.in_end, g.in_channels,
                         plan_.row_pixels, x + phase * plane + (half == Half::kLow ? low_x() : 0));
        });
      }
    }
    Bfloat16* const dy = dy_ + place * plan_.steps * kStep * 16;
    if (argmax_ != nullptr) {
      CopyPooledOutput(image, row, rows, dy);
    } else {
      CopyOutput(image, row, rows, dy);
    }
    for (int64_t step = 0; step < plan_.steps; ++step)
      offsets_[place * plan_.steps + step] = place * phases * plane + step * kStep;
  }

  // Calls copy(half, what the functions of copies.h take for it) for the parts of a number.
  template <typename Copy>
  static void ForHalves(Copy&& copy) {
    if constexpr (std::is_same_v<T, float>) {
      copy(Half::kHigh, Half::kHigh);
      copy(Half::kLow, Half::kLow);
    } else {
      copy(Half::kHigh);
    }
  }
  // Where the low parts begin in x_ and dy_.
  int64_t low_x() const { return plan_.in_part * plan_.channel_distance(); }
  int64_t low_dy() const { return plan_.out_part / 16 * plan_.panel(); }

  // pixels_[i]: the channels of x at place i of a plane.
  void FindInput(int64_t image, int64_t row, int64_t phase_row, int64_t phase_column) {
    const Convolution& g = plan_.conv;
    std::fill_n(pixels_, plan_.plane_pixels, zeros_);
    const int64_t rows = plan_.segment_rows + (g.filter_rows - 1) / g.row_stride;
    for (int64_t i = 0; i < rows; ++i) {
      const int64_t in_row = (row + i) * g.row_stride + phase_row - g.pad_top;
      if (in_row < 0 || in_row >= g.in_rows) continue;
      const T* const from = x_image_ + (image * g.in_rows + in_row) * g.in_columns * g.in_channels;
      const T** const to = pixels_ + i * plan_.padded_columns;
      for (int64_t j = 0; j < plan_.padded_columns; ++j) {
        const int64_t column = j * g.column_stride + phase_column - g.pad_left;
        if (column >= 0 && column < g.in_columns) to[j] = from + column * g.in_channels;
      }
    }
  }

  void CopyInputTaps(int64_t image, int64_t row, int64_t rows, Bfloat16* to) {
    const Convolution& g = plan_.given;
    const T* const from = x_image_ + image * g.in_rows * g.in_columns * g.in_channels;
    const WindowRows windows{.row = row * g.row_stride - g.pad_top,
                             .column = -g.pad_left,
                             .num_rows = rows,
                             .count = g.out_columns,
                             .first_number = part_.in_begin,
                             .end_number = part_.in_end};
    const auto copy = [&](auto... low) {
      CopyTaps(TapWindowsOf(g), from, windows, plan_.row_pixels, planes_, to, low...);
    };
    if constexpr (std::is_same_v<T, float>) {
      copy(low_x());
    } else {
      copy();
    }
  }

  void CopyOutput(int64_t image, int64_t row, int64_t rows, Bfloat16* to) {
    const Convolution& g = plan_.conv;
    const int64_t pixels = plan_.steps * kStep;
    // Places between the rows, and beyond the last one, must add nothing.
    std::fill_n(pixels_, pixels, zeros_);
    const T* from = dy_image_ + (image * g.out_rows + row) * g.out_columns * g.out_channels;
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < g.out_columns; ++j, from += g.out_channels)
        pixels_[i * plan_.padded_columns + j] = from;
    }
    AddToBias(
        [&] { AddPixels(pixels_, pixels, part_.out_begin, part_.out_end, g.out_channels, bias_); });
    ForHalves([&](Half half, auto... given_half) {
      CopyPairs(pixels_, given_half..., pixels, part_.out_begin, part_.out_end, g.out_channels,
                plan_.panel(), to + (half == Half::kLow ? low_dy() : 0));
    });
  }

  // The same if dy is the gradient of a pool.
  void CopyPooledOutput(int64_t image, int64_t row, int64_t rows, Bfloat16* to) {
    const Convolution& g = plan_.conv;
    const int64_t windows = g.out_columns / 2;
    const auto offset_of = [&](int64_t i) {
      return (image * (g.out_rows / 2) + (row + i) / 2) * windows * g.out_channels;
    };
    AddToBias([&] {
      for (int64_t i = row % 2; i < rows; i += 2) {  // the upper rows of windows
        const int64_t offset = offset_of(i);
        AddPooled(dy_image_ + offset, argmax_ + offset, windows, part_.out_begin, part_.out_end,
                  g.out_channels, bias_);
      }
    });
    // A part of an image that has fewer rows than the others.
    if (rows < plan_.segment_rows) Clear(to);
    for (int64_t i = 0; i < rows; ++i) {
      const int64_t offset = offset_of(i);
      ForHalves([&](Half half, auto... given_half) {
        UnpoolPairs(dy_image_ + offset, given_half..., argmax_ + offset, (row + i) % 2 == 1,
                    windows, part_.out_begin, part_.out_end, g.out_channels, plan_.panel(),
                    to + i * plan_.padded_columns * 16 + (half == Half::kLow ? low_dy() : 0));
      });
    }
  }

  // Clears a segment of dy in all panels.
  void Clear(Bfloat16* to) {
    const int64_t panels = plan_.out_part / 16 * plan_.parts();
    for (int64_t i = 0; i < panels; ++i)
      std::fill_n(to + i * plan_.panel(), plan_.steps * kStep * 16, Bfloat16(0));
  }

  //   add: adds to bias_.
  template <typename Add>
  void AddToBias(Add&& add) {
    if (part_.bias_sums == nullptr) return;
    const int64_t channels = part_.out_end - part_.out_begin;
    std::fill_n(bias_, channels, 0.0F);
    add();
    // A segment is summed in f32, with vectors, and the segments in f64: the sum is as long as the
    // batch has pixels.
    for (int64_t k = 0; k < channels; ++k) part_.bias_sums[k] += static_cast<double>(bias_[k]);
  }

  // Adds the products of a block of `steps` steps to the sums.
  void Multiply(int64_t steps, bool first) {
    if (plan_.conv.taps() == 1) {
      for (int64_t k = part_.out_begin; k < part_.out_end; k += kGroup) {
        for (int64_t c = part_.in_begin; c < part_.in_end; c += kGroup)
          MultiplyGroups(c, k, steps, first);
      }
      return;
    }
    // Taps read x at addresses that are no multiples of 64 bytes, which is slow beyond the L1
    // cache.
    for (int64_t c = part_.in_begin; c < part_.in_end; c += kGroup) {
      for (int64_t k = part_.out_begin; k < part_.out_end; k += kGroup)
        MultiplyGroups(c, k, steps, first);
    }
  }

  // The same for 32 channels c of x and 32 channels k of dy.
  void MultiplyGroups(int64_t c, int64_t k, int64_t steps, bool first) {
    const Convolution& g = plan_.conv;
    const Bfloat16* const dy = dy_ + (k - part_.out_begin) / 16 * plan_.panel();
    const Bfloat16* const x = x_ + (c - part_.in_begin) * plan_.channel_distance();
    for (int64_t u = 0; u < g.filter_rows; ++u) {
      for (int64_t v = 0; v < g.filter_columns; ++v) {
        const int64_t phase = u % g.row_stride * plan_.phase_columns + v % g.column_stride;
        const int64_t offset = phase * plan_.plane_pixels +
                               u / g.row_stride * plan_.padded_columns + v / g.column_stride;
        const int64_t row =
            (k / kGroup * g.taps() + u * g.filter_columns + v) * plan_.in_padded + c;
        float* const sums = part_.sums + row * kGroup;
        const auto multiply = [&](int64_t low_x, int64_t low_dy, bool first_product) {
          if (plan_.pairs) {
            MultiplyPairs(x + low_x, plan_.panel(), PairOrder::kCopied, dy + low_dy, plan_.panel(),
                          steps, first && first_product, sums);
          } else {
            MultiplyTiles(x + low_x + offset, plan_.row_pixels, offsets_, dy + low_dy,
                          plan_.panel(), steps, first && first_product, sums);
          }
        };
        multiply(0, 0, true);
        if (!plan_.splits) continue;
        // The product of both low parts is left out: it is smaller than what the splitting itself
        // rounds off.
        multiply(low_x(), 0, false);
        multiply(0, low_dy(), false);
      }
    }
  }

  const FilterPlan& plan_;
  const Part part_;
  const T *x_image_, *dy_image_;
  const uint8_t* argmax_;
  Bfloat16 *x_, *dy_;
  const T* zeros_;
  const T** pixels_;
  int64_t* offsets_;
  float* bias_;  // sums of a segment
  T* planes_;    // of CopyTaps
};

}  // namespace

size_t FilterPlan::thread_bytes() const {
  return static_cast<size_t>(FilterThreadLayout(*this).end);
}

size_t FilterPlan::scratch_bytes() const {
  return static_cast<size_t>(pixel_parts * channel_parts) * thread_bytes() +
         static_cast<size_t>(pixel_parts) *
             (sum_floats() * sizeof(float) + static_cast<size_t>(out_padded) * sizeof(double));
}

template <typename T>
void RunFilterGradient(const FilterPlan& plan, const T* x, const T* dy, const uint8_t* argmax,
                       float* dfilter, float* dbias, void* scratch) {
  const Convolution& g = plan.conv;
  const int threads = plan.pixel_parts * plan.channel_parts;
  char* const bytes = static_cast<char*>(scratch);
  float* const sums =
      reinterpret_cast<float*>(bytes + static_cast<size_t>(threads) * plan.thread_bytes());
  double* const bias_sums =
      reinterpret_cast<double*>(sums + static_cast<size_t>(plan.pixel_parts) * plan.sum_floats());
  std::fill_n(bias_sums, plan.pixel_parts * plan.out_padded, 0.0);
  const bool split_in = plan.in_part < plan.in_padded;
  fused::ForEachItem({threads, threads}, [&](int, int64_t t) {
    const int64_t pixel_part = t / plan.channel_parts, channel_part = t % plan.channel_parts;
    const fused::Chunks segments{plan.segments, plan.pixel_parts};
    Part part{.first_segment = segments.begin(static_cast<int>(pixel_part)),
              .end_segment = segments.end(static_cast<int>(pixel_part)),
              .in_end = plan.in_padded,
              .out_end = plan.out_padded,
              .sums = sums + pixel_part * static_cast<int64_t>(plan.sum_floats())};
    if (split_in) {
      part.in_begin = std::min(channel_part * plan.in_part, plan.in_padded);
      part.in_end = std::min(part.in_begin + plan.in_part, plan.in_padded);
    } else {
      part.out_begin = std::min(channel_part * plan.out_part, plan.out_padded);
      part.out_end = std::min(part.out_begin + plan.out_part, plan.out_padded);
    }
    // Channels are divided in groups of 32, so a thread may get none.
    if (part.in_begin == part.in_end || part.out_begin == part.out_end) return;
    // Of threads with the same channels of dy, the first one adds them up.
    if (dbias != nullptr && part.in_begin == 0)
      part.bias_sums = bias_sums + pixel_part * plan.out_padded + part.out_begin;
    FilterWorker<T>(plan, part, x, dy, argmax, bytes + static_cast<size_t>(t) * plan.thread_bytes())
        .Run();
  });
  const int64_t rows = g.taps() * g.in_channels;
  fused::ForEachItem(fused::MakeChunks(rows, g.out_channels), [&](int, int64_t row) {
    const int64_t tap = row / g.in_channels, c = row % g.in_channels;
    for (int64_t k = 0; k < g.out_channels; k += kGroup) {
      const float* const from =
          sums + ((k / kGroup * g.taps() + tap) * plan.in_padded + c) * kGroup;
      AddParts(from, plan.pixel_parts, static_cast<int64_t>(plan.sum_floats()),
               std::min(kGroup, g.out_channels - k), dfilter + row * g.out_channels + k);
    }
  });
  for (int64_t k = 0; dbias != nullptr && k < g.out_channels; ++k) {
    double sum = 0;
    for (int64_t part = 0; part < plan.pixel_parts; ++part)
      sum += bias_sums[part * plan.out_padded + k];
    dbias[k] = static_cast<float>(sum);
  }
}

template void RunFilterGradient(const FilterPlan&, const Bfloat16*, const Bfloat16*, const uint8_t*,
                                float*, float*, void*);
template void RunFilterGradient(const FilterPlan&, const float*, const float*, const uint8_t*,
                                float*, float*, void*);

}  // namespace estimator::bfloat16
