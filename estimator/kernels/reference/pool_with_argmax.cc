// A max pool that also gives the places of the maxima, and its gradient, which uses them; NHWC in
// f32. A tap has the number r * ksize_w + s in its window; taps in the padding are counted, too.
//   _MaxPoolWithArgmax: x -> y, argmax u8
//     argmax is the tap of the first maximum, in row-major order.
//   _MaxPoolGradWithArgmax: argmax, dy[, y] -> dx with the shape in attribute input_shape
//     With y, the gradient flows only if y > 0.
#include <algorithm>
#include <cstdint>

#include "estimator/base/status.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/reference/conv_taps.h"
#include "estimator/kernels/window.h"

namespace estimator {
namespace {

struct ArgmaxPool {
  Shape input;  // the shape of what is pooled
  Window rows;
  Window columns;
};

// Calls fn(output element, input element, tap) for every element of every window, in row-major
// order.
template <typename Fn>
void ForEachElement(const ArgmaxPool& pool, Fn&& fn) {
  const int64_t channels = pool.input[3];
  for (int64_t n = 0; n < pool.input[0]; ++n) {
    ForEachTap(pool, n, [&](int64_t out, int64_t in, int64_t tap) {
      for (int64_t c = 0; c < channels; ++c)
        fn(out * channels + c, in * channels + c, static_cast<uint8_t>(tap));
    });
  }
}

absl::StatusOr<ArgmaxPool> PoolOf(const KernelSpec& spec, const Shape& input,
                                  const TensorSpec& pooled) {
  const auto& ksize = spec.attrs.ints("ksize");
  const auto windows = MakeWindow2D(spec.attrs, input, ksize[1], ksize[2]);
  if (!windows.ok()) return windows.status();
  if (pooled.dtype != DType::kFloat32 || ksize[1] * ksize[2] > 256) {
    return Unimplemented("only f32 is supported, with at most 256 taps, because argmax is a byte");
  }
  return ArgmaxPool{.input = input, .rows = windows->rows, .columns = windows->columns};
}

KernelPlan MakeArgmaxPool(const KernelSpec& spec) {
  const auto pool = PoolOf(spec, spec.inputs[0].shape, spec.outputs[0]);
  if (!pool.ok()) return nullptr;
  const size_t size = static_cast<size_t>(spec.outputs[0].shape.num_elements());
  return MakeKernel(
      [p = *pool, size](const KernelArgs& args) {
        const float* const x = args.in<float>(0);
        float* const y = args.out<float>(0);
        uint8_t* const argmax = args.out<uint8_t>(1);
        // A flag and not an initial -infinity: a window of -infinity, or one that begins with NaN,
        // has an argmax as well.
        bool* const found = static_cast<bool*>(args.scratch);
        std::fill(found, found + size, false);
        ForEachElement(p, [&](int64_t out, int64_t in, uint8_t tap) {
          if (found[out] && !(x[in] > y[out])) return;
          found[out] = true;
          y[out] = x[in];
          argmax[out] = tap;
        });
      },
      size);
}

KernelPlan MakeBackward(const KernelSpec& spec) {
  const auto pool = PoolOf(spec, Shape(spec.attrs.ints("input_shape")), spec.inputs[1]);
  if (!pool.ok()) return nullptr;
  return MakeKernel([p = *pool, relu = spec.inputs.size() == 3](const KernelArgs& args) {
    const uint8_t* const argmax = args.in<uint8_t>(0);
    const float* const dy = args.in<float>(1);
    const float* const y = relu ? args.in<float>(2) : nullptr;
    float* const dx = args.out<float>(0);
    std::fill(dx, dx + p.input.num_elements(), 0.0f);
    ForEachElement(p, [&](int64_t out, int64_t in, uint8_t tap) {
      if (argmax[out] == tap && (y == nullptr || y[out] > 0)) dx[in] += dy[out];
    });
  });
}

EST_REGISTER_KERNEL("_MaxPoolWithArgmax", KernelTier::kReference, MakeArgmaxPool);
EST_REGISTER_KERNEL("_MaxPoolGradWithArgmax", KernelTier::kReference, MakeBackward);

}  // namespace
}  // namespace estimator
