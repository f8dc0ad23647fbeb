#include "estimator/base/testing/memory.h"

#include <unistd.h>

#include "estimator/base/testing/child_memory.h"
#include "estimator/base/testing/temp_dir.h"
#include "gtest/gtest-spi.h"
#include "gtest/gtest.h"

namespace estimator::testing {
namespace {

TEST(ExpectGrowthBelow, FailsAtTheBound) {
  ExpectGrowthBelow(99, 100);
  if (kMemoryIsTrue) EXPECT_NONFATAL_FAILURE(ExpectGrowthBelow(100, 100), "growth of the process");
}

TEST(PutTempDirsIntoMemory, MovesThemWhereThereIsSuchAPlace) {
  PutTempDirsIntoMemory();
  const TempDir dir;
  EXPECT_EQ(dir.path().rfind("/dev/shm/", 0) == 0, ::access("/dev/shm", W_OK) == 0) << dir.path();
}

}  // namespace
}  // namespace estimator::testing
