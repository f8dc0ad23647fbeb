// The transforms of Winograd's algorithm F(2x2, 3x3) for 16 channels of a tile, with intrinsics.
// Internal to winograd.h. In one dimension, with inputs d, filter g, outputs y, and their
// gradients:
//   points of d:  d0 - d2, d1 + d2, d2 - d1, d1 - d3
//   points of g:  g0, (g0 + g1 + g2) / 2, (g0 - g1 + g2) / 2, g2
//   y:            m0 + m1 + m2, m1 - m2 - m3, of the products m at the points
//   points of dy: y0, y0 + y1, y0 - y1, -y1
//   dg:           s0 + (s1 + s2) / 2, (s1 - s2) / 2, (s1 + s2) / 2 + s3, of sums s at the points
// Point (i, j) of a tile has number 4 i + j.
#ifndef ESTIMATOR_KERNELS_BFLOAT16_WINOGRAD_TILES_H_
#define ESTIMATOR_KERNELS_BFLOAT16_WINOGRAD_TILES_H_

#include <cstdint>

#include "estimator/array/half.h"
#include "estimator/kernels/bfloat16/target.h"

namespace estimator::bfloat16 {

inline constexpr int kPoints = 16;

EST_INLINE_512 __m512 Widened(__m256i x) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(x), 16));
}
EST_INLINE_512 __m512 LoadWide(const Bfloat16* from) {
  return Widened(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
}
EST_INLINE_512 void StoreNarrow(Bfloat16* to, __m512 x) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), (__m256i)_mm512_cvtneps_pbh(x));
}

// An image of `rows` * `columns` pixels, of which the channels from some channel on are read.
struct ImageView {
  const Bfloat16* data;
  int64_t rows, columns, channels;
};

// 16 channels of kSize * kSize pixels from (row, column) on. Those outside of the image are 0.
template <int kSize>
EST_INLINE_512 void LoadPatch(const ImageView& image, int64_t row, int64_t column,
                              __m512 (&d)[kSize][kSize]) {
  const Bfloat16* const first = image.data + (row * image.columns + column) * image.channels;
  const int64_t row_distance = image.columns * image.channels;
  if (row >= 0 && column >= 0 && row + kSize <= image.rows && column + kSize <= image.columns) {
#pragma GCC unroll 4
    for (int i = 0; i < kSize; ++i) {
#pragma GCC unroll 4
      for (int j = 0; j < kSize; ++j)
        d[i][j] = LoadWide(first + i * row_distance + j * image.channels);
    }
    return;
  }
#pragma GCC unroll 4
  for (int i = 0; i < kSize; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < kSize; ++j) {
      const bool exists =
          row + i >= 0 && row + i < image.rows && column + j >= 0 && column + j < image.columns;
      d[i][j] =
          exists ? LoadWide(first + i * row_distance + j * image.channels) : _mm512_setzero_ps();
    }
  }
}

EST_INLINE_512 void PointsOfInput(__m512 d0, __m512 d1, __m512 d2, __m512 d3, __m512* points) {
  points[0] = _mm512_sub_ps(d0, d2);
  points[1] = _mm512_add_ps(d1, d2);
  points[2] = _mm512_sub_ps(d2, d1);
  points[3] = _mm512_sub_ps(d1, d3);
}

EST_INLINE_512 void PointsOfInput(const __m512 (&d)[4][4], __m512 (&points)[kPoints]) {
  __m512 rows[4][4];  // [column][point]
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j) PointsOfInput(d[0][j], d[1][j], d[2][j], d[3][j], rows[j]);
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i)
    PointsOfInput(rows[0][i], rows[1][i], rows[2][i], rows[3][i], points + 4 * i);
}

EST_INLINE_512 void PointsOfGradient(__m512 y0, __m512 y1, __m512* points) {
  points[0] = y0;
  points[1] = _mm512_add_ps(y0, y1);
  points[2] = _mm512_sub_ps(y0, y1);
  points[3] = _mm512_sub_ps(_mm512_setzero_ps(), y1);
}

EST_INLINE_512 void PointsOfGradient(const __m512 (&y)[2][2], __m512 (&points)[kPoints]) {
  __m512 rows[2][4];  // [column][point]
#pragma GCC unroll 2
  for (int j = 0; j < 2; ++j) PointsOfGradient(y[0][j], y[1][j], rows[j]);
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) PointsOfGradient(rows[0][i], rows[1][i], points + 4 * i);
}

EST_INLINE_512 void PointsOfFilter(__m512 g0, __m512 g1, __m512 g2, __m512* points) {
  const __m512 half = _mm512_set1_ps(0.5F);
  const __m512 ends = _mm512_mul_ps(half, _mm512_add_ps(g0, g2)), middle = _mm512_mul_ps(half, g1);
  points[0] = g0;
  points[1] = _mm512_add_ps(ends, middle);
  points[2] = _mm512_sub_ps(ends, middle);
  points[3] = g2;
}

EST_INLINE_512 void PointsOfFilter(const __m512 (&g)[3][3], __m512 (&points)[kPoints]) {
  __m512 rows[3][4];  // [column][point]
#pragma GCC unroll 3
  for (int v = 0; v < 3; ++v) PointsOfFilter(g[0][v], g[1][v], g[2][v], rows[v]);
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) PointsOfFilter(rows[0][i], rows[1][i], rows[2][i], points + 4 * i);
}

// The outputs of a tile.
//   sums: the products at point 0.  distance: of the points.
EST_INLINE_512 void OutputsOfPoints(const float* sums, int64_t distance, __m512 (&y)[2][2]) {
  __m512 rows[2][4];
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j) {
    __m512 m[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) m[i] = _mm512_loadu_ps(sums + (4 * i + j) * distance);
    rows[0][j] = _mm512_add_ps(m[0], _mm512_add_ps(m[1], m[2]));
    rows[1][j] = _mm512_sub_ps(m[1], _mm512_add_ps(m[2], m[3]));
  }
#pragma GCC unroll 2
  for (int i = 0; i < 2; ++i) {
    y[i][0] = _mm512_add_ps(rows[i][0], _mm512_add_ps(rows[i][1], rows[i][2]));
    y[i][1] = _mm512_sub_ps(rows[i][1], _mm512_add_ps(rows[i][2], rows[i][3]));
  }
}

EST_INLINE_512 void FilterOfPoints(__m512 s0, __m512 s1, __m512 s2, __m512 s3, __m512* g) {
  const __m512 half = _mm512_set1_ps(0.5F);
  const __m512 sum = _mm512_mul_ps(half, _mm512_add_ps(s1, s2));
  g[0] = _mm512_add_ps(s0, sum);
  g[1] = _mm512_mul_ps(half, _mm512_sub_ps(s1, s2));
  g[2] = _mm512_add_ps(sum, s3);
}

// The gradient of a filter.
//   sums: at point 0.  distance: of the points.
EST_INLINE_512 void FilterOfPoints(const float* sums, int64_t distance, __m512 (&g)[3][3]) {
  __m512 rows[4][3];  // [column of points][u]
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j) {
    __m512 s[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) s[i] = _mm512_loadu_ps(sums + (4 * i + j) * distance);
    FilterOfPoints(s[0], s[1], s[2], s[3], rows[j]);
  }
#pragma GCC unroll 3
  for (int u = 0; u < 3; ++u) FilterOfPoints(rows[0][u], rows[1][u], rows[2][u], rows[3][u], g[u]);
}

// 16 pairs of bf16 numbers: number n of `first`, then number n of `second`.
EST_INLINE_512 __m512i RoundedPairs(__m512 first, __m512 second) {
  const __m512i low = _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(first));
  const __m512i high = _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(second));
  return _mm512_or_si512(low, _mm512_slli_epi32(high, 16));
}

}  // namespace estimator::bfloat16

#endif  // ESTIMATOR_KERNELS_BFLOAT16_WINOGRAD_TILES_H_
