// For tests that bound the memory of a process over many rounds.
#ifndef ESTIMATOR_BASE_TESTING_MEMORY_H_
#define ESTIMATOR_BASE_TESTING_MEMORY_H_

#include <cstdint>

namespace estimator::testing {

// EXPECT_LT(grown_bytes, bound_bytes), with both in words; under a sanitizer, where memory is not
// true (base/testing/child_memory.h), prints that it is not compared.
void ExpectGrowthBelow(int64_t grown_bytes, int64_t bound_bytes);

// From now on TempDirs are in memory, if there is such a place: a checkpoint on a disk waits for it
// ten times, which takes 20 to 70 ms.
void PutTempDirsIntoMemory();

}  // namespace estimator::testing

#endif  // ESTIMATOR_BASE_TESTING_MEMORY_H_
