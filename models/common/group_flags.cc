#include "models/common/group_flags.h"

#include <gflags/gflags.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <optional>

#include "absl/strings/str_cat.h"
#include "estimator/base/exit_code.h"
#include "estimator/base/status.h"
#include "estimator/base/usage_error.h"
#include "estimator/distributed/find_group.h"
#include "estimator/distributed/join_group.h"
#include "estimator/distributed/launcher.h"
#include "estimator/training/task_config.h"

DECLARE_string(model_dir);

DEFINE_int32(
    num_processes, 0,
    "start so many copies of this program on this machine, which train one model; 0: none");
DEFINE_int32(max_restarts, 0,
             "with --num_processes: how often to start all processes again after one has failed");
DEFINE_int32(rank, -1, "the number of this process among those that train one model; 0: the chief");
DEFINE_int32(world_size, 0,
             "the number of processes that train one model; by default what TF_CONFIG, RANK and "
             "WORLD_SIZE, MPI or Slurm say");
DEFINE_string(rendezvous, "",
              "where the processes meet: HOST:PORT of the chief, or a folder that all share");
DEFINE_string(rendezvous_token, "",
              "a word that all processes of a run must know; by default the environment variable "
              "ESTIMATOR_RENDEZVOUS_TOKEN");
DEFINE_double(peer_timeout_secs, 30,
              "seconds until a process that does not arrive or does not answer ends the run");

namespace estimator {
namespace {

std::shared_ptr<ProcessGroup>& JoinedGroup() {
  static std::shared_ptr<ProcessGroup> group;
  return group;
}

bool WasLaunched() { return getenv(kLaunchedVariable) != nullptr; }

absl::StatusOr<GroupOptions> GroupFromFlags() {
  EST_ASSIGN_OR_RETURN(const TaskConfig task, TaskConfigFromEnvironment());
  const GivenGroup given = {.rank = FLAGS_rank,
                            .size = FLAGS_world_size,
                            .rendezvous = FLAGS_rendezvous,
                            .token = FLAGS_rendezvous_token};
  EST_ASSIGN_OR_RETURN(GroupOptions group,
                       FindGroup(given, GroupOfTask(task), &::getenv, ::getppid()));
  group.peer_timeout_secs = FLAGS_peer_timeout_secs;
  return group;
}

}  // namespace

std::vector<std::string> GroupFlagProblems() {
  std::vector<std::string> problems;
  if (FLAGS_num_processes < 0 || FLAGS_num_processes > 4096) {
    problems.push_back(
        absl::StrCat("--num_processes must be from 0 to 4096, given ", FLAGS_num_processes));
  }
  if (FLAGS_max_restarts < 0)
    problems.push_back(absl::StrCat("--max_restarts must be >= 0, given ", FLAGS_max_restarts));
  if (FLAGS_max_restarts > 0 && FLAGS_num_processes == 0)
    problems.push_back("--max_restarts: needs --num_processes, which starts the processes");
  if (FLAGS_max_restarts > 0 && FLAGS_model_dir.empty()) {
    problems.push_back(
        "--max_restarts: needs --model_dir, because processes that are started again continue "
        "from its newest checkpoint");
  }
  if (FLAGS_num_processes > 0 &&
      (FLAGS_rank >= 0 || FLAGS_world_size > 0 || !FLAGS_rendezvous.empty())) {
    problems.push_back(
        "--num_processes: is given with --rank, --world_size or --rendezvous, which are for "
        "processes that are started one by one; leave one out");
  }
  if (!(FLAGS_peer_timeout_secs > 0) || !std::isfinite(FLAGS_peer_timeout_secs)) {
    problems.push_back(absl::StrCat("--peer_timeout_secs must be a positive number, given ",
                                    FLAGS_peer_timeout_secs));
  }
  return problems;
}

absl::Status StartOrJoinGroup() {
  if (JoinedGroup() != nullptr) return absl::OkStatus();
  if (FLAGS_num_processes > 0 && !WasLaunched()) {
    EST_RETURN_IF_ERROR(
        RunProcesses({.num_processes = FLAGS_num_processes, .max_restarts = FLAGS_max_restarts}));
    return FinishedEarly("all processes have ended");
  }
  const absl::StatusOr<GroupOptions> options = GroupFromFlags();
  if (!options.ok()) return AsUsageError(options.status());
  if (options->size == 1) return absl::OkStatus();
  absl::StatusOr<std::unique_ptr<ProcessGroup>> group = JoinGroup(*options);
  if (absl::IsInvalidArgument(group.status()))
    return AsUsageError(Annotate(group.status(), "--rendezvous"));
  EST_RETURN_IF_ERROR(group.status());
  JoinedGroup() = *std::move(group);
  return absl::OkStatus();
}

std::shared_ptr<ProcessGroup> GroupOfThisProcess() { return JoinedGroup(); }

double PeerTimeoutSecsFromFlags() { return FLAGS_peer_timeout_secs; }

}  // namespace estimator
