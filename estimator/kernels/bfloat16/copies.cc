#include "estimator/kernels/bfloat16/copies.h"

#include <algorithm>

#include "estimator/kernels/bfloat16/vectors.h"

namespace estimator::bfloat16 {
namespace {

// 32 channels of a pixel.
template <Half kHalf>
EST_INLINE_512 __m512i Load(const Bfloat16* channels, __mmask32 mask) {
  return _mm512_maskz_loadu_epi16(mask, channels);
}
template <Half kHalf>
EST_INLINE_512 __m512i Load(const float* channels, __mmask32 mask) {
  const Parts parts = SplitOf(channels, mask);
  return kHalf == Half::kHigh ? parts.high : parts.low;
}

// 16 of the channels [channel, channel + 32) of 32 pixels: 8 j to 8 j + 3, or the four after them.
template <bool kUpper, Half kHalf, typename T>
EST_INLINE_512 void TransposeTile(const T* const* pixels, int64_t channel, __mmask32 mask,
                                  int64_t distance, Bfloat16* to) {
  __m512i r[16];
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) {
    const __m512i even = Load<kHalf>(pixels[2 * i] + channel, mask);
    const __m512i odd = Load<kHalf>(pixels[2 * i + 1] + channel, mask);
    r[i] = kUpper ? _mm512_unpackhi_epi16(even, odd) : _mm512_unpacklo_epi16(even, odd);
  }
  Transpose(r);
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i)
    _mm512_store_si512(to + (i / 4 * 8 + i % 4 + (kUpper ? 4 : 0)) * distance, r[i]);
}

template <Half kHalf, typename T>
EST_INLINE_512 void CopyTransposedAs(const T* const* pixels, int64_t count, int64_t begin,
                                     int64_t end, int64_t channels, int64_t distance,
                                     Bfloat16* to) {
  for (int64_t i = 0; i < count; i += 32) {
    for (int64_t c = begin; c < end; c += 32) {
      const __mmask32 mask = ChannelMask(c, channels);
      Bfloat16* const tile = to + (c - begin) * distance + i;
      TransposeTile<false, kHalf>(pixels + i, c, mask, distance, tile);
      TransposeTile<true, kHalf>(pixels + i, c, mask, distance, tile);
    }
  }
}

template <Half kHalf, typename T>
EST_INLINE_512 void CopyPairsAs(const T* const* pixels, int64_t count, int64_t begin, int64_t end,
                                int64_t channels, int64_t distance, Bfloat16* to) {
  // Prefetches 12 pixels ahead: the hardware does not while many panels are written.
  constexpr int64_t kAhead = 12;
  for (int64_t i = 0; i < count; i += 2) {
    const int64_t ahead = std::min(i + kAhead, count - 2);
    for (int64_t c = begin; c < end; c += 32) {
      __builtin_prefetch(pixels[ahead] + c);
      __builtin_prefetch(pixels[ahead + 1] + c);
      const __mmask32 mask = ChannelMask(c, channels);
      const __m512i even = Load<kHalf>(pixels[i] + c, mask);
      const __m512i odd = Load<kHalf>(pixels[i + 1] + c, mask);
      Bfloat16* const panel = to + (c - begin) / 16 * distance + i * 16;
      _mm512_store_si512(panel, _mm512_unpacklo_epi16(even, odd));
      _mm512_store_si512(panel + distance, _mm512_unpackhi_epi16(even, odd));
    }
  }
}

template <Half kHalf, typename T>
EST_INLINE_512 void UnpoolPairsAs(const T* dy, const uint8_t* argmax, bool lower, int64_t windows,
                                  int64_t begin, int64_t end, int64_t channels, int64_t distance,
                                  Bfloat16* to) {
  const __m256i left = _mm256_set1_epi8(lower ? 2 : 0), right = _mm256_set1_epi8(lower ? 3 : 1);
  for (int64_t q = 0; q < windows; ++q, dy += channels, argmax += channels, to += 32) {
    for (int64_t c = begin; c < end; c += 32) {
      const __mmask32 mask = ChannelMask(c, channels);
      const __m512i gradient = Load<kHalf>(dy + c, mask);
      const __m256i taps = _mm256_maskz_loadu_epi8(mask, argmax + c);
      const __m512i even = _mm512_maskz_mov_epi16(_mm256_cmpeq_epi8_mask(taps, left), gradient);
      const __m512i odd = _mm512_maskz_mov_epi16(_mm256_cmpeq_epi8_mask(taps, right), gradient);
      Bfloat16* const panel = to + (c - begin) / 16 * distance;
      _mm512_store_si512(panel, _mm512_unpacklo_epi16(even, odd));
      _mm512_store_si512(panel + distance, _mm512_unpackhi_epi16(even, odd));
    }
  }
}

// Copies a row of an image to planes of the numbers that windows of a stride read for one column of
// the filter: planes[(v % stride * channels + c) * length + j] is image[column + v + j * stride,
// c].
template <typename T>
void CopyToPlanes(const TapWindows& w, const T* row, int64_t column, int64_t length, T* planes) {
  const int64_t stride = w.column_stride;
  for (int64_t phase = 0; phase < std::min(stride, w.filter_columns); ++phase) {
    for (int64_t c = 0; c < w.channels; ++c, planes += length) {
      const int64_t first = column + phase;
      const int64_t begin = std::min(length, first < 0 ? (-first + stride - 1) / stride : 0);
      const int64_t end = std::clamp((w.columns - first + stride - 1) / stride, begin, length);
      // Padding is written into the planes, so that reading a tap needs no test for the image's
      // edges.
      std::fill(planes, planes + begin, T(0));
      std::fill(planes + end, planes + length, T(0));
      const T* from = row + (first + begin * stride) * w.channels + c;
      if (stride * w.channels == 1) {
        std::copy_n(from, end - begin, planes + begin);
        continue;
      }
      for (int64_t j = begin; j < end; ++j, from += stride * w.channels) planes[j] = *from;
    }
  }
}

int64_t ReadRows(const TapWindows& w, int64_t num_rows) {
  return (num_rows - 1) * w.row_stride + w.filter_rows;
}
int64_t PlaneLength(const TapWindows& w, int64_t count) {
  return count + (w.filter_columns - 1) / w.column_stride;
}

//   copy(from, to) copies rows.count numbers.
template <typename T, typename Copy>
EST_INLINE_512 void CopyTapsAs(const TapWindows& w, const T* image, const WindowRows& rows,
                               int64_t distance, T* planes, Bfloat16* to, const Copy& copy) {
  const int64_t length = PlaneLength(w, rows.count), read_rows = ReadRows(w, rows.num_rows);
  const int64_t row_numbers = PlaneNumbers(w, rows.num_rows, rows.count) / read_rows;
  for (int64_t r = 0; r < read_rows; ++r) {
    const int64_t row = rows.row + r;
    if (row >= 0 && row < w.rows) {
      CopyToPlanes(w, image + row * w.columns * w.channels, rows.column, length,
                   planes + r * row_numbers);
    } else {
      std::fill_n(planes + r * row_numbers, row_numbers, T(0));
    }
  }
  const int64_t numbers = w.filter_rows * w.filter_columns * w.channels;
  for (int64_t t = rows.first_number; t < std::min(numbers, rows.end_number); ++t, to += distance) {
    const int64_t c = t % w.channels, v = t / w.channels % w.filter_columns;
    const int64_t u = t / w.channels / w.filter_columns;
    const T* const plane = planes + u * row_numbers +
                           (v % w.column_stride * w.channels + c) * length + v / w.column_stride;
    for (int64_t i = 0; i < rows.num_rows; ++i)
      copy(plane + i * w.row_stride * row_numbers, to + i * rows.count);
  }
}

}  // namespace

EST_512 void CopyTransposed(const Bfloat16* const* pixels, int64_t count, int64_t begin,
                            int64_t end, int64_t channels, int64_t distance, Bfloat16* to) {
  CopyTransposedAs<Half::kHigh>(pixels, count, begin, end, channels, distance, to);
}

EST_512 void CopyTransposed(const float* const* pixels, Half half, int64_t count, int64_t begin,
                            int64_t end, int64_t channels, int64_t distance, Bfloat16* to) {
  if (half == Half::kHigh) {
    CopyTransposedAs<Half::kHigh>(pixels, count, begin, end, channels, distance, to);
  } else {
    CopyTransposedAs<Half::kLow>(pixels, count, begin, end, channels, distance, to);
  }
}

EST_512 void CopyPairs(const Bfloat16* const* pixels, int64_t count, int64_t begin, int64_t end,
                       int64_t channels, int64_t distance, Bfloat16* to) {
  CopyPairsAs<Half::kHigh>(pixels, count, begin, end, channels, distance, to);
}

EST_512 void CopyPairs(const float* const* pixels, Half half, int64_t count, int64_t begin,
                       int64_t end, int64_t channels, int64_t distance, Bfloat16* to) {
  if (half == Half::kHigh) {
    CopyPairsAs<Half::kHigh>(pixels, count, begin, end, channels, distance, to);
  } else {
    CopyPairsAs<Half::kLow>(pixels, count, begin, end, channels, distance, to);
  }
}

EST_512 void Unpool(const Bfloat16* dy, const uint8_t* argmax, bool lower, int64_t windows,
                    int64_t channels, int64_t distance, Bfloat16* to) {
  const __m256i left = _mm256_set1_epi8(lower ? 2 : 0), right = _mm256_set1_epi8(lower ? 3 : 1);
  for (int64_t q = 0; q < windows; ++q, dy += channels, argmax += channels, to += 2 * distance) {
    for (int64_t c = 0; c < channels; c += 32) {
      const __mmask32 mask = ChannelMask(c, channels);
      const __m512i gradient = _mm512_maskz_loadu_epi16(mask, dy + c);
      const __m256i taps = _mm256_maskz_loadu_epi8(mask, argmax + c);
      _mm512_mask_storeu_epi16(
          to + c, mask, _mm512_maskz_mov_epi16(_mm256_cmpeq_epi8_mask(taps, left), gradient));
      _mm512_mask_storeu_epi16(
          to + distance + c, mask,
          _mm512_maskz_mov_epi16(_mm256_cmpeq_epi8_mask(taps, right), gradient));
    }
  }
}

EST_512 void Unpool(const float* dy, const uint8_t* argmax, bool lower, int64_t windows,
                    int64_t channels, int64_t distance, float* to) {
  const __m128i left = _mm_set1_epi8(lower ? 2 : 0), right = _mm_set1_epi8(lower ? 3 : 1);
  for (int64_t q = 0; q < windows; ++q, dy += channels, argmax += channels, to += 2 * distance) {
    for (int64_t c = 0; c < channels; c += 16) {
      const __mmask16 mask = static_cast<__mmask16>(ChannelMask(c, channels));
      const __m512 gradient = _mm512_maskz_loadu_ps(mask, dy + c);
      const __m128i taps = _mm_maskz_loadu_epi8(mask, argmax + c);
      _mm512_mask_storeu_ps(to + c, mask,
                            _mm512_maskz_mov_ps(_mm_cmpeq_epi8_mask(taps, left), gradient));
      _mm512_mask_storeu_ps(to + distance + c, mask,
                            _mm512_maskz_mov_ps(_mm_cmpeq_epi8_mask(taps, right), gradient));
    }
  }
}

int64_t PlaneNumbers(const TapWindows& w, int64_t num_rows, int64_t count) {
  return ReadRows(w, num_rows) * std::min(w.column_stride, w.filter_columns) * w.channels *
         PlaneLength(w, count);
}

EST_512 void CopyTaps(const TapWindows& windows, const Bfloat16* image, const WindowRows& rows,
                      int64_t distance, Bfloat16* planes, Bfloat16* to) {
  CopyTapsAs(windows, image, rows, distance, planes, to,
             [count = rows.count](const Bfloat16* from, Bfloat16* tap) EST_512 {
               for (int64_t j = 0; j < count; j += 32) {
                 const __mmask32 mask = ChannelMask(j, count);
                 _mm512_mask_storeu_epi16(tap + j, mask, _mm512_maskz_loadu_epi16(mask, from + j));
               }
             });
}

EST_512 void CopyTaps(const TapWindows& windows, const float* image, const WindowRows& rows,
                      int64_t distance, float* planes, Bfloat16* to, int64_t low) {
  CopyTapsAs(windows, image, rows, distance, planes, to,
             [count = rows.count, low](const float* from, Bfloat16* tap)
                 EST_512 { Split(from, count, tap, tap + low); });
}

EST_512 void UnpoolPairs(const Bfloat16* dy, const uint8_t* argmax, bool lower, int64_t windows,
                         int64_t begin, int64_t end, int64_t channels, int64_t distance,
                         Bfloat16* to) {
  UnpoolPairsAs<Half::kHigh>(dy, argmax, lower, windows, begin, end, channels, distance, to);
}

EST_512 void UnpoolPairs(const float* dy, Half half, const uint8_t* argmax, bool lower,
                         int64_t windows, int64_t begin, int64_t end, int64_t channels,
                         int64_t distance, Bfloat16* to) {
  if (half == Half::kHigh) {
    UnpoolPairsAs<Half::kHigh>(dy, argmax, lower, windows, begin, end, channels, distance, to);
  } else {
    UnpoolPairsAs<Half::kLow>(dy, argmax, lower, windows, begin, end, channels, distance, to);
  }
}

EST_512 void Split(const float* x, int64_t count, Bfloat16* high, Bfloat16* low) {
  for (int64_t i = 0; i < count; i += 32) {
    const __mmask32 mask = ChannelMask(i, count);
    const Parts parts = SplitOf(x + i, mask);
    _mm512_mask_storeu_epi16(high + i, mask, parts.high);
    _mm512_mask_storeu_epi16(low + i, mask, parts.low);
  }
}

EST_512 void CopyFilterTransposed(const Bfloat16* filter, int64_t to_channels,
                                  int64_t from_channels, int64_t d, int64_t r, Bfloat16* to) {
  const __mmask32 mask = ChannelMask(r, from_channels);
  __m512i rows[16];
#pragma GCC unroll 16
  for (int n = 0; n < 16; ++n) {
    rows[n] = d + n < to_channels
                  ? _mm512_maskz_loadu_epi16(mask, filter + (d + n) * from_channels + r)
                  : _mm512_setzero_si512();
  }
  Transpose(rows);
#pragma GCC unroll 16
  for (int j = 0; j < 16; ++j) _mm512_store_si512(to + j * 32, rows[j]);
}

EST_512 void CopyFilterPairs(const Bfloat16* filter, int64_t from_channels, int64_t to_channels,
                             int64_t r, int64_t d, Bfloat16* to) {
  const __mmask16 mask = static_cast<__mmask16>(ChannelMask(d, to_channels));
  const auto row = [&](int64_t channel) EST_512 {
    const __m256i weights = channel < from_channels
                                ? _mm256_maskz_loadu_epi16(mask, filter + channel * to_channels + d)
                                : _mm256_setzero_si256();
    return _mm512_cvtepu16_epi32(weights);
  };
  for (int64_t j = 0; j < 16; ++j) {
    const __m512i even = row(r + 2 * j), odd = row(r + 2 * j + 1);
    _mm512_store_si512(to + j * 32, _mm512_or_si512(even, _mm512_slli_epi32(odd, 16)));
  }
}

}  // namespace estimator::bfloat16
