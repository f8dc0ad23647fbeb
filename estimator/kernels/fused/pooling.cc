// Pooling in f32 and bf16 on all threads; one thread computes an image. Images are NHWC or in blocks of
// channels (kernels/layout.h).
//   MaxPool, MaxPoolGrad, AvgPool, AvgPoolGrad
//     As in TensorFlow.
//   _MaxPoolWithArgmax: x [N,H,W,C] -> y [N,P,Q,C], argmax u8 [N,P,Q,C]
//     argmax is the tap r * ksize_w + s of the first maximum in its window, in row-major order. A
//     window has at most 256 taps.
//   _MaxPoolGradWithArgmax: argmax, dy[, y] -> dx with the shape in attribute input_shape
//     With y, the gradient flows only if y > 0: this is the gradient of a Relu before the pool,
//     without a pass of its own.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "estimator/kernels/fused/bfloat16.h"
#include "estimator/kernels/fused/parallel.h"
#include "estimator/kernels/fused/pool_2x2.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/layout.h"
#include "estimator/kernels/window.h"

namespace estimator::fused {
namespace {

struct Pool {
  int64_t channels = 0;
  Window rows = {}, columns = {};
  Chunks images = {};

  int64_t in_image() const { return rows.input * columns.input * channels; }
  int64_t out_image() const { return rows.output * columns.output * channels; }
  int64_t taps() const { return rows.kernel * columns.kernel; }
  bool overlaps() const { return rows.stride < rows.kernel || columns.stride < columns.kernel; }
  // Every input is in exactly one window.
  bool tiles() const {
    const auto exact = [](const Window& w) {
      return w.stride == w.kernel && w.pad_before == 0 && w.input == w.output * w.stride;
    };
    return exact(rows) && exact(columns);
  }
  // Windows are 2x2 and whole, and channels fill whole vectors, so that pool_2x2.h can be used.
  bool tiles_by_2x2() const {
    return tiles() && rows.kernel == 2 && columns.kernel == 2 && Pool2x2Takes(channels);
  }
};

//   input: the shape of what is pooled.  pooled: the shape of the result.
// Returns nullopt if this tier does not support the spec.
std::optional<Pool> PoolOf(const KernelSpec& spec, const Shape& input, const TensorSpec& pooled) {
  if (pooled.dtype != DType::kFloat32 && pooled.dtype != DType::kBfloat16) return std::nullopt;
  if (input.rank() != 4 || input.num_elements() == 0) return std::nullopt;
  const std::vector<int64_t>& ksize = spec.attrs.ints("ksize");
  if (ksize.size() != 4 || ksize[0] != 1 || ksize[3] != 1) return std::nullopt;
  const auto windows = MakeWindow2D(spec.attrs, input, ksize[1], ksize[2]);
  if (!windows.ok() || windows->rows.dilation != 1 || windows->columns.dilation != 1)
    return std::nullopt;
  if (pooled.shape != Shape{input[0], windows->rows.output, windows->columns.output, input[3]})
    return std::nullopt;
  Pool pool{.channels = input[3], .rows = windows->rows, .columns = windows->columns};
  pool.images = MakeChunks(input[0], pool.in_image());
  return pool;
}

// The comparison of floats, also of bf16, which converts to them.
inline bool IsGreater(float a, float b) { return a > b; }

// Calls fn(p, q, output, r0, r1, s0, s1) for every window of an image. `output` is its offset in
// elements; [r0, r1) and [s0, s1) are its taps that are not padding.
template <typename Fn>
void ForEachWindow(const Pool& pool, Fn&& fn) {
  for (int64_t p = 0; p < pool.rows.output; ++p) {
    const int64_t r0 = pool.rows.FirstTap(p), r1 = pool.rows.EndTap(p);
    for (int64_t q = 0; q < pool.columns.output; ++q) {
      const int64_t s0 = pool.columns.FirstTap(q), s1 = pool.columns.EndTap(q);
      fn(p, q, (p * pool.columns.output + q) * pool.channels, r0, r1, s0, s1);
    }
  }
}

// The offset in elements of tap (r, s) of window (p, q) in its image.
int64_t TapOffset(const Pool& pool, int64_t p, int64_t q, int64_t r, int64_t s) {
  return (pool.rows.Input(p, r) * pool.columns.input + pool.columns.Input(q, s)) * pool.channels;
}

// The common pool after a convolution has a vectorised implementation.
void MaxPoolTiles(const Pool& pool, const float* x, float* y, uint8_t* argmax) {
  const int64_t in_row = pool.columns.input * pool.channels, out_row = in_row / 2;
  for (int64_t p = 0; p < pool.rows.output; ++p) {
    const float* const top = x + 2 * p * in_row;
    MaxPool2x2Row(top, top + in_row, pool.columns.output, pool.channels, y + p * out_row,
                  argmax == nullptr ? nullptr : argmax + p * out_row);
  }
}

//   argmax: may be null.
template <typename T>
void MaxPoolImage(const Pool& pool, const T* x, T* y, uint8_t* argmax) {
  const int64_t channels = pool.channels;
  if constexpr (std::is_same_v<T, float>) {
    if (pool.tiles_by_2x2()) return MaxPoolTiles(pool, x, y, argmax);
  }
  ForEachWindow(pool, [&](int64_t p, int64_t q, int64_t output, int64_t r0, int64_t r1, int64_t s0,
                          int64_t s1) {
    T* const best = y + output;
    bool first = true;
    for (int64_t r = r0; r < r1; ++r) {
      for (int64_t s = s0; s < s1; ++s) {
        const T* const value = x + TapOffset(pool, p, q, r, s);
        const auto tap = static_cast<uint8_t>(r * pool.columns.kernel + s);
        // Padding does not count, so the first tap in the image is the first candidate.
        if (first) {
          std::copy(value, value + channels, best);
          if (argmax != nullptr) std::fill(argmax + output, argmax + output + channels, tap);
          first = false;
          continue;
        }
        if (argmax != nullptr) {
          uint8_t* const which = argmax + output;
#pragma omp simd
          for (int64_t i = 0; i < channels; ++i)
            which[i] = IsGreater(value[i], best[i]) ? tap : which[i];
        }
#pragma omp simd
        for (int64_t i = 0; i < channels; ++i)
          best[i] = IsGreater(value[i], best[i]) ? value[i] : best[i];
      }
    }
  });
}

void MaxPoolGradTiles(const Pool& pool, const uint8_t* argmax, const float* dy, const float* y,
                      float* dx) {
  const int64_t in_row = pool.columns.input * pool.channels, out_row = in_row / 2;
  for (int64_t p = 0; p < pool.rows.output; ++p) {
    float* const top = dx + 2 * p * in_row;
    MaxPool2x2GradRow(argmax + p * out_row, dy + p * out_row,
                      y == nullptr ? nullptr : y + p * out_row, pool.columns.output, pool.channels,
                      top, top + in_row);
  }
}

// Adds dy to the elements that argmax names.  y: may be null.
//   T: the dtype of dy and y.  Sum: that of dx.
template <typename T, typename Sum>
void MaxPoolGradImage(const Pool& pool, const uint8_t* argmax, const T* dy, const T* y, Sum* dx) {
  const int64_t channels = pool.channels;
  if constexpr (std::is_same_v<T, float>) {
    if (pool.tiles_by_2x2()) return MaxPoolGradTiles(pool, argmax, dy, y, dx);
  }
  const bool tiles = pool.tiles(), overlaps = pool.overlaps();
  // If the windows tile the image, every element of dx is written; else the rest must be zero.
  if (!tiles) std::fill(dx, dx + pool.in_image(), Sum(0.0f));
  ForEachWindow(pool, [&](int64_t p, int64_t q, int64_t output, int64_t r0, int64_t r1, int64_t s0,
                          int64_t s1) {
    const uint8_t* const which = argmax + output;
    const T* const gradient = dy + output;
    const T* const pooled = y == nullptr ? nullptr : y + output;
    for (int64_t r = r0; r < r1; ++r) {
      for (int64_t s = s0; s < s1; ++s) {
        Sum* const to = dx + TapOffset(pool, p, q, r, s);
        const int32_t tap = static_cast<int32_t>(r * pool.columns.kernel + s);
        // If windows overlap, an element may be the maximum of several, and its gradients are
        // added.
        if (overlaps) {
#pragma omp simd
          for (int64_t i = 0; i < channels; ++i) {
            const bool pass =
                which[i] == tap && (pooled == nullptr || IsGreater(pooled[i], T(0.0f)));
            to[i] = static_cast<Sum>(static_cast<float>(to[i]) +
                                     (pass ? static_cast<float>(gradient[i]) : 0.0f));
          }
        } else if (pooled == nullptr) {
#pragma omp simd
          for (int64_t i = 0; i < channels; ++i)
            to[i] = static_cast<Sum>(static_cast<int32_t>(which[i]) == tap ? gradient[i] : T(0.0f));
        } else {
#pragma omp simd
          for (int64_t i = 0; i < channels; ++i) {
            const T g = IsGreater(pooled[i], T(0.0f)) ? gradient[i] : T(0.0f);
            to[i] = static_cast<Sum>(static_cast<int32_t>(which[i]) == tap ? g : T(0.0f));
          }
        }
      }
    }
  });
}

// If windows overlap, gradients are added. A sum in bf16 would round after each addition.
template <typename T>
bool SumsInScratch(const Pool& pool) {
  return std::is_same_v<T, Bfloat16> && pool.overlaps();
}
// The scratch for these sums: one image for each chunk.
template <typename T>
size_t SumsBytes(const Pool& pool) {
  if (!SumsInScratch<T>(pool)) return 0;
  return static_cast<size_t>(pool.images.count * pool.in_image()) * sizeof(float);
}
//   sums: SumsBytes(pool) bytes.
template <typename T>
void MaxPoolGradInChunk(const Pool& pool, int chunk, const uint8_t* argmax, const T* dy, const T* y,
                        void* sums, T* dx) {
  if (!SumsInScratch<T>(pool)) return MaxPoolGradImage(pool, argmax, dy, y, dx);
  if constexpr (std::is_same_v<T, Bfloat16>) {
    float* const sum = static_cast<float*>(sums) + chunk * pool.in_image();
    MaxPoolGradImage(pool, argmax, dy, y, sum);
    NarrowToBfloat16(sum, dx, static_cast<size_t>(pool.in_image()));
  }
}

// Finds the first element of each window that equals its maximum, as an argmax for
// MaxPoolGradImage.
template <typename T>
void FindArgmax(const Pool& pool, const T* x, const T* y, uint8_t* argmax) {
  const int64_t channels = pool.channels;
  ForEachWindow(pool, [&](int64_t p, int64_t q, int64_t output, int64_t r0, int64_t r1, int64_t s0,
                          int64_t s1) {
    const T* const best = y + output;
    uint8_t* const which = argmax + output;
    // Iterates backwards, so that the first such element in row-major order is kept.
    for (int64_t r = r1 - 1; r >= r0; --r) {
      for (int64_t s = s1 - 1; s >= s0; --s) {
        const T* const value = x + TapOffset(pool, p, q, r, s);
        const auto tap = static_cast<uint8_t>(r * pool.columns.kernel + s);
        // The last tap is the default, which is kept if all elements are NaN.
        const bool last = r == r1 - 1 && s == s1 - 1;
#pragma omp simd
        for (int64_t i = 0; i < channels; ++i)
          which[i] =
              last || static_cast<float>(value[i]) == static_cast<float>(best[i]) ? tap : which[i];
      }
    }
  });
}

// Calls fn(chunk, image) for every image.
template <typename Fn>
void ForEachImage(const Pool& pool, Fn&& fn) {
  ParallelFor(pool.images, [&](int chunk, int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) fn(chunk, n);
  });
}

template <typename T>
std::unique_ptr<Kernel> MakeTypedMaxPool(const KernelSpec& given) {
  const KernelSpec spec = BlocksAsImages(given);
  const auto pool = PoolOf(spec, spec.inputs[0].shape, spec.outputs[0]);
  const bool with_argmax = spec.outputs.size() == 2;
  if (!pool.has_value() || (with_argmax && pool->taps() > 256)) return nullptr;
  if (with_argmax && spec.outputs[1] != TensorSpec{DType::kUint8, spec.outputs[0].shape})
    return nullptr;
  return MakeFusedKernel([pool = *pool, with_argmax](const KernelArgs& args) {
    ForEachImage(pool, [&](int, int64_t n) {
      uint8_t* const argmax = with_argmax ? args.out<uint8_t>(1) + n * pool.out_image() : nullptr;
      MaxPoolImage(pool, args.in<T>(0) + n * pool.in_image(), args.out<T>(0) + n * pool.out_image(),
                   argmax);
    });
    return absl::OkStatus();
  });
}

// The inputs are x, y, dy.
template <typename T>
std::unique_ptr<Kernel> MakeTypedMaxPoolGrad(const KernelSpec& given) {
  const KernelSpec spec = BlocksAsImages(given);
  const auto pool = PoolOf(spec, spec.inputs[0].shape, spec.inputs[2]);
  if (!pool.has_value() || pool->taps() > 256) return nullptr;
  // The scratch has the sums, and then the argmax of one image for each chunk.
  const size_t sums = SumsBytes<T>(*pool);
  return MakeFusedKernel(
      [pool = *pool, sums](const KernelArgs& args) {
        ForEachImage(pool, [&](int chunk, int64_t n) {
          uint8_t* const argmax =
              static_cast<uint8_t*>(args.scratch) + sums + chunk * pool.out_image();
          const int64_t in = n * pool.in_image(), out = n * pool.out_image();
          FindArgmax(pool, args.in<T>(0) + in, args.in<T>(1) + out, argmax);
          MaxPoolGradInChunk<T>(pool, chunk, argmax, args.in<T>(2) + out, nullptr, args.scratch,
                                args.out<T>(0) + in);
        });
        return absl::OkStatus();
      },
      {.scratch_bytes = sums + static_cast<size_t>(pool->images.count * pool->out_image())});
}

// The inputs are argmax, dy[, y].
template <typename T>
std::unique_ptr<Kernel> MakeTypedMaxPoolGradWithArgmax(const KernelSpec& given) {
  const KernelSpec spec = BlocksAsImages(given);
  const Shape input(spec.attrs.ints("input_shape"));
  const auto pool = PoolOf(spec, input, spec.inputs[1]);
  if (!pool.has_value() || pool->taps() > 256 || spec.outputs[0].shape != input) return nullptr;
  const bool relu = spec.inputs.size() == 3;
  return MakeFusedKernel(
      [pool = *pool, relu](const KernelArgs& args) {
        ForEachImage(pool, [&](int chunk, int64_t n) {
          const int64_t out = n * pool.out_image();
          MaxPoolGradInChunk<T>(pool, chunk, args.in<uint8_t>(0) + out, args.in<T>(1) + out,
                                relu ? args.in<T>(2) + out : nullptr, args.scratch,
                                args.out<T>(0) + n * pool.in_image());
        });
        return absl::OkStatus();
      },
      {.scratch_bytes = SumsBytes<T>(*pool)});
}

std::unique_ptr<Kernel> MakeAvgPool(const KernelSpec& given) {
  const KernelSpec spec = BlocksAsImages(given);
  const auto pool = PoolOf(spec, spec.inputs[0].shape, spec.outputs[0]);
  if (!pool.has_value() || spec.outputs[0].dtype != DType::kFloat32) return nullptr;
  return MakeFusedKernel([pool = *pool](const KernelArgs& args) {
    ForEachImage(pool, [&](int, int64_t n) {
      const float* const x = args.in<float>(0) + n * pool.in_image();
      float* const y = args.out<float>(0) + n * pool.out_image();
      ForEachWindow(pool, [&](int64_t p, int64_t q, int64_t output, int64_t r0, int64_t r1,
                              int64_t s0, int64_t s1) {
        float* const sum = y + output;
        std::fill(sum, sum + pool.channels, 0.0f);
        for (int64_t r = r0; r < r1; ++r) {
          for (int64_t s = s0; s < s1; ++s) {
            const float* const value = x + TapOffset(pool, p, q, r, s);
#pragma omp simd
            for (int64_t c = 0; c < pool.channels; ++c) sum[c] += value[c];
          }
        }
        const float count = static_cast<float>((r1 - r0) * (s1 - s0));
#pragma omp simd
        for (int64_t c = 0; c < pool.channels; ++c) sum[c] /= count;
      });
    });
    return absl::OkStatus();
  });
}

// The inputs are orig_input_shape, dy.
std::unique_ptr<Kernel> MakeAvgPoolGrad(const KernelSpec& given) {
  const KernelSpec spec = BlocksAsImages(given);
  const auto pool = PoolOf(spec, spec.outputs[0].shape, spec.inputs[1]);
  if (!pool.has_value() || spec.outputs[0].dtype != DType::kFloat32) return nullptr;
  return MakeFusedKernel([pool = *pool](const KernelArgs& args) {
    ForEachImage(pool, [&](int, int64_t n) {
      const float* const dy = args.in<float>(1) + n * pool.out_image();
      float* const dx = args.out<float>(0) + n * pool.in_image();
      std::fill(dx, dx + pool.in_image(), 0.0f);
      ForEachWindow(pool, [&](int64_t p, int64_t q, int64_t output, int64_t r0, int64_t r1,
                              int64_t s0, int64_t s1) {
        const float* const gradient = dy + output;
        const float share = 1.0f / static_cast<float>((r1 - r0) * (s1 - s0));
        for (int64_t r = r0; r < r1; ++r) {
          for (int64_t s = s0; s < s1; ++s) {
            float* const to = dx + TapOffset(pool, p, q, r, s);
#pragma omp simd
            for (int64_t c = 0; c < pool.channels; ++c) to[c] += gradient[c] * share;
          }
        }
      });
    });
    return absl::OkStatus();
  });
}

std::unique_ptr<Kernel> MakeMaxPool(const KernelSpec& spec) {
  return spec.outputs[0].dtype == DType::kBfloat16 ? MakeTypedMaxPool<Bfloat16>(spec)
                                                   : MakeTypedMaxPool<float>(spec);
}

std::unique_ptr<Kernel> MakeMaxPoolGrad(const KernelSpec& spec) {
  return spec.outputs[0].dtype == DType::kBfloat16 ? MakeTypedMaxPoolGrad<Bfloat16>(spec)
                                                   : MakeTypedMaxPoolGrad<float>(spec);
}

std::unique_ptr<Kernel> MakeMaxPoolGradWithArgmax(const KernelSpec& spec) {
  return spec.outputs[0].dtype == DType::kBfloat16 ? MakeTypedMaxPoolGradWithArgmax<Bfloat16>(spec)
                                                   : MakeTypedMaxPoolGradWithArgmax<float>(spec);
}

EST_REGISTER_KERNEL("MaxPool", KernelTier::kFused, MakeMaxPool);
EST_REGISTER_KERNEL("_MaxPoolWithArgmax", KernelTier::kFused, MakeMaxPool);
EST_REGISTER_KERNEL("MaxPoolGrad", KernelTier::kFused, MakeMaxPoolGrad);
EST_REGISTER_KERNEL("_MaxPoolGradWithArgmax", KernelTier::kFused, MakeMaxPoolGradWithArgmax);
EST_REGISTER_KERNEL("AvgPool", KernelTier::kFused, MakeAvgPool);
EST_REGISTER_KERNEL("AvgPoolGrad", KernelTier::kFused, MakeAvgPoolGrad);

}  // namespace
}  // namespace estimator::fused
