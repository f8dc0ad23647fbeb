// Products of tiles of bf16 numbers, by AMX or, on CPUs without it, by AVX-512 (dot_products.h).
// The functions are compiled for these instructions whatever the flags are. REQUIRES of all but the
// first two: IsAvailable().
#ifndef ESTIMATOR_KERNELS_BFLOAT16_TILES_H_
#define ESTIMATOR_KERNELS_BFLOAT16_TILES_H_

#include <cstdint>

#include "estimator/array/half.h"

namespace estimator::bfloat16 {

// Whether the CPU multiplies bf16 numbers, by AMX or by AVX-512, and no limit (base/cpu/cpu_isa.h)
// excludes it.
bool IsAvailable();

// Whether AMX multiplies them (CpuIsa::kAmx).
bool HasAmx();

// Sets the shapes of the calling thread's tiles. Release forgets them, which makes switches between
// threads cheaper.
void Configure();
void Release();

// sums[32][32] (=, or += if not `first`) the products of 32 rows and two panels of 16 columns in
// pairs. A step adds up 32 products: of the numbers of the rows from offsets[step] on, and the next
// 32 of the panels.
//   distance: of the rows.  panel: of the panels.
void MultiplyTiles(const Bfloat16* rows, int64_t distance, const int64_t* offsets,
                   const Bfloat16* panels, int64_t panel, int64_t steps, bool first, float* sums);

// The same for packed rows and panels (pack_operand.h), whose steps follow each other.
//   splits: whether both have two parts. Then three of the four products are added.
//   count: how many of the 32 rows have sums. Those of the others are undefined.
void MultiplyRows(const Bfloat16* rows, int64_t distance, const Bfloat16* panels, int64_t panel,
                  int64_t steps, bool splits, bool first, int64_t count, float* sums);

}  // namespace estimator::bfloat16

#endif  // ESTIMATOR_KERNELS_BFLOAT16_TILES_H_
