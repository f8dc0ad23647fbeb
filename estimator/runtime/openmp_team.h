// The OpenMP threads that plans are made for, and that they run in.
#ifndef ESTIMATOR_RUNTIME_OPENMP_TEAM_H_
#define ESTIMATOR_RUNTIME_OPENMP_TEAM_H_

#include "absl/status/status.h"

namespace estimator {

// While it lives, parallel regions that this thread starts have OpenMpTeam::Size() threads. Then
// the settings of the thread are again those of the program that called us.
// oneDNN divides work by the number of threads that it expects. In a smaller team, parts of a
// result are never computed, or a barrier waits for ever.
class OpenMpTeam {
 public:
  OpenMpTeam();
  ~OpenMpTeam();
  OpenMpTeam(const OpenMpTeam&) = delete;
  OpenMpTeam& operator=(const OpenMpTeam&) = delete;

  // OMP_NUM_THREADS, by default the number of cores, but at most OMP_THREAD_LIMIT. It is the same
  // in all threads and during the whole process.
  static int Size();
  // Errors: FAILED_PRECONDITION if this thread is in a parallel region of the caller, where oneDNN
  // would use one thread.
  absl::Status status() const;

 private:
  const int threads_, dynamic_, levels_;
};

}  // namespace estimator

#endif  // ESTIMATOR_RUNTIME_OPENMP_TEAM_H_
