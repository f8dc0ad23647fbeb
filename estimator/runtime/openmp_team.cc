#include "estimator/runtime/openmp_team.h"

#include <omp.h>

#include <algorithm>

#include "estimator/base/status.h"

namespace estimator {
namespace {

// Read before main, because omp_set_num_threads changes the value of the thread that calls it.
const int initial_max_threads = omp_get_max_threads();

}  // namespace

int OpenMpTeam::Size() { return std::clamp(omp_get_thread_limit(), 1, initial_max_threads); }

OpenMpTeam::OpenMpTeam()
    : threads_(omp_get_max_threads()),
      dynamic_(omp_get_dynamic()),
      levels_(omp_get_max_active_levels()) {
  omp_set_num_threads(Size());
  // OMP_DYNAMIC makes teams smaller while the machine is busy.
  omp_set_dynamic(0);
  // With OMP_MAX_ACTIVE_LEVELS=0, each team has one thread.
  if (levels_ < 1) omp_set_max_active_levels(1);
}

OpenMpTeam::~OpenMpTeam() {
  omp_set_num_threads(threads_);
  omp_set_dynamic(dynamic_);
  if (levels_ < 1) omp_set_max_active_levels(levels_);
}

absl::Status OpenMpTeam::status() const {
  // A team of one runs its kernels right everywhere.
  if (omp_in_parallel() == 0 || Size() == 1) return absl::OkStatus();
  return FailedPrecondition(
      "a step cannot run in a parallel region of OpenMP, where its kernels would get one thread "
      "and not ",
      Size(), ": call it outside the region, or from threads that are not OpenMP's");
}

}  // namespace estimator
