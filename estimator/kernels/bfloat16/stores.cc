#include "estimator/kernels/bfloat16/stores.h"

#include <algorithm>

#include "estimator/kernels/bfloat16/target.h"

namespace estimator::bfloat16 {
namespace {

// The 32 channels of a pixel.
struct Row {
  __m512 low, high;
};

// Vectors that are the same for all pixels.
struct EpilogueVectors {
  Row bias;
  __mmask32 mask;
};

EST_INLINE_512 EpilogueVectors VectorsOf(const Epilogue& epilogue) {
  const float* const bias = epilogue.bias;
  return {.bias = {bias ? _mm512_loadu_ps(bias) : _mm512_setzero_ps(),
                   bias ? _mm512_loadu_ps(bias + 16) : _mm512_setzero_ps()},
          .mask = ChannelMask(0, epilogue.channels)};
}

EST_INLINE_512 Row LoadWithBias(const float* sums, const EpilogueVectors& v) {
  return {_mm512_add_ps(_mm512_load_ps(sums), v.bias.low),
          _mm512_add_ps(_mm512_load_ps(sums + 16), v.bias.high)};
}

// NaN stays NaN: both instructions return the second operand if one is NaN.
EST_INLINE_512 __m512 ReluOf(__m512 x) { return _mm512_max_ps(_mm512_setzero_ps(), x); }
EST_INLINE_512 __m512 Relu6Of(__m512 x) { return _mm512_min_ps(_mm512_set1_ps(6.0F), ReluOf(x)); }

EST_INLINE_512 void Store(const Row& row, __mmask32 mask, Bfloat16* to) {
  _mm512_mask_storeu_epi16(to, mask, (__m512i)_mm512_cvtne2ps_pbh(row.high, row.low));
}

EST_INLINE_512 void Store(const Row& row, __mmask32 mask, float* to) {
  _mm512_mask_storeu_ps(to, static_cast<__mmask16>(mask), row.low);
  _mm512_mask_storeu_ps(to + 16, static_cast<__mmask16>(mask >> 16), row.high);
}

template <typename T>
EST_INLINE_512 void StoreRowsAs(const float* sums, const int64_t* pixels, const Epilogue& epilogue,
                                T* to) {
  const EpilogueVectors v = VectorsOf(epilogue);
  for (int i = 0; i < 32; ++i, sums += 32) {
    if (pixels[i] < 0) continue;
    Row row = LoadWithBias(sums, v);
    if (epilogue.side != nullptr) {
      const float* const side = epilogue.side + pixels[i];
      row.low = _mm512_add_ps(row.low, _mm512_maskz_loadu_ps(static_cast<__mmask16>(v.mask), side));
      row.high = _mm512_add_ps(
          row.high, _mm512_maskz_loadu_ps(static_cast<__mmask16>(v.mask >> 16), side + 16));
    }
    if (epilogue.activation == Activation::kRelu) row = {ReluOf(row.low), ReluOf(row.high)};
    if (epilogue.activation == Activation::kRelu6) row = {Relu6Of(row.low), Relu6Of(row.high)};
    Store(row, v.mask, to + pixels[i]);
  }
}

// Replaces maximum and tap where x is larger.
EST_INLINE_512 void TakeLarger(__m512 x, int tap, __m512& maximum, __m512i& taps) {
  // Of equal outputs the first one stays, as in TensorFlow's max pool.
  const __mmask16 larger = _mm512_cmp_ps_mask(x, maximum, _CMP_GT_OQ);
  maximum = _mm512_mask_mov_ps(maximum, larger, x);
  taps = _mm512_mask_mov_epi32(taps, larger, _mm512_set1_epi32(tap));
}

// Where the maximum is not positive, relu gives 0 (or NaN) and the tap is 4.
EST_INLINE_512 __m512i ActiveTaps(__m512 maximum, __m512i taps) {
  const __mmask16 on = _mm512_cmp_ps_mask(maximum, _mm512_setzero_ps(), _CMP_GT_OQ);
  return _mm512_mask_mov_epi32(_mm512_set1_epi32(4), on, taps);
}

template <typename T>
EST_INLINE_512 void StorePooledAs(const float* sums, int64_t distance, int64_t windows,
                                  const Epilogue& epilogue, int64_t channels, T* to,
                                  uint8_t* argmax) {
  const EpilogueVectors v = VectorsOf(epilogue);
  const float* const lower = sums + distance * 32;
  for (int64_t q = 0; q < windows; ++q, to += channels, argmax += channels) {
    Row maximum = LoadWithBias(sums + q * 64, v);
    __m512i low = _mm512_setzero_si512(), high = low;
    for (int tap = 1; tap < 4; ++tap) {
      const Row row = LoadWithBias((tap < 2 ? sums : lower) + q * 64 + tap % 2 * 32, v);
      TakeLarger(row.low, tap, maximum.low, low);
      TakeLarger(row.high, tap, maximum.high, high);
    }
    low = ActiveTaps(maximum.low, low);
    high = ActiveTaps(maximum.high, high);
    Store({ReluOf(maximum.low), ReluOf(maximum.high)}, v.mask, to);
    const __m256i taps = _mm256_inserti128_si256(_mm256_castsi128_si256(_mm512_cvtepi32_epi8(low)),
                                                 _mm512_cvtepi32_epi8(high), 1);
    _mm256_mask_storeu_epi8(argmax, v.mask, taps);
  }
}

// 32 channels of a pixel; 0 for those that the mask leaves out.
EST_INLINE_512 Row Load(const Bfloat16* channels, __mmask32 mask) {
  const __m512i row = _mm512_maskz_loadu_epi16(mask, channels);
  const __m512i low = _mm512_cvtepu16_epi32(_mm512_castsi512_si256(row));
  const __m512i high = _mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64(row, 1));
  return {_mm512_castsi512_ps(_mm512_slli_epi32(low, 16)),
          _mm512_castsi512_ps(_mm512_slli_epi32(high, 16))};
}
EST_INLINE_512 Row Load(const float* channels, __mmask32 mask) {
  return {_mm512_maskz_loadu_ps(static_cast<__mmask16>(mask), channels),
          _mm512_maskz_loadu_ps(static_cast<__mmask16>(mask >> 16), channels + 16)};
}

//   load(i, c, mask): the channels from c on of pixel i.
template <typename LoadPixel>
EST_INLINE_512 void AddPixelsAs(int64_t count, int64_t begin, int64_t end, int64_t channels,
                                float* sums, const LoadPixel& load) {
  for (int64_t c = begin; c < end; c += 32) {
    const __mmask32 mask = ChannelMask(c, channels);
    float* const to = sums + (c - begin);
    Row sum = {_mm512_loadu_ps(to), _mm512_loadu_ps(to + 16)};
    for (int64_t i = 0; i < count; ++i) {
      const Row row = load(i, c, mask);
      sum = {_mm512_add_ps(sum.low, row.low), _mm512_add_ps(sum.high, row.high)};
    }
    _mm512_storeu_ps(to, sum.low);
    _mm512_storeu_ps(to + 16, sum.high);
  }
}

template <typename T>
EST_INLINE_512 void AddPooledAs(const T* dy, const uint8_t* argmax, int64_t count, int64_t begin,
                                int64_t end, int64_t channels, float* sums) {
  AddPixelsAs(count, begin, end, channels, sums,
              [dy, argmax, channels](int64_t i, int64_t c, __mmask32 mask) EST_512 {
                const __m256i taps = _mm256_maskz_loadu_epi8(mask, argmax + i * channels + c);
                return Load(dy + i * channels + c,
                            _mm256_mask_cmpneq_epi8_mask(mask, taps, _mm256_set1_epi8(4)));
              });
}

}  // namespace

Epilogue EpilogueOf(const float* bias, const float* side, Activation activation, int64_t channel,
                    int64_t channels, float* padded_bias) {
  const int64_t count = std::min<int64_t>(32, channels - channel);
  if (bias != nullptr) {
    // The last channels are computed as 32 as well, and a load of 32 would read beyond the bias.
    std::fill_n(padded_bias, 32, 0.0F);
    std::copy_n(bias + channel, count, padded_bias);
  }
  return {.bias = bias != nullptr ? padded_bias : nullptr,
          .side = side != nullptr ? side + channel : nullptr,
          .activation = activation,
          .channels = count};
}

EST_512 void StoreRows(const float* sums, const int64_t* pixels, const Epilogue& epilogue,
                       float* to) {
  StoreRowsAs(sums, pixels, epilogue, to);
}

EST_512 void StoreRows(const float* sums, const int64_t* pixels, const Epilogue& epilogue,
                       Bfloat16* to) {
  StoreRowsAs(sums, pixels, epilogue, to);
}

EST_512 void StorePooled(const float* sums, int64_t distance, int64_t windows,
                         const Epilogue& epilogue, int64_t channels, float* to, uint8_t* argmax) {
  StorePooledAs(sums, distance, windows, epilogue, channels, to, argmax);
}

EST_512 void StorePooled(const float* sums, int64_t distance, int64_t windows,
                         const Epilogue& epilogue, int64_t channels, Bfloat16* to,
                         uint8_t* argmax) {
  StorePooledAs(sums, distance, windows, epilogue, channels, to, argmax);
}

EST_512 void AddParts(const float* sums, int parts, int64_t distance, int64_t count, float* to) {
  __m512 first = _mm512_loadu_ps(sums), second = _mm512_loadu_ps(sums + 16);
  for (int part = 1; part < parts; ++part) {
    first = _mm512_add_ps(first, _mm512_loadu_ps(sums + part * distance));
    second = _mm512_add_ps(second, _mm512_loadu_ps(sums + part * distance + 16));
  }
  // Undoes the order of CopyPairs.
  const __m512i low = _mm512_setr_epi32(0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23);
  const __m512i high = _mm512_add_epi32(low, _mm512_set1_epi32(8));
  const uint32_t mask = count >= 32 ? ~uint32_t{0} : (uint32_t{1} << count) - 1;
  _mm512_mask_storeu_ps(to, static_cast<__mmask16>(mask),
                        _mm512_permutex2var_ps(first, low, second));
  _mm512_mask_storeu_ps(to + 16, static_cast<__mmask16>(mask >> 16),
                        _mm512_permutex2var_ps(first, high, second));
}

EST_512 void AddPixels(const Bfloat16* const* pixels, int64_t count, int64_t begin, int64_t end,
                       int64_t channels, float* sums) {
  AddPixelsAs(count, begin, end, channels, sums,
              [pixels](int64_t i, int64_t c, __mmask32 mask)
                  EST_512 { return Load(pixels[i] + c, mask); });
}

EST_512 void AddPixels(const float* const* pixels, int64_t count, int64_t begin, int64_t end,
                       int64_t channels, float* sums) {
  AddPixelsAs(count, begin, end, channels, sums,
              [pixels](int64_t i, int64_t c, __mmask32 mask)
                  EST_512 { return Load(pixels[i] + c, mask); });
}

EST_512 void AddPooled(const Bfloat16* dy, const uint8_t* argmax, int64_t count, int64_t begin,
                       int64_t end, int64_t channels, float* sums) {
  AddPooledAs(dy, argmax, count, begin, end, channels, sums);
}

EST_512 void AddPooled(const float* dy, const uint8_t* argmax, int64_t count, int64_t begin,
                       int64_t end, int64_t channels, float* sums) {
  AddPooledAs(dy, argmax, count, begin, end, channels, sums);
}

}  // namespace estimator::bfloat16
