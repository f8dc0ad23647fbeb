#include "estimator/kernels/amx/tiles.h"

// GCC takes the undefined operands of AVX-512 intrinsics for a mistake.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "hwy/highway.h"

// The attribute instead of compiler flags: nothing that a header defines is compiled for AVX-512.
#define EST_AMX __attribute__((target("avx512f,avx512bw,avx512vl,avx512bf16,amx-tile,amx-bf16")))
#define EST_AMX_INLINE EST_AMX inline __attribute__((always_inline))

namespace estimator::amx {
namespace {

bool AskForTiles() {
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
      !__builtin_cpu_supports("avx512vl")) {
    return false;
  }
  unsigned a = 0, b = 0, c = 0, d = 0;
  __asm__("cpuid" : "=a"(a), "=b"(b), "=c"(c), "=d"(d) : "0"(7), "2"(0));
  constexpr unsigned kBfloat16 = 1u << 22, kTiles = 1u << 24;
  if ((d & kBfloat16) == 0 || (d & kTiles) == 0) return false;
  __asm__("cpuid" : "=a"(a), "=b"(b), "=c"(c), "=d"(d) : "0"(7), "2"(1));
  constexpr unsigned kVectorBfloat16 = 1u << 5;
  if ((a & kVectorBfloat16) == 0) return false;
  // Linux saves the registers of tiles only for processes that asked for it.
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  return ::syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

struct alignas(64) TileShapes {
  uint8_t palette = 1;
  uint8_t start_row = 0;
  uint8_t reserved[14] = {};
  uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
static_assert(sizeof(TileShapes) == 64);

// Transposes 16 rows of 16 elements of 32 bits, in place.
EST_AMX_INLINE void Transpose(__m512i (&r)[16]) {
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

EST_AMX_INLINE __mmask32 ChannelMask(int64_t channel, int64_t channels) {
  const int64_t left = channels - channel;
  return left >= 32 ? ~__mmask32{0} : (__mmask32{1} << std::max<int64_t>(left, 0)) - 1;
}

// 16 of the channels [channel, channel + 32) of 32 pixels: 8 j to 8 j + 3, or the four after them.
template <bool kUpper>
EST_AMX_INLINE void TransposeTile(const Bfloat16* const* pixels, int64_t channel, __mmask32 mask,
                                  int64_t distance, Bfloat16* to) {
  __m512i r[16];
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) {
    const __m512i even = _mm512_maskz_loadu_epi16(mask, pixels[2 * i] + channel);
    const __m512i odd = _mm512_maskz_loadu_epi16(mask, pixels[2 * i + 1] + channel);
    r[i] = kUpper ? _mm512_unpackhi_epi16(even, odd) : _mm512_unpacklo_epi16(even, odd);
  }
  Transpose(r);
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i)
    _mm512_store_si512(to + (i / 4 * 8 + i % 4 + (kUpper ? 4 : 0)) * distance, r[i]);
}

}  // namespace

bool IsAvailable() {
  static const bool available = AskForTiles();
  return available && (hwy::SupportedTargets() & HWY_AVX3) != 0;
}

EST_AMX void Configure() {
  // Static: the compiler does not know that the instruction reads all of it.
  static constexpr TileShapes kShapes;
  _tile_loadconfig(&kShapes);
}

EST_AMX void Release() { _tile_release(); }

EST_AMX void CopyTransposed(const Bfloat16* const* pixels, int64_t count, int64_t begin,
                            int64_t end, int64_t channels, int64_t distance, Bfloat16* to) {
  for (int64_t i = 0; i < count; i += 32) {
    for (int64_t c = begin; c < end; c += 32) {
      const __mmask32 mask = ChannelMask(c, channels);
      Bfloat16* const tile = to + (c - begin) * distance + i;
      TransposeTile<false>(pixels + i, c, mask, distance, tile);
      TransposeTile<true>(pixels + i, c, mask, distance, tile);
    }
  }
}

EST_AMX void CopyPairs(const Bfloat16* const* pixels, int64_t count, int64_t begin, int64_t end,
                       int64_t channels, int64_t distance, Bfloat16* to) {
  for (int64_t i = 0; i < count; i += 2) {
    for (int64_t c = begin; c < end; c += 32) {
      const __mmask32 mask = ChannelMask(c, channels);
      const __m512i even = _mm512_maskz_loadu_epi16(mask, pixels[i] + c);
      const __m512i odd = _mm512_maskz_loadu_epi16(mask, pixels[i + 1] + c);
      Bfloat16* const panel = to + (c - begin) / 16 * distance + i * 16;
      _mm512_store_si512(panel, _mm512_unpacklo_epi16(even, odd));
      _mm512_store_si512(panel + distance, _mm512_unpackhi_epi16(even, odd));
    }
  }
}

EST_AMX void MultiplyTiles(const Bfloat16* x, int64_t x_distance, const int64_t* offsets,
                           const Bfloat16* dy, int64_t panel, int64_t steps, bool first,
                           float* sums) {
  // The compiler does not know that tiles are loaded from memory.
  __asm__ volatile("" ::: "memory");
  const int64_t x_bytes = x_distance * 2;
  constexpr int64_t kSumBytes = 32 * sizeof(float), kDyBytes = 64;
  if (first) {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  } else {
    _tile_loadd(0, sums, kSumBytes);
    _tile_loadd(1, sums + 16, kSumBytes);
    _tile_loadd(2, sums + 16 * 32, kSumBytes);
    _tile_loadd(3, sums + 16 * 32 + 16, kSumBytes);
  }
  const Bfloat16* const lower = x + 16 * x_distance;
  for (int64_t step = 0; step < steps; ++step, dy += 512) {
    const int64_t offset = offsets[step];
    _tile_loadd(6, dy, kDyBytes);
    _tile_loadd(4, x + offset, x_bytes);
    _tile_dpbf16ps(0, 4, 6);
    _tile_loadd(7, dy + panel, kDyBytes);
    _tile_dpbf16ps(1, 4, 7);
    _tile_loadd(5, lower + offset, x_bytes);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  _tile_stored(0, sums, kSumBytes);
  _tile_stored(1, sums + 16, kSumBytes);
  _tile_stored(2, sums + 16 * 32, kSumBytes);
  _tile_stored(3, sums + 16 * 32 + 16, kSumBytes);
  __asm__ volatile("" ::: "memory");
}

EST_AMX void AddParts(const float* sums, int parts, int64_t distance, int64_t count, float* to) {
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

EST_AMX void StoreRows(const float* sums, Bfloat16* const* pixels, int64_t channel, int64_t count) {
  const __mmask32 mask = ChannelMask(0, count);
  for (int i = 0; i < 32; ++i, sums += 32) {
    if (pixels[i] == nullptr) continue;
    const __m512bh row = _mm512_cvtne2ps_pbh(_mm512_load_ps(sums + 16), _mm512_load_ps(sums));
    _mm512_mask_storeu_epi16(pixels[i] + channel, mask, (__m512i)row);
  }
}

}  // namespace estimator::amx
