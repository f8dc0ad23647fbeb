// The passes of batch normalization over rows of a block of 16 channels (kernels/layout.h), with
// vectors of the best instruction set that the machine has.
#ifndef ESTIMATOR_KERNELS_FUSED_BATCH_NORM_ROWS_H_
#define ESTIMATOR_KERNELS_FUSED_BATCH_NORM_ROWS_H_

#include <cstdint>

namespace estimator::fused {

inline constexpr int64_t kNormWidth = 16;  // the number of channels in a row

// How the gradient of relu is decided: there is no relu, by y, or by y computed again from x.
enum class Gate { kOpen, kByY, kFoundAgain };

// The images of a gradient and the parameters of its 16 channels.
struct NormGradientRows {
  const float *dy, *x, *y;         // [rows, 16]; y: null unless the gate is kByY
  const float *mean, *a, *offset;  // [16]; a and offset: for kFoundAgain
};

// Adds x - shift to sums[0, 16) and its square to sums[16, 32).
void AddMomentRows(const float* x, int64_t rows, const float* shift, float* sums);

// y = act((x - mean) * a + offset + side). The product and the sum are rounded once.
//   side: null if there is none.  relu: act is relu, which keeps NaN.  y may be x or side.
void NormalizeRows(const float* x, const float* side, int64_t rows, const float* mean,
                   const float* a, const float* offset, bool relu, float* y);

// Adds g, which is dy where the gate is open, to sums[0, 16), and g * (x - mean) to sums[16, 32).
void AddGradientRows(Gate gate, const NormGradientRows& in, int64_t rows, float* sums);

// dx = a * g + b * (x - mean) + d, and dside = g if dside is not null.
//   a, b, d: [16].  dx may be dy.
void WriteGradientRows(Gate gate, const NormGradientRows& in, int64_t rows, const float* a,
                       const float* b, const float* d, float* dx, float* dside);

}  // namespace estimator::fused

#endif  // ESTIMATOR_KERNELS_FUSED_BATCH_NORM_ROWS_H_
