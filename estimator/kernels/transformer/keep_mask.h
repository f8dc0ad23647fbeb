// Draws the mask of a dropout, vectorised for the CPU at run time.
#ifndef ESTIMATOR_KERNELS_TRANSFORMER_KEEP_MASK_H_
#define ESTIMATOR_KERNELS_TRANSFORMER_KEEP_MASK_H_

#include <cstdint>

namespace estimator::transformer {

// The number of elements that KeepMaskBlocks computes at once.
inline constexpr int64_t kMaskBlock = 64;

// Writes the blocks [begin, end) of a mask, kMaskBlock bytes each: 1 where the low 23 bits of the
// element's random number are `threshold` or more, else 0. Element i has word i % 4 of Philox
// result i / 4.
//   key, counter_low, counter_high: the stream. The lower half of the counter must not overflow.
//   mask: bool [end * kMaskBlock]; the elements of the blocks before `begin` are not written.
void KeepMaskBlocks(uint64_t key, uint64_t counter_low, uint64_t counter_high, uint32_t threshold,
                    int64_t begin, int64_t end, uint8_t* mask);

}  // namespace estimator::transformer

#endif  // ESTIMATOR_KERNELS_TRANSFORMER_KEEP_MASK_H_
