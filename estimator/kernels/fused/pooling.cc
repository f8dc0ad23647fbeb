// Pooling in f32 and bf16 on all threads. Images are NHWC or in blocks of channels
// (kernels/layout.h).
//   MaxPool, MaxPoolGrad, AvgPool, AvgPoolGrad
//     As in TensorFlow.
//   _MaxPoolWithArgmax: x [N,H,W,C] -> y [N,P,Q,C], argmax u8 [N,P,Q,C]
//     argmax is the tap r * ksize_w + s of the first maximum in its window, in row-major order. A
//     window has at most 256 taps.
//   _MaxPoolGradWithArgmax: argmax, dy[, y] -> dx with the shape in attribute input_shape
//     With y, the gradient flows only if y > 0: this is the gradient of a Relu before the pool,
//     without a pass of its own.
// Threads share the rows of all images in MaxPool and in the ops with an argmax (pool_rows.h). The
// others share images.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "estimator/kernels/fused/parallel.h"
#include "estimator/kernels/fused/pool_rows.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/layout.h"
#include "estimator/kernels/window.h"

namespace estimator::fused {
namespace {

struct Pool : PoolWindows {
  int64_t num_images = 0;

  int64_t in_row() const { return columns.input * channels; }
  int64_t out_row() const { return columns.output * channels; }
  int64_t in_image() const { return rows.input * in_row(); }
  int64_t out_image() const { return rows.output * out_row(); }
  int64_t taps() const { return rows.kernel * columns.kernel; }
  Chunks images() const { return MakeChunks(num_images, in_image()); }
};

// Whether every window has a tap in the image. It has none if the padding is as large as it.
bool WindowsReachTheImage(const Window& window) {
  for (int64_t o = 0; o < window.output; ++o) {
    // Such a window has no maximum and divides its average by 0. The reference kernel defines what
    // it gives.
    if (window.FirstTap(o) >= window.EndTap(o)) return false;
  }
  return true;
}

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
  if (!WindowsReachTheImage(windows->rows) || !WindowsReachTheImage(windows->columns))
    return std::nullopt;
  return Pool{{.channels = input[3], .rows = windows->rows, .columns = windows->columns}, input[0]};
}

// The rows of all images, shared out to the threads.
//   rows: in an image of x or of y.
Chunks RowChunks(const Pool& pool, int64_t rows) {
  return MakeChunks(pool.num_images * rows, pool.in_image() / rows);
}

// Calls fn(image, row) for all rows of `chunks`, on all threads.
//   rows: in an image.
template <typename Fn>
void ForEachRow(const Chunks& chunks, int64_t rows, Fn&& fn) {
  ForEachItem(chunks, [&](int, int64_t i) { fn(i / rows, i % rows); });
}

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

template <typename T>
KernelPlan MakeMaxPool(const KernelSpec& given) {
  const KernelSpec spec = BlocksAsImages(given);
  const auto pool = PoolOf(spec, spec.inputs[0].shape, spec.outputs[0]);
  const bool with_argmax = spec.outputs.size() == 2;
  if (!pool.has_value() || (with_argmax && pool->taps() > 256)) return nullptr;
  if (with_argmax && spec.outputs[1] != TensorSpec{DType::kUint8, spec.outputs[0].shape})
    return nullptr;
  const Chunks rows = RowChunks(*pool, pool->rows.output);
  return MakeKernel([pool = *pool, rows, with_argmax](const KernelArgs& args) {
    ForEachRow(rows, pool.rows.output, [&](int64_t n, int64_t p) {
      const int64_t out = n * pool.out_image() + p * pool.out_row();
      MaxPoolRow(pool, args.in<T>(0) + n * pool.in_image(), p, args.out<T>(0) + out,
                 with_argmax ? args.out<uint8_t>(1) + out : nullptr);
    });
  });
}

// The inputs are x, y, dy. The scratch has the argmax of one image for each chunk.
template <typename T>
KernelPlan MakeMaxPoolGrad(const KernelSpec& given) {
  const KernelSpec spec = BlocksAsImages(given);
  const auto pool = PoolOf(spec, spec.inputs[0].shape, spec.inputs[2]);
  if (!pool.has_value() || pool->taps() > 256) return nullptr;
  const Chunks images = pool->images();
  return MakeKernel(
      [pool = *pool, images](const KernelArgs& args) {
        ParallelFor(images, [&](int chunk, int64_t begin, int64_t end) {
          // With the taps known, each row of dx is written once. Adding to it window by window
          // would clear it first, and round a sum in bf16 more than once.
          uint8_t* const argmax = static_cast<uint8_t*>(args.scratch) + chunk * pool.out_image();
          for (int64_t n = begin; n < end; ++n) {
            const int64_t in = n * pool.in_image(), out = n * pool.out_image();
            for (int64_t p = 0; p < pool.rows.output; ++p) {
              FindTapsRow(pool, args.in<T>(0) + in, p, args.in<T>(1) + out + p * pool.out_row(),
                          argmax + p * pool.out_row());
            }
            for (int64_t h = 0; h < pool.rows.input; ++h) {
              MaxPoolGradientRow(pool, argmax, args.in<T>(2) + out, static_cast<const T*>(nullptr),
                                 h, args.out<T>(0) + in + h * pool.in_row());
            }
          }
        });
      },
      static_cast<size_t>(images.count * pool->out_image()));
}

// The inputs are argmax, dy[, y].
template <typename T>
KernelPlan MakeMaxPoolGradWithArgmax(const KernelSpec& given) {
  const KernelSpec spec = BlocksAsImages(given);
  const Shape input(spec.attrs.ints("input_shape"));
  const auto pool = PoolOf(spec, input, spec.inputs[1]);
  if (!pool.has_value() || pool->taps() > 256 || spec.outputs[0].shape != input) return nullptr;
  const bool relu = spec.inputs.size() == 3, tiles = Tiles(*pool);
  // If windows tile the image, a row of windows writes all of its rows of dx.
  const int64_t num_rows = tiles ? pool->rows.output : pool->rows.input;
  const Chunks rows = RowChunks(*pool, num_rows);
  return MakeKernel([pool = *pool, rows, num_rows, relu, tiles](const KernelArgs& args) {
    ForEachRow(rows, num_rows, [&](int64_t n, int64_t row) {
      const int64_t out = n * pool.out_image();
      const T* const y = relu ? args.in<T>(2) + out : nullptr;
      T* const dx = args.out<T>(0) + n * pool.in_image() + row * (pool.in_image() / num_rows);
      if (tiles) {
        MaxPoolGradientTileRows(pool, args.in<uint8_t>(0) + out, args.in<T>(1) + out, y, row, dx);
      } else {
        MaxPoolGradientRow(pool, args.in<uint8_t>(0) + out, args.in<T>(1) + out, y, row, dx);
      }
    });
  });
}

KernelPlan MakeAvgPool(const KernelSpec& given) {
  const KernelSpec spec = BlocksAsImages(given);
  const auto pool = PoolOf(spec, spec.inputs[0].shape, spec.outputs[0]);
  if (!pool.has_value() || spec.outputs[0].dtype != DType::kFloat32) return nullptr;
  return MakeKernel([pool = *pool, images = pool->images()](const KernelArgs& args) {
    ForEachItem(images, [&](int, int64_t n) {
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
  });
}

// The inputs are orig_input_shape, dy.
KernelPlan MakeAvgPoolGrad(const KernelSpec& given) {
  const KernelSpec spec = BlocksAsImages(given);
  const auto pool = PoolOf(spec, spec.outputs[0].shape, spec.inputs[1]);
  if (!pool.has_value() || spec.outputs[0].dtype != DType::kFloat32) return nullptr;
  return MakeKernel([pool = *pool, images = pool->images()](const KernelArgs& args) {
    ForEachItem(images, [&](int, int64_t n) {
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
  });
}

// Registers the kernel that make<T>(spec) returns for images of T, f32 or bf16.
#define EST_REGISTER_POOL(op, make)                                                              \
  EST_REGISTER_KERNEL(op, KernelTier::kFused, [](const KernelSpec& spec) {                       \
    return spec.outputs[0].dtype == DType::kBfloat16 ? make<Bfloat16>(spec) : make<float>(spec); \
  })
EST_REGISTER_POOL("MaxPool", MakeMaxPool);
EST_REGISTER_POOL("_MaxPoolWithArgmax", MakeMaxPool);
EST_REGISTER_POOL("MaxPoolGrad", MakeMaxPoolGrad);
EST_REGISTER_POOL("_MaxPoolGradWithArgmax", MakeMaxPoolGradWithArgmax);
#undef EST_REGISTER_POOL
EST_REGISTER_KERNEL("AvgPool", KernelTier::kFused, MakeAvgPool);
EST_REGISTER_KERNEL("AvgPoolGrad", KernelTier::kFused, MakeAvgPoolGrad);

}  // namespace
}  // namespace estimator::fused
