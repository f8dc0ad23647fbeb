// The products of tiles.h by the instruction VDPBF16PS of AVX-512, for CPUs that lack AMX.
#ifndef ESTIMATOR_KERNELS_BFLOAT16_DOT_PRODUCTS_H_
#define ESTIMATOR_KERNELS_BFLOAT16_DOT_PRODUCTS_H_

#include <cstdint>

#include "estimator/array/half.h"

namespace estimator::bfloat16 {

// MultiplyTiles and MultiplyRows of tiles.h. REQUIRES: MayUse(CpuIsa::kAvx512Bf16).
void MultiplyTilesByDotProducts(const Bfloat16* rows, int64_t distance, const int64_t* offsets,
                                const Bfloat16* panels, int64_t panel, int64_t steps, bool first,
                                float* sums);
void MultiplyRowsByDotProducts(const Bfloat16* rows, int64_t distance, const Bfloat16* panels,
                               int64_t panel, int64_t steps, bool splits, bool first, int64_t count,
                               float* sums);

// The order of the 32 channels of two panels. kPlain: channels 0 to 15 are in the first panel.
// kCopied: the order of CopyPairs (copies.h).
enum class PairOrder { kPlain, kCopied };

// Multiplies the 32 channels of two left panels by those of two right panels, summed over steps of
// 16 pairs: sums[c][n] (=, or += if not `first`), for channel c of the left panels and n of the
// right ones.
//   left_panel: the distance of the left panels.
// REQUIRES: MayUse(CpuIsa::kAvx512Bf16).
void MultiplyPairs(const Bfloat16* left, int64_t left_panel, PairOrder left_order,
                   const Bfloat16* panels, int64_t panel, int64_t steps, bool first, float* sums);

}  // namespace estimator::bfloat16

#endif  // ESTIMATOR_KERNELS_BFLOAT16_DOT_PRODUCTS_H_
