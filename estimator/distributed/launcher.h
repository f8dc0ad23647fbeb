// Starts the processes of a run on this machine: copies of this program (--num_processes).
#ifndef ESTIMATOR_DISTRIBUTED_LAUNCHER_H_
#define ESTIMATOR_DISTRIBUTED_LAUNCHER_H_

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace estimator {

struct LaunchOptions {
  int num_processes = 1;
  // How often all are started again after one has failed. The program continues from its newest
  // checkpoint. Not after a wrong command line (2) or an interrupt (130).
  int max_restarts = 0;
  // After one has failed: the time that the others have to end by themselves. They notice within a
  // second that one died.
  double time_to_end_secs = 10;
  // The program and its arguments. Empty: those of this process.
  std::vector<std::string> command = {};
};

// Runs the processes and waits for their end.
// - Each gets its rank, and the others' address and a new token, in its environment
//   (find_group.h). The address is that of the loopback interface.
// - The cores that this process may use are divided among them, and each is pinned to its own.
//   Where there are fewer cores than processes, none is pinned. OMP_NUM_THREADS is set accordingly,
//   unless it is set already.
// - Lines of their output begin with the rank, as in "[1] ", but those of stdout of rank 0.
// - SIGINT, SIGTERM and SIGHUP are forwarded, and so is the SIGPIPE of output that nobody reads.
//   The processes are not in this process's group, so Ctrl-C arrives once.
// - If one fails, the others have time_to_end_secs to end by themselves, and are killed then.
//   Rank 0, which may be saving, has ten minutes more unless it is stopped. They are also killed if
//   this process is killed.
// Returns OK if all ended with 0; else an error that names the rank that failed first, with its
// exit code (base/exit_code.h); 128 + N for a signal N.
// Errors: also UNAVAILABLE if a process cannot be started.
absl::Status RunProcesses(const LaunchOptions& options);

// Divides cores into `num_processes` parts of equal size; what is left over is not used. Empty if
// there are fewer cores than processes.
std::vector<std::vector<int>> DivideCores(const std::vector<int>& cores, int num_processes);

}  // namespace estimator

#endif  // ESTIMATOR_DISTRIBUTED_LAUNCHER_H_
