#include "estimator/kernels/amx/copies.h"

#include <algorithm>

#include "estimator/kernels/amx/convolution.h"
#include "estimator/kernels/amx/vectors.h"

namespace estimator::amx {
namespace {

// 32 channels of a pixel.
template <Half kHalf>
EST_AMX_INLINE __m512i Load(const Bfloat16* channels, __mmask32 mask) {
  return _mm512_maskz_loadu_epi16(mask, channels);
}
template <Half kHalf>
EST_AMX_INLINE __m512i Load(const float* channels, __mmask32 mask) {
  const Parts parts = SplitOf(channels, mask);
  return kHalf == Half::kHigh ? parts.high : parts.low;
}

// 16 of the channels [channel, channel + 32) of 32 pixels: 8 j to 8 j + 3, or the four after them.
template <bool kUpper, Half kHalf, typename T>
EST_AMX_INLINE void TransposeTile(const T* const* pixels, int64_t channel, __mmask32 mask,
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
EST_AMX_INLINE void CopyTransposedAs(const T* const* pixels, int64_t count, int64_t begin,
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
EST_AMX_INLINE void CopyPairsAs(const T* const* pixels, int64_t count, int64_t begin, int64_t end,
                                int64_t channels, int64_t distance, Bfloat16* to) {
  for (int64_t i = 0; i < count; i += 2) {
    for (int64_t c = begin; c < end; c += 32) {
      const __mmask32 mask = ChannelMask(c, channels);
      const __m512i even = Load<kHalf>(pixels[i] + c, mask);
      const __m512i odd = Load<kHalf>(pixels[i + 1] + c, mask);
      Bfloat16* const panel = to + (c - begin) / 16 * distance + i * 16;
      _mm512_store_si512(panel, _mm512_unpacklo_epi16(even, odd));
      _mm512_store_si512(panel + distance, _mm512_unpackhi_epi16(even, odd));
    }
  }
}

// The numbers of one row of a filter among 32 numbers of its taps.
struct Piece {
  __mmask32 mask = 0;
  bool last = false;  // of the 32 numbers
  int64_t begin = 0;  // of the row of the filter, relative to the 32 numbers
  int64_t offset =
      0;  // of the first of the 32 numbers in the image, relative to the window's column
};

// Bits [begin, end) of 32.
EST_AMX_INLINE __mmask32 Between(int64_t begin, int64_t end) {
  return ChannelMask(0, end) & ~ChannelMask(0, begin);
}

// Returns how many pieces there are.
EST_AMX_INLINE int FindPieces(const TapWindows& w, int64_t row, Piece* pieces) {
  const int64_t row_numbers = w.filter_columns * w.channels;
  const int64_t numbers = w.filter_rows * row_numbers;
  int count = 0;
  for (int64_t first = 0; first < numbers; first += 32) {
    const int64_t last = std::min(first + 32, numbers) - 1;
    for (int64_t u = first / row_numbers; u <= last / row_numbers; ++u) {
      const bool exists = row + u >= 0 && row + u < w.rows;
      const int64_t begin = u * row_numbers - first;
      pieces[count++] = {.mask = exists ? Between(begin, begin + row_numbers) : __mmask32{0},
                         .last = u == last / row_numbers,
                         .begin = begin,
                         .offset = (row + u) * w.columns * w.channels - begin};
    }
  }
  return count;
}

}  // namespace

EST_AMX void CopyTransposed(const Bfloat16* const* pixels, int64_t count, int64_t begin,
                            int64_t end, int64_t channels, int64_t distance, Bfloat16* to) {
  CopyTransposedAs<Half::kHigh>(pixels, count, begin, end, channels, distance, to);
}

EST_AMX void CopyTransposed(const float* const* pixels, Half half, int64_t count, int64_t begin,
                            int64_t end, int64_t channels, int64_t distance, Bfloat16* to) {
  if (half == Half::kHigh) {
    CopyTransposedAs<Half::kHigh>(pixels, count, begin, end, channels, distance, to);
  } else {
    CopyTransposedAs<Half::kLow>(pixels, count, begin, end, channels, distance, to);
  }
}

EST_AMX void CopyPairs(const Bfloat16* const* pixels, int64_t count, int64_t begin, int64_t end,
                       int64_t channels, int64_t distance, Bfloat16* to) {
  CopyPairsAs<Half::kHigh>(pixels, count, begin, end, channels, distance, to);
}

EST_AMX void CopyPairs(const float* const* pixels, Half half, int64_t count, int64_t begin,
                       int64_t end, int64_t channels, int64_t distance, Bfloat16* to) {
  if (half == Half::kHigh) {
    CopyPairsAs<Half::kHigh>(pixels, count, begin, end, channels, distance, to);
  } else {
    CopyPairsAs<Half::kLow>(pixels, count, begin, end, channels, distance, to);
  }
}

EST_AMX void GatherTaps(const TapWindows& w, const Bfloat16* image, int64_t row, int64_t column,
                        int64_t count, int64_t distance, Bfloat16* to) {
  // A row of a filter begins in each piece but those that begin with their 32 numbers.
  Piece pieces[kMostGatheredTaps * kFewestChannels / 32 + kMostGatheredTaps];
  const int num_pieces = FindPieces(w, row, pieces);
  for (int64_t j = 0; j < count; ++j, column += w.column_stride, to += distance) {
    const Bfloat16* const from = image + column * w.channels;
    const bool inside = column >= 0 && column + w.filter_columns <= w.columns;
    // The numbers of a filter's row that are in the image.
    const int64_t begin = std::clamp<int64_t>(-column, 0, w.filter_columns) * w.channels;
    const int64_t end = std::clamp<int64_t>(w.columns - column, 0, w.filter_columns) * w.channels;
    Bfloat16* numbers = to;
    __m512i taps = _mm512_setzero_si512();
    for (int p = 0; p < num_pieces; ++p) {
      const Piece& piece = pieces[p];
      __mmask32 mask = piece.mask;
      if (!inside) mask &= Between(piece.begin + begin, piece.begin + end);
      // Numbers that the mask leaves out are not read.
      taps = _mm512_mask_loadu_epi16(taps, mask, from + piece.offset);
      if (!piece.last) continue;
      _mm512_store_si512(numbers, taps);
      taps = _mm512_setzero_si512();
      numbers += 32;
    }
  }
}

EST_AMX void Unpool(const Bfloat16* dy, const uint8_t* argmax, bool lower, int64_t windows,
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

EST_AMX void Unpool(const float* dy, const uint8_t* argmax, bool lower, int64_t windows,
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

EST_AMX void Split(const float* x, int64_t count, Bfloat16* high, Bfloat16* low) {
  for (int64_t i = 0; i < count; i += 32) {
    const __mmask32 mask = ChannelMask(i, count);
    const Parts parts = SplitOf(x + i, mask);
    _mm512_mask_storeu_epi16(high + i, mask, parts.high);
    _mm512_mask_storeu_epi16(low + i, mask, parts.low);
  }
}

EST_AMX void CopyFilterTransposed(const Bfloat16* filter, int64_t to_channels,
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

EST_AMX void CopyFilterPairs(const Bfloat16* filter, int64_t from_channels, int64_t to_channels,
                             int64_t r, int64_t d, Bfloat16* to) {
  const __mmask16 mask = static_cast<__mmask16>(ChannelMask(d, to_channels));
  const auto row = [&](int64_t channel) EST_AMX {
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

}  // namespace estimator::amx
