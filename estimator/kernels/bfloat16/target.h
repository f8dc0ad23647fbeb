// For the sources of this folder that have intrinsics.
#ifndef ESTIMATOR_KERNELS_BFLOAT16_TARGET_H_
#define ESTIMATOR_KERNELS_BFLOAT16_TARGET_H_

// GCC takes the undefined operands of AVX-512 intrinsics for a mistake.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#include <immintrin.h>

#include <algorithm>
#include <cstdint>

// The attribute instead of compiler flags: nothing that a header defines is compiled for AVX-512.
#define EST_512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512bf16,amx-tile,amx-bf16")))
#define EST_INLINE_512 EST_512 inline __attribute__((always_inline))

namespace estimator::bfloat16 {

// Bits of the 32 channels from `channel` that are below `channels`.
EST_INLINE_512 __mmask32 ChannelMask(int64_t channel, int64_t channels) {
  const int64_t left = channels - channel;
  return left >= 32 ? ~__mmask32{0} : (__mmask32{1} << std::max<int64_t>(left, 0)) - 1;
}

}  // namespace estimator::bfloat16

#endif  // ESTIMATOR_KERNELS_BFLOAT16_TARGET_H_
