// The passes of batch normalization over rows of channels, with vectors of the best instruction set
// that the machine has. A row has all channels in NHWC, and 16 in a block of
// channels (kernels/layout.h).
#ifndef ESTIMATOR_KERNELS_FUSED_BATCH_NORM_ROWS_H_
#define ESTIMATOR_KERNELS_FUSED_BATCH_NORM_ROWS_H_

#include <cstdint>

#include "estimator/array/half.h"

namespace estimator::fused {

// The activation of a normalized image. As ops of their own, both keep NaN.
enum class NormActivation { kIdentity, kRelu, kRelu6 };

// Where the gradient of the activation flows: everywhere, or where y > 0 (relu), or where 0 < y < 6
// (relu6). y is read, or computed again from x. A y computed again for bf16 images is not rounded,
// but the gate is closed where y, rounded, is 6.
enum class Gate { kOpen, kReluByY, kReluFoundAgain, kRelu6ByY, kRelu6FoundAgain };
constexpr bool IsByY(Gate gate) { return gate == Gate::kReluByY || gate == Gate::kRelu6ByY; }
constexpr bool IsFoundAgain(Gate gate) {
  return gate == Gate::kReluFoundAgain || gate == Gate::kRelu6FoundAgain;
}
constexpr bool IsOfRelu6(Gate gate) {
  return gate == Gate::kRelu6ByY || gate == Gate::kRelu6FoundAgain;
}

// The images of a gradient and the parameters of its channels.
//   T: float or Bfloat16, the dtype of images. All else is f32.
template <typename T>
struct NormGradientRows {
  const T *dy, *x, *y;             // [rows, width]; y: null unless IsByY
  const float *mean, *a, *offset;  // [width]; a and offset: for IsFoundAgain
};

// Every function below exists for images of float and of Bfloat16, computes in f32, and rounds a
// bf16 result once. Images are [rows, width], with any width; parameters are [width]. Rows of 32
// channels and more are read in the order of memory, so that one thread is about as fast as a copy.

// Adds x - shift to sums[0, width) and its square to sums[width, 2 * width).
void AddMomentRows(const float* x, int64_t rows, int64_t width, const float* shift, float* sums);
void AddMomentRows(const Bfloat16* x, int64_t rows, int64_t width, const float* shift, float* sums);

// y = act((x - mean) * a + offset + side). The product and the sum are rounded once.
//   side: null if there is none.  y may be x or side.
void NormalizeRows(const float* x, const float* side, int64_t rows, int64_t width,
                   const float* mean, const float* a, const float* offset, NormActivation act,
                   float* y);
void NormalizeRows(const Bfloat16* x, const Bfloat16* side, int64_t rows, int64_t width,
                   const float* mean, const float* a, const float* offset, NormActivation act,
                   Bfloat16* y);

// Adds g, which is dy where the gate is open and else 0, to sums[0, width), and g * (x - mean) to
// sums[width, 2 * width).
void AddGradientRows(Gate gate, const NormGradientRows<float>& in, int64_t rows, int64_t width,
                     float* sums);
void AddGradientRows(Gate gate, const NormGradientRows<Bfloat16>& in, int64_t rows, int64_t width,
                     float* sums);

// dx = a * g + b * (x - mean) + d, and dside = g if dside is not null.
//   dx may be dy.
void WriteGradientRows(Gate gate, const NormGradientRows<float>& in, int64_t rows, int64_t width,
                       const float* a, const float* b, const float* d, float* dx, float* dside);
void WriteGradientRows(Gate gate, const NormGradientRows<Bfloat16>& in, int64_t rows, int64_t width,
                       const float* a, const float* b, const float* d, Bfloat16* dx,
                       Bfloat16* dside);

}  // namespace estimator::fused

#endif  // ESTIMATOR_KERNELS_FUSED_BATCH_NORM_ROWS_H_
