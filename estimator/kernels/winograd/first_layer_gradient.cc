#include <algorithm>

#include "estimator/kernels/fused/parallel.h"
#include "estimator/kernels/winograd/first_layer.h"
#include "estimator/kernels/winograd/first_layer_scratch.h"

// Highway compiles this file once for every instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "estimator/kernels/winograd/first_layer_gradient.cc"
#include "estimator/kernels/every_target-inl.h"
#include "estimator/kernels/winograd/channels-inl.h"
#include "estimator/kernels/winograd/transforms-inl.h"

HWY_BEFORE_NAMESPACE();
namespace estimator::winograd {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The operands of the gradients of an image, for adjacent vectors of channels.
struct GradientArgs {
  const float* x = nullptr;  // the first tap of a row of the filter, of the image's first pixel
  const float* dy = nullptr;
  const uint8_t* argmax = nullptr;
  int64_t next = 0;  // the distance of the vectors in dy and argmax
};

// Adds to kTaps sums of a row of the filter, for kVectors vectors of channels and all windows of an
// image. The sums of one vector would wait for each other.
template <int kTaps, int kVectors, class Lanes>
HWY_INLINE void RowGradient(const FirstLayer& layer, const Padded& padded, const GradientArgs& args,
                            const Vectors<kVectors, Lanes>& vectors, int64_t tap_floats,
                            float* sums) {
  const D d;
  const hn::RebindToSigned<D> di;
  V sum[kTaps][kVectors];
  EST_UNROLL for (int v = 0; v < kTaps; ++v) {
    EST_UNROLL for (int n = 0; n < kVectors; ++n) {
      sum[v][n] = hn::LoadU(d, sums + v * tap_floats + n * kLanes);
    }
  }
  for (int64_t r = 0; r < layer.conv.out_rows / 2; ++r) {
    for (int64_t q = 0; q < layer.conv.out_columns / 2; ++q) {
      const int64_t at = r * layer.pooled.row + q * layer.pooled.pixel;
      V gradient[kVectors];
      hn::Vec<hn::RebindToSigned<D>> tap[kVectors];
      EST_UNROLL for (int n = 0; n < kVectors; ++n) {
        gradient[n] = vectors.Load(n, args.dy + at + n * args.next);
        tap[n] = hn::PromoteTo(di, vectors.Load(n, args.argmax + at + n * args.next));
      }
      const float* const window =
          args.x + 2 * r * padded.row_floats + 2 * q * layer.conv.in_channels;
      EST_UNROLL for (int p = 0; p < 4; ++p) {
        V here[kVectors];
        EST_UNROLL for (int n = 0; n < kVectors; ++n) {
          // At most one of the four pixels of a window has a gradient. Each lane may have another
          // one, so it is selected without branches.
          here[n] =
              hn::IfThenElseZero(hn::RebindMask(d, hn::Eq(tap[n], hn::Set(di, p))), gradient[n]);
        }
        const float* const pixel =
            window + p / 2 * padded.row_floats + p % 2 * layer.conv.in_channels;
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
      hn::StoreU(sum[v][n], d, sums + v * tap_floats + n * kLanes);
    }
  }
}

// The same for all rows of the filter.
template <int kVectors, class Lanes>
void RowGradients(const FirstLayer& layer, const Padded& padded, GradientArgs args,
                  const Vectors<kVectors, Lanes>& vectors, int64_t tap_floats, float* sums) {
  const float* const first = args.x;
  for (int64_t u = 0; u < layer.conv.filter_rows; ++u) {
    args.x = first + u * padded.row_floats;
    int64_t taps = layer.conv.filter_columns * layer.conv.in_channels;
    // The number of sums must be known when compiling, or they would not stay in registers. 5 and 3
    // are the widths of common filters of one channel.
    for (; taps >= 5; taps -= 5, args.x += 5, sums += 5 * tap_floats)
      RowGradient<5>(layer, padded, args, vectors, tap_floats, sums);
    for (; taps >= 3; taps -= 3, args.x += 3, sums += 3 * tap_floats)
      RowGradient<3>(layer, padded, args, vectors, tap_floats, sums);
    for (; taps >= 1; --taps, ++args.x, sums += tap_floats)
      RowGradient<1>(layer, padded, args, vectors, tap_floats, sums);
  }
}

// Adds to the sums of the bias, for one vector.
template <class Lanes>
void BiasGradient(const FirstLayer& layer, const GradientArgs& args, const Lanes& lanes,
                  float* sums) {
  const D d;
  const hn::RebindToSigned<D> di;
  V sum = hn::LoadU(d, sums);
  for (int64_t r = 0; r < layer.conv.out_rows / 2; ++r) {
    for (int64_t q = 0; q < layer.conv.out_columns / 2; ++q) {
      const int64_t at = r * layer.pooled.row + q * layer.pooled.pixel;
      const auto tap = hn::PromoteTo(di, lanes.Load(args.argmax + at));
      // Tap 4 says that relu was off, where the bias has no gradient either.
      const auto on = hn::RebindMask(d, hn::Lt(tap, hn::Set(di, 4)));
      sum = Plus(sum, hn::IfThenElseZero(on, lanes.Load(args.dy + at)));
    }
  }
  hn::StoreU(sum, d, sums);
}

// Both gradients for kVectors vectors.
template <int kVectors, class Lanes>
void GradientOfVectors(const FirstLayer& layer, const Padded& padded, const GradientArgs& args,
                       const Vectors<kVectors, Lanes>& vectors, int64_t tap_floats,
                       float* filter_sums, float* bias_sums) {
  RowGradients(layer, padded, args, vectors, tap_floats, filter_sums);
  if constexpr (kVectors == 2) BiasGradient(layer, args, AllLanes(), bias_sums);
  GradientArgs of_last = args;
  of_last.dy += (kVectors - 1) * args.next;
  of_last.argmax += (kVectors - 1) * args.next;
  BiasGradient(layer, of_last, vectors.last, bias_sums + (kVectors - 1) * kLanes);
}

// The same, where the last vector has `last` channels.
template <int kVectors>
void GradientOfVectors(const FirstLayer& layer, const Padded& padded, const GradientArgs& args,
                       int64_t last, int64_t tap_floats, float* filter_sums, float* bias_sums) {
  if (last == kLanes) {
    GradientOfVectors(layer, padded, args, Vectors<kVectors, AllLanes>{}, tap_floats, filter_sums,
                      bias_sums);
  } else {
    GradientOfVectors(layer, padded, args, Vectors<kVectors, FirstLanes>{FirstLanes(last)},
                      tap_floats, filter_sums, bias_sums);
  }
}

// Adds the gradients of one image to the sums.
void Gradient(const FirstLayer& layer, int64_t image, const float* padded_image, const float* dy,
              const uint8_t* argmax, float* sums) {
  const Padded padded(layer);
  const Sums places(layer);
  for (int64_t k = 0; k < layer.conv.out_channels;) {
    const int64_t left = layer.conv.out_channels - k;
    const bool two = left > kLanes;
    const int64_t last = std::min(two ? left - kLanes : left, kLanes);
    const int64_t first = layer.pooled.Offset(image, 0, 0, k);
    const GradientArgs args{.x = padded_image,
                            .dy = dy + first,
                            .argmax = argmax + first,
                            .next = two ? layer.pooled.Offset(image, 0, 0, k + kLanes) - first : 0};
    float* const bias = sums + places.bias() + k;
    if (two) {
      GradientOfVectors<2>(layer, padded, args, last, places.tap_floats, sums + k, bias);
    } else {
      GradientOfVectors<1>(layer, padded, args, last, places.tap_floats, sums + k, bias);
    }
    k += two ? 2 * kLanes : kLanes;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace estimator::winograd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace estimator::winograd {
namespace {

HWY_EXPORT(Gradient);

}  // namespace

void FirstLayerFilterGradient(const FirstLayer& layer, const float* x, const float* dy,
                              const uint8_t* argmax, float* filter, float* bias, float* scratch) {
  const Padded padded(layer);
  const Sums sums(layer);
  const fused::Chunks chunks = ImageChunks(layer);
  float* const first_sums = scratch + chunks.count * padded.floats();
  fused::ParallelFor(chunks, [&](int chunk, int64_t begin, int64_t end) {
    float* const image = scratch + chunk * padded.floats();
    float* const own = first_sums + chunk * sums.floats();
    std::fill_n(image, padded.floats(), 0.0f);
    // Each thread has sums of its own, which are added in the order of the chunks, so that equal
    // runs give equal bits.
    std::fill_n(own, sums.floats(), 0.0f);
    for (int64_t n = begin; n < end; ++n) {
      padded.Copy(layer, x, n, image);
      HWY_DYNAMIC_DISPATCH(Gradient)(layer, n, image, dy, argmax, own);
    }
  });
  const auto total = [&](int64_t i) {
    float sum = 0;
    for (int t = 0; t < chunks.count; ++t) sum += first_sums[t * sums.floats() + i];
    return sum;
  };
  for (int64_t tap = 0; tap < sums.taps; ++tap) {
    for (int64_t k = 0; k < layer.conv.out_channels; ++k)
      filter[tap * layer.conv.out_channels + k] = total(tap * sums.tap_floats + k);
  }
  for (int64_t k = 0; k < layer.conv.out_channels; ++k) bias[k] = total(sums.bias() + k);
}

}  // namespace estimator::winograd
#endif  // HWY_ONCE
