#include "estimator/kernels/winograd/first_layer.h"

#include <algorithm>

#include "estimator/kernels/fused/parallel.h"
#include "estimator/kernels/winograd/first_layer_scratch.h"

// Highway compiles this file once for every instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "estimator/kernels/winograd/first_layer.cc"
#include "estimator/kernels/every_target-inl.h"
#include "estimator/kernels/winograd/channels-inl.h"
#include "estimator/kernels/winograd/transforms-inl.h"

HWY_BEFORE_NAMESPACE();
namespace estimator::winograd {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// With AVX-512 the sums of three windows for two vectors of channels fit into the registers, else
// those of one window.
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
template <int kCount, int kVectors, class Lanes>
HWY_INLINE void PooledWindows(const FirstLayer& layer, const Padded& padded,
                              const Vectors<kVectors, Lanes>& vectors, const WindowArgs& args) {
  const D d;
  const hn::RebindToSigned<D> di;
  V sum[kCount][4][kVectors];
  EST_UNROLL for (int q = 0; q < kCount; ++q) {
    EST_UNROLL for (int p = 0; p < 4; ++p) {
      EST_UNROLL for (int n = 0; n < kVectors; ++n) sum[q][p][n] = hn::Zero(d);
    }
  }
  const int64_t pixel = layer.conv.in_channels, row = padded.row_floats;
  const float* filter = args.filter;
  for (int64_t u = 0; u < layer.conv.filter_rows; ++u) {
    const float* x = args.x + u * row;
    for (int64_t v = 0; v < layer.conv.filter_columns * pixel;
         ++v, ++x, filter += layer.conv.out_channels) {
      V weights[kVectors];
      EST_UNROLL for (int n = 0; n < kVectors; ++n) {
        weights[n] = vectors.Load(n, filter + n * kLanes);
      }
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
      // The four pixels have the same bias, so it is added to their maximum only.
      best = Plus(best, vectors.Load(n, args.bias + n * kLanes));
      const auto on = hn::Gt(best, hn::Zero(d));
      // 4 is no tap of a window of 2x2: the gradient finds no place where relu was off
      // (conv_block.h).
      tap = hn::IfThenElse(hn::RebindMask(di, on), tap, hn::Set(di, 4));
      const int64_t at = q * layer.pooled.pixel + n * kLanes;
      vectors.Store(n, hn::Max(hn::Zero(d), best), args.y + at);
      vectors.Store(n, hn::DemoteTo(ByteTag(), tap), args.argmax + at);
    }
  }
}

// Computes up to kMostWindows windows. Returns how many.
template <int kVectors, class Lanes>
int64_t SomeWindows(const FirstLayer& layer, const Padded& padded,
                    const Vectors<kVectors, Lanes>& vectors, const WindowArgs& args,
                    int64_t windows) {
  if constexpr (kMostWindows == 3) {
    if (windows >= 3) return PooledWindows<3>(layer, padded, vectors, args), 3;
    if (windows == 2) return PooledWindows<2>(layer, padded, vectors, args), 2;
  }
  return PooledWindows<1>(layer, padded, vectors, args), 1;
}

// As above, for kVectors vectors of channels, of which the last one has `last` channels.
template <int kVectors>
int64_t SomeWindows(const FirstLayer& layer, const Padded& padded, int64_t last,
                    const WindowArgs& args, int64_t windows) {
  if (last == kLanes)
    return SomeWindows(layer, padded, Vectors<kVectors, AllLanes>{}, args, windows);
  return SomeWindows(layer, padded, Vectors<kVectors, FirstLanes>{FirstLanes(last)}, args, windows);
}

void Forward(const FirstLayer& layer, int64_t image, const float* padded_image, const float* filter,
             const float* bias, float* y, uint8_t* argmax) {
  const Padded padded(layer);
  // Two vectors at a time, if they are adjacent: in NHWC, and within a block of 16 channels.
  const bool adjacent = kLanes < 16 || layer.pooled.block == 16;
  const int64_t windows = layer.conv.out_columns / 2;
  for (int64_t r = 0; r < layer.conv.out_rows; r += 2) {
    for (int64_t k = 0; k < layer.conv.out_channels;) {
      const int64_t left = layer.conv.out_channels - k;
      const bool two = adjacent && left > kLanes;
      const int64_t last = std::min(two ? left - kLanes : left, kLanes);
      for (int64_t q = 0; q < windows;) {
        const int64_t at = layer.pooled.Offset(image, r / 2, q, k);
        const WindowArgs args{
            .x = padded_image + r * padded.row_floats + 2 * q * layer.conv.in_channels,
            .filter = filter + k,
            .bias = bias + k,
            .y = y + at,
            .argmax = argmax + at};
        q += two ? SomeWindows<2>(layer, padded, last, args, windows - q)
                 : SomeWindows<1>(layer, padded, last, args, windows - q);
      }
      k += two ? 2 * kLanes : kLanes;
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

}  // namespace

size_t FirstLayerFloats(const FirstLayer& layer) {
  return static_cast<size_t>(ImageChunks(layer).count *
                             (Padded(layer).floats() + Sums(layer).floats()));
}

void FirstLayerForward(const FirstLayer& layer, const float* x, const float* filter,
                       const float* bias, float* y, uint8_t* argmax, float* scratch) {
  const Padded padded(layer);
  fused::ParallelFor(ImageChunks(layer), [&](int chunk, int64_t begin, int64_t end) {
    float* const image = scratch + chunk * padded.floats();
    // Only once for a thread: every image is copied to the same place, so its padding stays 0.
    std::fill_n(image, padded.floats(), 0.0f);
    for (int64_t n = begin; n < end; ++n) {
      padded.Copy(layer, x, n, image);
      HWY_DYNAMIC_DISPATCH(Forward)(layer, n, image, filter, bias, y, argmax);
    }
  });
}

}  // namespace estimator::winograd
#endif  // HWY_ONCE
