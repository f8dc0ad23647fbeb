// Tiles: the registers of AMX, and products of them. The functions are compiled for AVX-512 and AMX
// whatever the flags are. REQUIRES of all but IsAvailable: IsAvailable().
#ifndef ESTIMATOR_KERNELS_AMX_TILES_H_
#define ESTIMATOR_KERNELS_AMX_TILES_H_

#include <cstdint>

#include "estimator/array/half.h"

namespace estimator::amx {

// Whether the CPU has AMX for bf16 and the system lets this process use it. Asks the system for it
// in the first call. False if Highway may not use AVX-512.
bool IsAvailable();

// For tests. If the CPU lacks AMX only, plain loops compute the products from now on. Returns
// IsAvailable().
bool EmulateIfAbsent();

// Sets the shapes of the calling thread's tiles. Release forgets them, which makes switches between
// threads cheaper.
void Configure();
void Release();

// sums[32][32] (=, or += if not `first`) the products of 32 rows and two panels of 16 columns in
// pairs. A step adds up 32 products: of the numbers of the rows from offsets[step] on, and the next 32
// of the panels.
//   distance: of the rows.  panel: of the panels.
void MultiplyTiles(const Bfloat16* rows, int64_t distance, const int64_t* offsets,
                   const Bfloat16* panels, int64_t panel, int64_t steps, bool first, float* sums);

// The same for packed rows and panels (pack_operand.h), whose steps follow each other.
//   splits: whether both have two parts. Then three of the four products are added.
void MultiplyRows(const Bfloat16* rows, int64_t distance, const Bfloat16* panels, int64_t panel,
                  int64_t steps, bool splits, bool first, float* sums);

}  // namespace estimator::amx

#endif  // ESTIMATOR_KERNELS_AMX_TILES_H_
