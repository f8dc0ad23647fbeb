// Vectors of bf16 numbers, for the sources of this folder that have intrinsics.
#ifndef ESTIMATOR_KERNELS_BFLOAT16_VECTORS_H_
#define ESTIMATOR_KERNELS_BFLOAT16_VECTORS_H_

#include "estimator/kernels/bfloat16/target.h"

namespace estimator::bfloat16 {

// Transposes 16 rows of 16 elements of 32 bits, in place.
EST_INLINE_512 void Transpose(__m512i (&r)[16]) {
  __m512i t[16];
#pragma GCC unroll 16
  for (int i = 0; i < 16; i += 2) {
    t[i] = _mm512_unpacklo_epi32(r[i], r[i + 1]);
    t[i + 1] = _mm512_unpackhi_epi32(r[i], r[i + 1]);
  }
#pragma GCC unroll 16
  for (int i = 0; i < 16; i += 4) {
    r[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]);
    r[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
    r[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]);
    r[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
  }
  // r[4 g + m]: in its quarter j the elements 4 j + m of rows 4 g to 4 g + 3.
#pragma GCC unroll 16
  for (int m = 0; m < 4; ++m) {
    const __m512i a = _mm512_shuffle_i32x4(r[m], r[4 + m], 0x88);
    const __m512i b = _mm512_shuffle_i32x4(r[m], r[4 + m], 0xdd);
    const __m512i c = _mm512_shuffle_i32x4(r[8 + m], r[12 + m], 0x88);
    const __m512i d = _mm512_shuffle_i32x4(r[8 + m], r[12 + m], 0xdd);
    t[m] = _mm512_shuffle_i32x4(a, c, 0x88);
    t[4 + m] = _mm512_shuffle_i32x4(b, d, 0x88);
    t[8 + m] = _mm512_shuffle_i32x4(a, c, 0xdd);
    t[12 + m] = _mm512_shuffle_i32x4(b, d, 0xdd);
  }
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) r[i] = t[i];
}

// 32 numbers in bf16, or the two parts of 32 f32 numbers: those rounded to bf16, and the rest.
struct Parts {
  __m512i high, low;
};

EST_INLINE_512 __m512i Rounded(__m512 first, __m512 second) {
  return (__m512i)_mm512_cvtne2ps_pbh(second, first);
}

// The high parts: rounded to bf16, but those of finite numbers are finite.
EST_INLINE_512 __m512 Clamped(__m512 x) {
  const __m512 largest = _mm512_castsi512_ps(_mm512_set1_epi32(0x7f7f0000));  // of bf16
  const __m512 least = _mm512_sub_ps(_mm512_setzero_ps(), largest);
  // The second operand is the result if one of the two is NaN.
  return _mm512_max_ps(least, _mm512_min_ps(largest, x));
}
EST_INLINE_512 __m512i HighParts(__m512 first, __m512 second) {
  return Rounded(Clamped(first), Clamped(second));
}

EST_INLINE_512 Parts SplitOf(const float* x, __mmask32 mask) {
  const __m512 first = _mm512_maskz_loadu_ps(static_cast<__mmask16>(mask), x);
  const __m512 second = _mm512_maskz_loadu_ps(static_cast<__mmask16>(mask >> 16), x + 16);
  const __m512i high = HighParts(first, second);
  const __m512i first_bits = _mm512_cvtepu16_epi32(_mm512_castsi512_si256(high));
  const __m512i second_bits = _mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64(high, 1));
  const __m512 first_rest =
      _mm512_sub_ps(first, _mm512_castsi512_ps(_mm512_slli_epi32(first_bits, 16)));
  const __m512 second_rest =
      _mm512_sub_ps(second, _mm512_castsi512_ps(_mm512_slli_epi32(second_bits, 16)));
  return {high, Rounded(first_rest, second_rest)};
}

}  // namespace estimator::bfloat16

#endif  // ESTIMATOR_KERNELS_BFLOAT16_VECTORS_H_
