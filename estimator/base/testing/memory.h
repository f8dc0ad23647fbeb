// For tests that bound the memory of a process over many rounds.
#ifndef ESTIMATOR_BASE_TESTING_MEMORY_H_
#define ESTIMATOR_BASE_TESTING_MEMORY_H_

#include <cstdint>

namespace estimator::testing {

// EXPECT_LT(grown_bytes, bound_bytes). Under a sanitizer it only prints that the growth is not
// compared (kMemoryIsTrue in base/testing/child_memory.h).
void ExpectGrowthBelow(int64_t grown_bytes, int64_t bound_bytes);

// Creates all later TempDirs in memory (/dev/shm) if possible. Saving a checkpoint to a disk syncs
// ten times, which takes 20 to 70 ms.
void PutTempDirsIntoMemory();

}  // namespace estimator::testing

#endif  // ESTIMATOR_BASE_TESTING_MEMORY_H_
