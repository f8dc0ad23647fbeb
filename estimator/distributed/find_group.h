// Which process of a run this one is, as launchers say it in the environment.
#ifndef ESTIMATOR_DISTRIBUTED_FIND_GROUP_H_
#define ESTIMATOR_DISTRIBUTED_FIND_GROUP_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "estimator/distributed/join_group.h"

namespace estimator {

// The value of an environment variable; null if it is not set. Usually ::getenv.
using Environment = std::function<const char*(const char* name)>;

// Set by our launcher for its processes: the descriptor of the socket at which the chief listens;
// -1 for the others.
inline constexpr char kLaunchedVariable[] = "ESTIMATOR_LAUNCHED";
// The token, if --rendezvous_token is not given. Other users of the machine see a command line.
inline constexpr char kTokenVariable[] = "ESTIMATOR_RENDEZVOUS_TOKEN";

// A token that nobody can guess.
std::string NewToken();

// What is known of the group before the environment is asked: by flags. A rank of -1 and a size of
// 0 are not given.
struct GivenGroup {
  int rank = -1;
  int size = 0;
  std::string rendezvous = "";
  std::string token = "";
};

// Finds rank, size and rendezvous. The first that says them counts:
//   1. our launcher (kLaunchedVariable)
//   2. `given`
//   3. `cluster`, that of TF_CONFIG, if it has one
//   4. RANK and WORLD_SIZE; OMPI_COMM_WORLD_RANK and _SIZE (Open MPI); PMI_RANK and PMI_SIZE
//      (MPICH, Intel MPI); SLURM_PROCID and SLURM_STEP_NUM_TASKS (srun), if the size is above 1
//   5. a single process
// The chief is at given.rendezvous; else at MASTER_ADDR and MASTER_PORT (29500); else, if all
// processes are on this machine, at a port that depends on the launcher's process; else, under
// Slurm, on the first node of the step, at a port that depends on the job.
//   parent_process: the id of the launcher.
// Errors: INVALID_ARGUMENT if a part is missing or is no number, with the variable or the flag.
absl::StatusOr<GroupOptions> FindGroup(const GivenGroup& given,
                                       const std::optional<GroupOptions>& cluster,
                                       const Environment& environment, int64_t parent_process);

}  // namespace estimator

#endif  // ESTIMATOR_DISTRIBUTED_FIND_GROUP_H_
