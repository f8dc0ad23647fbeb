// Kills processes of a program that trains in several (docs/cluster.md), at random instants.
#ifndef TOOLS_KILL_TEST_KILL_RANKS_H_
#define TOOLS_KILL_TEST_KILL_RANKS_H_

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace estimator::kill_test {

// Starts a program: its path and its arguments.
absl::StatusOr<pid_t> StartProcess(const std::vector<std::string>& words);

struct KillRanksOptions {
  // The program with its arguments, as for /bin/sh, without --model_dir and --num_processes.
  std::string command;
  std::vector<int> num_processes;  // of the rounds, in turn
  int64_t kills = 0;
  std::function<double()> random;  // numbers in [0, 1)
};

// Runs the program alone, and then rounds of it with --num_processes and --max_restarts, each in a
// folder of its own. The first round of each number is undisturbed. In the others, random ranks are
// killed.
// Errors: DATA_LOSS if the files of the last checkpoint of a round have other bytes than those of
// the program alone; INTERNAL, with the end of its output, if a round ends with an error, does not
// end, or leaves a process behind.
absl::Status KillRanks(const std::string& folder, const KillRanksOptions& options);

}  // namespace estimator::kill_test

#endif  // TOOLS_KILL_TEST_KILL_RANKS_H_
