// The flags of a run in several processes. run_config_flags.cc uses them, so every program that has
// the flags of RunConfig has these too.
#ifndef MODELS_COMMON_GROUP_FLAGS_H_
#define MODELS_COMMON_GROUP_FLAGS_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "estimator/distributed/process_group.h"

namespace estimator {

// What is wrong with the flags, such as "--max_restarts must be >= 0, given -1". Empty: nothing.
std::vector<std::string> GroupFlagProblems();

// With --num_processes: starts the processes, and returns when they have ended: a FinishedEarly
// (base/exit_code.h), or an error with the exit code of the rank that failed first. In a
// process of a group: joins it, once per program. Otherwise returns OK at once.
// Errors: a UsageError for flags or an environment that contradict themselves; those of JoinGroup.
absl::Status StartOrJoinGroup();

// The group that this process has joined. Null: this is the only process.
std::shared_ptr<ProcessGroup> GroupOfThisProcess();

// --peer_timeout_secs.
double PeerTimeoutSecsFromFlags();

}  // namespace estimator

#endif  // MODELS_COMMON_GROUP_FLAGS_H_
