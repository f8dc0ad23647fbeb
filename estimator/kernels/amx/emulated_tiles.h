// The products of tiles.h by plain loops, for tests on CPUs without AMX. As in AMX, denormal numbers
// count as 0.
#ifndef ESTIMATOR_KERNELS_AMX_EMULATED_TILES_H_
#define ESTIMATOR_KERNELS_AMX_EMULATED_TILES_H_

#include <cstdint>

#include "estimator/array/half.h"

namespace estimator::amx {

// sums[32][32] += the products of 32 rows of 32 numbers and two panels of 16 pairs of columns.
//   distance: of the rows.  panel: of the panels.
void AddEmulatedProducts(const Bfloat16* rows, int64_t distance, const Bfloat16* panels,
                         int64_t panel, float* sums);

}  // namespace estimator::amx

#endif  // ESTIMATOR_KERNELS_AMX_EMULATED_TILES_H_
