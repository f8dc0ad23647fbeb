#include "estimator/runtime/openmp_team.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <omp.h>

#include <string>

#include "absl/status/status.h"

namespace estimator {
namespace {

int TeamOfARegion() {
  int threads = 0;
#pragma omp parallel
#pragma omp single
  threads = omp_get_num_threads();
  return threads;
}

TEST(OpenMpTeam, HasTheSizeOfTheStartWhateverTheCallerSet) {
  const int before = omp_get_max_threads();
  for (const int threads : {1, 2, 7}) {
    omp_set_num_threads(threads);
    omp_set_dynamic(1);
    {
      const OpenMpTeam team;
      EXPECT_EQ(omp_get_max_threads(), OpenMpTeam::Size());
      EXPECT_EQ(TeamOfARegion(), OpenMpTeam::Size());
      EXPECT_TRUE(team.status().ok());
    }
    EXPECT_EQ(omp_get_max_threads(), threads);
    EXPECT_EQ(omp_get_dynamic(), 1);
  }
  omp_set_dynamic(0);
  omp_set_num_threads(before);
}

TEST(OpenMpTeam, HasItsSizeWithoutActiveLevels) {
  const int before = omp_get_max_active_levels();
  omp_set_max_active_levels(0);
  {
    const OpenMpTeam team;
    EXPECT_EQ(TeamOfARegion(), OpenMpTeam::Size());
  }
  EXPECT_EQ(omp_get_max_active_levels(), 0);
  omp_set_max_active_levels(before);
}

TEST(OpenMpTeam, RefusesAParallelRegionOfTheCaller) {
  if (OpenMpTeam::Size() == 1) GTEST_SKIP() << "OMP_NUM_THREADS is 1";
  absl::Status status;
#pragma omp parallel num_threads(2)
#pragma omp master
  status = OpenMpTeam().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("outside the region"));
}

}  // namespace
}  // namespace estimator
