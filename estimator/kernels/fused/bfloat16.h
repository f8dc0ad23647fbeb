// Conversions between runs of bfloat16 and float32, vectorised for the CPU at run time (AVX2 or
// AVX-512). Rounding is to nearest even, as in TensorFlow; NaN stays NaN. The bits are those of
// array/half.h. Pointers need no alignment. Nothing beyond element n is read or written.
#ifndef ESTIMATOR_KERNELS_FUSED_BFLOAT16_H_
#define ESTIMATOR_KERNELS_FUSED_BFLOAT16_H_

#include <cstddef>

#include "estimator/array/half.h"

namespace estimator::fused {

// to[i] = from[i], exactly.
void WidenBfloat16(const Bfloat16* from, float* to, size_t n);
// to[i] = from[i], rounded.
void NarrowToBfloat16(const float* from, Bfloat16* to, size_t n);
// to[i] = the bfloat16 number nearest to from[i], as a float. `to` may be `from`.
void RoundToBfloat16(const float* from, float* to, size_t n);

}  // namespace estimator::fused

#endif  // ESTIMATOR_KERNELS_FUSED_BFLOAT16_H_
