#include "estimator/kernels/bfloat16/pack_operand.h"

#include <algorithm>
#include <type_traits>

#include "estimator/kernels/bfloat16/vectors.h"

namespace estimator::bfloat16 {
namespace {

// 16 lines of 32 numbers: line after line, or pair after pair of numbers.
struct Tile {
  __m512i high[16], low[16];
};

EST_INLINE_512 __mmask16 Mask16(int64_t count) {
  return static_cast<__mmask16>(ChannelMask(0, std::min<int64_t>(count, 16)));
}

// 16 lines of [lines, depth].
template <typename T>
EST_INLINE_512 void LoadLines(const T* from, int64_t distance, int64_t lines, int64_t depth,
                              Tile& tile) {
  const __mmask32 mask = ChannelMask(0, depth);
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) {
    const __mmask32 present = i < lines ? mask : 0;
    // A line that does not exist is not read.
    const T* const line = from + (i < lines ? i : 0) * distance;
    if constexpr (std::is_same_v<T, Bfloat16>) {
      tile.high[i] = _mm512_maskz_loadu_epi16(present, line);
    } else {
      const Parts parts = SplitOf(line, present);
      tile.high[i] = parts.high;
      tile.low[i] = parts.low;
    }
  }
}

// 16 pairs of [depth, lines], of 16 lines.
template <typename T>
EST_INLINE_512 void LoadPairs(const T* from, int64_t distance, int64_t lines, int64_t depth,
                              Tile& tile) {
  const __mmask16 mask = Mask16(lines);
  // Number n of the first vector, and then of the second one.
  const __m512i in_pairs =
      _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7, 22, 6,
                       21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) {
    const __mmask16 first_mask = 2 * i < depth ? mask : 0;
    const __mmask16 second_mask = 2 * i + 1 < depth ? mask : 0;
    // A line that does not exist is not read. Its address stays inside the matrix.
    const T* const first_line = from + (2 * i < depth ? 2 * i : 0) * distance;
    const T* const second_line = from + (2 * i + 1 < depth ? 2 * i + 1 : 0) * distance;
    if constexpr (std::is_same_v<T, Bfloat16>) {
      const __m512i both = _mm512_inserti64x4(
          _mm512_castsi256_si512(_mm256_maskz_loadu_epi16(first_mask, first_line)),
          _mm256_maskz_loadu_epi16(second_mask, second_line), 1);
      tile.high[i] = _mm512_permutexvar_epi16(in_pairs, both);
    } else {
      const __m512 first = _mm512_maskz_loadu_ps(first_mask, first_line);
      const __m512 second = _mm512_maskz_loadu_ps(second_mask, second_line);
      const __m512i high = _mm512_permutexvar_epi16(in_pairs, HighParts(first, second));
      tile.high[i] = high;
      const __m512 first_high = _mm512_castsi512_ps(_mm512_slli_epi32(high, 16));
      const __m512 second_high = _mm512_castsi512_ps(
          _mm512_and_si512(high, _mm512_set1_epi32(static_cast<int>(0xffff0000u))));
      tile.low[i] = _mm512_permutexvar_epi16(
          in_pairs, Rounded(_mm512_sub_ps(first, first_high), _mm512_sub_ps(second, second_high)));
    }
  }
}

//   distance: of the 16 rows of the tile in memory.
template <bool kTransposes>
EST_INLINE_512 void Store(__m512i (&rows)[16], int64_t distance, Bfloat16* to) {
  if constexpr (kTransposes) Transpose(rows);
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) _mm512_store_si512(to + i * distance, rows[i]);
}

// Packs 16 lines.
//   kSplits: whether numbers of f32 have two parts.  kLines: whether memory has line after line.
//   kPairs: whether the lines are packed in pairs.  distance: of packed lines, if not in pairs.
template <typename T, bool kSplits, bool kLines, bool kPairs>
EST_INLINE_512 void PackLines(const T* from, int64_t from_distance, int64_t lines, int64_t depth,
                              int64_t distance, Bfloat16* to) {
  constexpr bool kTransposes = kLines == kPairs;
  const int64_t row_distance = kPairs ? 32 : distance, tile_distance = kPairs ? 512 : 32;
  for (int64_t r = 0; r < depth; r += 32) {
    Tile tile;
    if constexpr (kLines) {
      LoadLines<T>(from + r, from_distance, lines, depth - r, tile);
    } else {
      LoadPairs<T>(from + r * from_distance, from_distance, lines, depth - r, tile);
    }
    Store<kTransposes>(tile.high, row_distance, to);
    to += tile_distance;
    if constexpr (kSplits) {
      Store<kTransposes>(tile.low, row_distance, to);
      to += tile_distance;
    }
  }
}

//   distance: of packed lines, or of panels of 16 lines in pairs.
template <typename T, bool kSplits, bool kLines, bool kPairs>
EST_512 void PackBlock(const T* from, const Operand& operand, const OperandBlock& block,
                       int64_t distance, Bfloat16* to) {
  const int64_t from_distance = kLines ? operand.depth : operand.lines;
  const int64_t group_distance = kPairs ? distance : 16 * distance;
  for (int64_t i = 0; i < block.lines; i += 16, to += group_distance) {
    const int64_t line = block.first_line + i;
    const T* const first = from + (kLines ? line * from_distance + block.first_number
                                          : block.first_number * from_distance + line);
    PackLines<T, kSplits, kLines, kPairs>(first, from_distance, operand.lines - line, block.depth,
                                          distance, to);
  }
}

template <typename T, bool kSplits, bool kPairs>
EST_512 void PackAs(const T* from, const Operand& operand, const OperandBlock& block,
                    int64_t distance, Bfloat16* to) {
  if (operand.line_after_line) {
    PackBlock<T, kSplits, true, kPairs>(from, operand, block, distance, to);
  } else {
    PackBlock<T, kSplits, false, kPairs>(from, operand, block, distance, to);
  }
}

template <bool kPairs>
void Pack(const Operand& operand, const OperandBlock& block, int64_t distance, Bfloat16* to) {
  if (operand.narrow != nullptr) {
    PackAs<Bfloat16, false, kPairs>(operand.narrow, operand, block, distance, to);
  } else if (operand.splits) {
    PackAs<float, true, kPairs>(operand.wide, operand, block, distance, to);
  } else {
    PackAs<float, false, kPairs>(operand.wide, operand, block, distance, to);
  }
}

}  // namespace

void PackRows(const Operand& operand, const OperandBlock& block, int64_t distance, Bfloat16* to) {
  Pack<false>(operand, block, distance, to);
}

void PackPairs(const Operand& operand, const OperandBlock& block, int64_t panel, Bfloat16* to) {
  Pack<true>(operand, block, panel, to);
}

}  // namespace estimator::bfloat16
