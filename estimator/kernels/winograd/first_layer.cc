#include "estimator/kernels/winograd/first_layer.h"

#include <algorithm>
#include <cstring>

#include "estimator/kernels/fused/parallel.h"

// Highway's foreach_target.h compiles this file once for every instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "estimator/kernels/winograd/first_layer.cc"
#define HWY_DISABLE_PCLMUL_AES  // x86-64-v3 lacks it and we do not use it; so AVX2 is the baseline
// The order matters: each header includes this file, or needs what the header before it defined.
// clang-format off
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "estimator/kernels/winograd/transforms-inl.h"
// clang-format on

#ifndef ESTIMATOR_KERNELS_WINOGRAD_FIRST_LAYER_PADDED_
#define ESTIMATOR_KERNELS_WINOGRAD_FIRST_LAYER_PADDED_
namespace estimator::winograd {

// An image with zeros around it, so that the inner loops need no test for the edges.
struct Padded {
  explicit Padded(const FirstLayer& layer)
      : rows(layer.out_rows + layer.filter_rows - 1),
        row_floats((layer.out_columns + layer.filter_columns - 1) * layer.in_channels) {}

  int64_t floats() const { return (rows * row_floats + 15) / 16 * 16; }
  // Copies image `image` of x; the zeros must be there already.
  void Copy(const FirstLayer& layer, const float* x, int64_t image, float* to) const {
    const int64_t row = layer.in_columns * layer.in_channels;
    x += image * layer.in_rows * row;
    const int64_t copied = std::min(layer.in_rows, rows - layer.pad_top);
    const int64_t floats =
        std::min(row, row_floats - layer.pad_left * layer.in_channels) * int64_t{sizeof(float)};
    for (int64_t r = 0; r < copied; ++r) {
      std::memcpy(to + (r + layer.pad_top) * row_floats + layer.pad_left * layer.in_channels,
                  x + r * row, static_cast<size_t>(floats));
    }
  }

  int64_t rows, row_floats;
};

}  // namespace estimator::winograd
#endif  // ESTIMATOR_KERNELS_WINOGRAD_FIRST_LAYER_PADDED_

HWY_BEFORE_NAMESPACE();
namespace estimator::winograd {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// With AVX-512 the sums of three windows for two vectors of channels fit into the registers, else those
// of one window.
constexpr int kMostWindows = kLanes >= 16 ? 3 : 1;

// The pixels of an image under adjacent windows, and where the result goes.
struct WindowArgs {
  const float* x = nullptr;  // the first tap of the first window's first pixel
  const float* filter = nullptr;
  const float* bias = nullptr;
  float* y = nullptr;
  uint8_t* argmax = nullptr;
};

// Computes kCount windows for kVectors vectors of channels.
template <int kCount, int kVectors>
HWY_INLINE void PooledWindows(const FirstLayer& layer, const Padded& padded,
                              const WindowArgs& args) {
  const D d;
  const hn::RebindToSigned<D> di;
  V sum[kCount][4][kVectors];
  EST_UNROLL for (int q = 0; q < kCount; ++q) {
    EST_UNROLL for (int p = 0; p < 4; ++p) {
      EST_UNROLL for (int n = 0; n < kVectors; ++n) sum[q][p][n] = hn::Zero(d);
    }
  }
  const int64_t pixel = layer.in_channels, row = padded.row_floats;
  const float* filter = args.filter;
  for (int64_t u = 0; u < layer.filter_rows; ++u) {
    const float* x = args.x + u * row;
    for (int64_t v = 0; v < layer.filter_columns * pixel; ++v, ++x, filter += layer.out_channels) {
      V weights[kVectors];
      EST_UNROLL for (int n = 0; n < kVectors; ++n) weights[n] = hn::LoadU(d, filter + n * kLanes);
      EST_UNROLL for (int q = 0; q < kCount; ++q) {
        EST_UNROLL for (int p = 0; p < 4; ++p) {
          const V value = hn::Set(d, x[p / 2 * row + (2 * q + p % 2) * pixel]);
          EST_UNROLL for (int n = 0; n < kVectors; ++n) {
            sum[q][p][n] = hn::MulAdd(value, weights[n], sum[q][p][n]);
          }
        }
      }
    }
  }
  EST_UNROLL for (int q = 0; q < kCount; ++q) {
    EST_UNROLL for (int n = 0; n < kVectors; ++n) {
      V best = sum[q][0][n];
      auto tap = hn::Zero(di);
      EST_UNROLL for (int p = 1; p < 4; ++p) {
        const auto greater = hn::Gt(sum[q][p][n], best);
        tap = hn::IfThenElse(hn::RebindMask(di, greater), hn::Set(di, p), tap);
        best = hn::IfThenElse(greater, sum[q][p][n], best);
      }
      best = Plus(best, hn::LoadU(d, args.bias + n * kLanes));
      const auto on = hn::Gt(best, hn::Zero(d));
      tap = hn::IfThenElse(hn::RebindMask(di, on), tap, hn::Set(di, 4));
      const int64_t at = q * layer.pooled.pixel + n * kLanes;
      hn::StoreU(hn::Max(hn::Zero(d), best), d, args.y + at);
      hn::StoreU(hn::DemoteTo(hn::Rebind<uint8_t, D>(), tap), hn::Rebind<uint8_t, D>(),
                 args.argmax + at);
    }
  }
}

// Computes up to kMostWindows windows. Returns how many.
template <int kVectors>
int64_t SomeWindows(const FirstLayer& layer, const Padded& padded, const WindowArgs& args,
                    int64_t windows) {
  if constexpr (kMostWindows == 3) {
    if (windows >= 3) return PooledWindows<3, kVectors>(layer, padded, args), 3;
    if (windows == 2) return PooledWindows<2, kVectors>(layer, padded, args), 2;
  }
  return PooledWindows<1, kVectors>(layer, padded, args), 1;
}

void Forward(const FirstLayer& layer, int64_t image, const float* padded_image, const float* filter,
             const float* bias, float* y, uint8_t* argmax) {
  const Padded padded(layer);
  constexpr int64_t kStep = 16;  // channels: no vectors of two blocks of channels
  constexpr int kVectors = static_cast<int>(kStep / kLanes);
  const int64_t windows = layer.out_columns / 2;
  for (int64_t r = 0; r < layer.out_rows; r += 2) {
    for (int64_t k = 0; k < layer.out_channels;) {
      // In NHWC two blocks of channels are adjacent, too.
      const bool wide =
          kVectors == 1 && layer.pooled.block == kStep && k + 2 * kStep <= layer.out_channels;
      for (int64_t q = 0; q < windows;) {
        const int64_t at = layer.pooled.Offset(image, r / 2, q, k);
        const WindowArgs args{.x = padded_image + r * padded.row_floats + 2 * q * layer.in_channels,
                              .filter = filter + k,
                              .bias = bias + k,
                              .y = y + at,
                              .argmax = argmax + at};
        q += wide ? SomeWindows<2>(layer, padded, args, windows - q)
                  : SomeWindows<kVectors>(layer, padded, args, windows - q);
      }
      k += wide ? 2 * kStep : kStep;
    }
  }
}

// Adds to kTaps sums of a row of the filter, for kVectors vectors of channels and all windows of an
// image. The sums of one vector would wait for each other.
//   x: the first tap of the row, of the image's first pixel.
//   next: the distance of the vectors in dy and argmax.
template <int kTaps, int kVectors>
HWY_INLINE void RowGradient(const FirstLayer& layer, const Padded& padded, const float* x,
                            const float* dy, const uint8_t* argmax, int64_t next, float* filter) {
  const D d;
  const hn::RebindToSigned<D> di;
  V sum[kTaps][kVectors];
  EST_UNROLL for (int v = 0; v < kTaps; ++v) {
    EST_UNROLL for (int n = 0; n < kVectors; ++n) {
      sum[v][n] = hn::LoadU(d, filter + v * layer.out_channels + n * kLanes);
    }
  }
  for (int64_t r = 0; r < layer.out_rows / 2; ++r) {
    for (int64_t q = 0; q < layer.out_columns / 2; ++q) {
      const int64_t at = r * layer.pooled.row + q * layer.pooled.pixel;
      V gradient[kVectors];
      hn::Vec<hn::RebindToSigned<D>> tap[kVectors];
      EST_UNROLL for (int n = 0; n < kVectors; ++n) {
        gradient[n] = hn::LoadU(d, dy + at + n * next);
        tap[n] = hn::PromoteTo(di, hn::LoadU(hn::Rebind<uint8_t, D>(), argmax + at + n * next));
      }
      const float* const window = x + 2 * r * padded.row_floats + 2 * q * layer.in_channels;
      EST_UNROLL for (int p = 0; p < 4; ++p) {
        V here[kVectors];
        EST_UNROLL for (int n = 0; n < kVectors; ++n) {
          here[n] =
              hn::IfThenElseZero(hn::RebindMask(d, hn::Eq(tap[n], hn::Set(di, p))), gradient[n]);
        }
        const float* const pixel = window + p / 2 * padded.row_floats + p % 2 * layer.in_channels;
        EST_UNROLL for (int v = 0; v < kTaps; ++v) {
          const V value = hn::Set(d, pixel[v]);
          EST_UNROLL for (int n = 0; n < kVectors; ++n) {
            sum[v][n] = hn::MulAdd(value, here[n], sum[v][n]);
          }
        }
      }
    }
  }
  EST_UNROLL for (int v = 0; v < kTaps; ++v) {
    EST_UNROLL for (int n = 0; n < kVectors; ++n) {
      hn::StoreU(sum[v][n], d, filter + v * layer.out_channels + n * kLanes);
    }
  }
}

// As RowGradient, for `taps` taps.
template <int kVectors>
void RowGradients(const FirstLayer& layer, const Padded& padded, const float* x, const float* dy,
                  const uint8_t* argmax, int64_t next, int64_t taps, float* filter) {
  for (; taps >= 5; taps -= 5, x += 5, filter += 5 * layer.out_channels)
    RowGradient<5, kVectors>(layer, padded, x, dy, argmax, next, filter);
  for (; taps >= 3; taps -= 3, x += 3, filter += 3 * layer.out_channels)
    RowGradient<3, kVectors>(layer, padded, x, dy, argmax, next, filter);
  for (; taps >= 1; --taps, ++x, filter += layer.out_channels)
    RowGradient<1, kVectors>(layer, padded, x, dy, argmax, next, filter);
}

// Adds the gradients of one image to filter and bias.
void Gradient(const FirstLayer& layer, int64_t image, const float* padded_image, const float* dy,
              const uint8_t* argmax, float* filter, float* bias) {
  const D d;
  const hn::RebindToSigned<D> di;
  const Padded padded(layer);
  const int64_t taps = layer.filter_columns * layer.in_channels;
  for (int64_t k = 0; k < layer.out_channels;) {
    const int vectors = k + 2 * kLanes <= layer.out_channels ? 2 : 1;
    const int64_t first = layer.pooled.Offset(image, 0, 0, k);
    const int64_t next = vectors == 2 ? layer.pooled.Offset(image, 0, 0, k + kLanes) - first : 0;
    for (int64_t u = 0; u < layer.filter_rows; ++u) {
      const float* const x = padded_image + u * padded.row_floats;
      float* const to = filter + u * taps * layer.out_channels + k;
      if (vectors == 2) {
        RowGradients<2>(layer, padded, x, dy + first, argmax + first, next, taps, to);
      } else {
        RowGradients<1>(layer, padded, x, dy + first, argmax + first, next, taps, to);
      }
    }
    for (int n = 0; n < vectors; ++n, k += kLanes) {
      V sum = hn::LoadU(d, bias + k);
      for (int64_t r = 0; r < layer.out_rows / 2; ++r) {
        for (int64_t q = 0; q < layer.out_columns / 2; ++q) {
          const int64_t at = first + n * next + r * layer.pooled.row + q * layer.pooled.pixel;
          const auto tap = hn::PromoteTo(di, hn::LoadU(hn::Rebind<uint8_t, D>(), argmax + at));
          const auto on = hn::RebindMask(d, hn::Lt(tap, hn::Set(di, 4)));
          sum = Plus(sum, hn::IfThenElseZero(on, hn::LoadU(d, dy + at)));
        }
      }
      hn::StoreU(sum, d, bias + k);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace estimator::winograd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace estimator::winograd {
namespace {

HWY_EXPORT(Forward);
HWY_EXPORT(Gradient);

fused::Chunks ImageChunks(const FirstLayer& layer) {
  return {layer.images, static_cast<int>(std::min<int64_t>(omp_get_max_threads(), layer.images))};
}

int64_t FilterSize(const FirstLayer& layer) {
  return layer.filter_rows * layer.filter_columns * layer.in_channels * layer.out_channels;
}

}  // namespace

size_t FirstLayerFloats(const FirstLayer& layer) {
  return static_cast<size_t>(ImageChunks(layer).count *
                             (Padded(layer).floats() + FilterSize(layer) + layer.out_channels));
}

void FirstLayerForward(const FirstLayer& layer, const float* x, const float* filter,
                       const float* bias, float* y, uint8_t* argmax, float* scratch) {
  const Padded padded(layer);
  fused::ParallelFor(ImageChunks(layer), [&](int chunk, int64_t begin, int64_t end) {
    float* const image = scratch + chunk * padded.floats();
    std::fill_n(image, padded.floats(), 0.0f);
    for (int64_t n = begin; n < end; ++n) {
      padded.Copy(layer, x, n, image);
      HWY_DYNAMIC_DISPATCH(Forward)(layer, n, image, filter, bias, y, argmax);
    }
  });
}

void FirstLayerFilterGradient(const FirstLayer& layer, const float* x, const float* dy,
                              const uint8_t* argmax, float* filter, float* bias, float* scratch) {
  const Padded padded(layer);
  const fused::Chunks chunks = ImageChunks(layer);
  // Each thread has its own sums: the filter's, then the bias's.
  const int64_t sums = FilterSize(layer) + layer.out_channels;
  float* const first_sums = scratch + chunks.count * padded.floats();
  fused::ParallelFor(chunks, [&](int chunk, int64_t begin, int64_t end) {
    float* const image = scratch + chunk * padded.floats();
    float* const own = first_sums + chunk * sums;
    std::fill_n(image, padded.floats(), 0.0f);
    std::fill_n(own, sums, 0.0f);
    for (int64_t n = begin; n < end; ++n) {
      padded.Copy(layer, x, n, image);
      HWY_DYNAMIC_DISPATCH(Gradient)
      (layer, n, image, dy, argmax, own, own + FilterSize(layer));
    }
  });
  const auto total = [&](int64_t i) {
    float sum = 0;
    for (int t = 0; t < chunks.count; ++t) sum += first_sums[t * sums + i];
    return sum;
  };
  for (int64_t i = 0; i < FilterSize(layer); ++i) filter[i] = total(i);
  for (int64_t k = 0; k < layer.out_channels; ++k) bias[k] = total(FilterSize(layer) + k);
}

}  // namespace estimator::winograd
#endif  // HWY_ONCE
