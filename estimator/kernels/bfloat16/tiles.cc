#include "estimator/kernels/bfloat16/tiles.h"

#include "estimator/base/cpu/cpu_isa.h"
#include "estimator/kernels/bfloat16/dot_products.h"
#include "estimator/kernels/bfloat16/target.h"

namespace estimator::bfloat16 {
namespace {

// Kept, because it is asked for every product.
bool UsesTiles() {
  static const bool uses = MayUse(CpuIsa::kAmx);
  return uses;
}

struct alignas(64) TileShapes {
  uint8_t palette = 1;
  uint8_t start_row = 0;
  uint8_t reserved[14] = {};
  uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
static_assert(sizeof(TileShapes) == 64);

constexpr int64_t kSumBytes = 32 * sizeof(float), kPairBytes = 64;

// The sums of MultiplyTiles and MultiplyRows are in tiles 0 to 3, or, of 16 rows, in tiles 0 and 1.
//   kLower: whether there are 32 rows.
template <bool kLower>
EST_INLINE_512 void LoadSums(bool first, const float* sums) {
  // The compiler does not know that tiles are loaded from memory.
  __asm__ volatile("" ::: "memory");
  if (first) {
    _tile_zero(0);
    _tile_zero(1);
    if constexpr (kLower) {
      _tile_zero(2);
      _tile_zero(3);
    }
  } else {
    _tile_loadd(0, sums, kSumBytes);
    _tile_loadd(1, sums + 16, kSumBytes);
    if constexpr (kLower) {
      _tile_loadd(2, sums + 16 * 32, kSumBytes);
      _tile_loadd(3, sums + 16 * 32 + 16, kSumBytes);
    }
  }
}

template <bool kLower>
EST_INLINE_512 void StoreSums(float* sums) {
  _tile_stored(0, sums, kSumBytes);
  _tile_stored(1, sums + 16, kSumBytes);
  if constexpr (kLower) {
    _tile_stored(2, sums + 16 * 32, kSumBytes);
    _tile_stored(3, sums + 16 * 32 + 16, kSumBytes);
  }
  __asm__ volatile("" ::: "memory");
}

// Adds the products of 32 rows in a step, whose lower 16 begin at `lower`, and two panels.
template <bool kLower>
EST_INLINE_512 void AddProducts(const Bfloat16* upper, const Bfloat16* lower, int64_t row_bytes,
                                const Bfloat16* first, const Bfloat16* second) {
  _tile_loadd(6, first, kPairBytes);
  _tile_loadd(4, upper, row_bytes);
  _tile_dpbf16ps(0, 4, 6);
  _tile_loadd(7, second, kPairBytes);
  _tile_dpbf16ps(1, 4, 7);
  if constexpr (kLower) {
    _tile_loadd(5, lower, row_bytes);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
}

template <bool kLower>
EST_INLINE_512 void MultiplyRowsByTiles(const Bfloat16* rows, int64_t distance,
                                        const Bfloat16* panels, int64_t panel, int64_t steps,
                                        bool splits, bool first, float* sums) {
  const int64_t row_bytes = distance * 2;
  LoadSums<kLower>(first, sums);
  const Bfloat16* const lower = rows + 16 * distance;
  const Bfloat16* const second = panels + panel;
  if (!splits) {
    for (int64_t step = 0; step < steps; ++step) {
      AddProducts<kLower>(rows + step * 32, lower + step * 32, row_bytes, panels + step * 512,
                          second + step * 512);
    }
  } else {
    for (int64_t step = 0; step < steps; ++step) {
      // high * low
      AddProducts<kLower>(rows + step * 64, lower + step * 64, row_bytes,
                          panels + step * 1024 + 512, second + step * 1024 + 512);
      // high * high
      _tile_loadd(6, panels + step * 1024, kPairBytes);
      _tile_dpbf16ps(0, 4, 6);
      _tile_loadd(7, second + step * 1024, kPairBytes);
      _tile_dpbf16ps(1, 4, 7);
      if constexpr (kLower) {
        _tile_dpbf16ps(2, 5, 6);
        _tile_dpbf16ps(3, 5, 7);
      }
      // low * high
      _tile_loadd(4, rows + step * 64 + 32, row_bytes);
      _tile_dpbf16ps(0, 4, 6);
      _tile_dpbf16ps(1, 4, 7);
      if constexpr (kLower) {
        _tile_loadd(5, lower + step * 64 + 32, row_bytes);
        _tile_dpbf16ps(2, 5, 6);
        _tile_dpbf16ps(3, 5, 7);
      }
    }
  }
  StoreSums<kLower>(sums);
}

}  // namespace

bool IsAvailable() { return MayUse(CpuIsa::kAvx512Bf16); }

// Asks IsAvailable first: UsesTiles must not keep the answer of a test without it.
bool HasAmx() { return IsAvailable() && UsesTiles(); }

EST_512 void Configure() {
  if (!UsesTiles()) return;
  // Static: the compiler does not know that the instruction reads all of it.
  static constexpr TileShapes kShapes;
  _tile_loadconfig(&kShapes);
}

EST_512 void Release() {
  if (!UsesTiles()) return;
  _tile_release();
}

EST_512 void MultiplyTiles(const Bfloat16* rows, int64_t distance, const int64_t* offsets,
                           const Bfloat16* panels, int64_t panel, int64_t steps, bool first,
                           float* sums) {
  if (!UsesTiles()) {
    return MultiplyTilesByDotProducts(rows, distance, offsets, panels, panel, steps, first, sums);
  }
  const int64_t row_bytes = distance * 2;
  LoadSums<true>(first, sums);
  const Bfloat16* const lower = rows + 16 * distance;
  for (int64_t step = 0; step < steps; ++step, panels += 512) {
    const int64_t offset = offsets[step];
    AddProducts<true>(rows + offset, lower + offset, row_bytes, panels, panels + panel);
  }
  StoreSums<true>(sums);
}

EST_512 void MultiplyRows(const Bfloat16* rows, int64_t distance, const Bfloat16* panels,
                          int64_t panel, int64_t steps, bool splits, bool first, int64_t count,
                          float* sums) {
  if (!UsesTiles()) {
    MultiplyRowsByDotProducts(rows, distance, panels, panel, steps, splits, first, count, sums);
  } else if (count > 16) {
    MultiplyRowsByTiles<true>(rows, distance, panels, panel, steps, splits, first, sums);
  } else {
    MultiplyRowsByTiles<false>(rows, distance, panels, panel, steps, splits, first, sums);
  }
}

}  // namespace estimator::bfloat16
