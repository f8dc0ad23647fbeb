// Joins the processes that train one model, on one machine or on several.
#ifndef ESTIMATOR_DISTRIBUTED_JOIN_GROUP_H_
#define ESTIMATOR_DISTRIBUTED_JOIN_GROUP_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "estimator/distributed/process_group.h"

namespace estimator {

struct GroupOptions {
  int rank = 0;  // 0 is the chief
  int size = 1;
  // Where the others find the chief: HOST:PORT, or a folder that all processes share. With a folder
  // the chief takes a free port, and writes its address to the file `rendezvous` in it until all
  // have arrived.
  std::string rendezvous = "";
  // What a process must know to be let in. "": only the file, or nothing, protects the group.
  std::string token = "";
  // Time until all have arrived, and until a process that does not answer is an error. The error of
  // one that died comes within a second.
  double peer_timeout_secs = 30;
  // Of rank 0: a socket that already listens at the port of `rendezvous`. The group closes it. -1:
  // none.
  int listener_fd = -1;
  // False: processes of one machine also sum through Gloo. For tests and benchmarks.
  bool use_shared_memory = true;
};

// Returns when all processes have arrived. A size of 1 is SingleProcess().
// Errors: INVALID_ARGUMENT for a rank or a rendezvous that cannot be. FAILED_PRECONDITION if the
// chief refuses this process. UNAVAILABLE or DEADLINE_EXCEEDED, with the missing ranks, after
// peer_timeout_secs. All but the first have the exit code of a lost peer (base/exit_code.h).
absl::StatusOr<std::unique_ptr<ProcessGroup>> JoinGroup(const GroupOptions& options);

}  // namespace estimator

#endif  // ESTIMATOR_DISTRIBUTED_JOIN_GROUP_H_
