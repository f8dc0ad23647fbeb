#include "estimator/base/testing/memory.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "estimator/base/testing/child_memory.h"
#include "gtest/gtest.h"

namespace estimator::testing {

void ExpectGrowthBelow(int64_t grown_bytes, int64_t bound_bytes) {
  if (kMemoryIsTrue) {
    EXPECT_LT(grown_bytes, bound_bytes) << "growth of the process in bytes, and its bound";
  } else {
    std::printf("under a sanitizer the growth, %ld bytes, is not compared\n",
                static_cast<long>(grown_bytes));
  }
}

void PutTempDirsIntoMemory() {
  if (::access("/dev/shm", W_OK) == 0) ::setenv("TEST_TMPDIR", "/dev/shm", /*overwrite=*/1);
}

}  // namespace estimator::testing
