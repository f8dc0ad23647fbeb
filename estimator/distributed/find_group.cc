#include "estimator/distributed/find_group.h"

#include <sys/random.h>

#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "estimator/base/status.h"
#include "glog/logging.h"

namespace estimator {
namespace {

struct Launcher {
  const char* rank;
  const char* size;
  const char* local_size;  // processes on this machine; null: the launcher does not say it
};
constexpr Launcher kLaunchers[] = {
    {"RANK", "WORLD_SIZE", nullptr},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS"},
    // SLURM_NTASKS is set in a batch script too, which is one process.
    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", nullptr},
};
constexpr int64_t kPyTorchPort = 29500;

std::string ValueOf(const Environment& environment, const char* name) {
  const char* const value = environment(name);
  return value == nullptr ? "" : value;
}

absl::StatusOr<int64_t> NumberOf(const Environment& environment, const char* name,
                                 int64_t if_not_set) {
  const std::string text = ValueOf(environment, name);
  int64_t number = if_not_set;
  if (!text.empty() && !absl::SimpleAtoi(text, &number))
    return InvalidArgument("the environment variable ", name, " must be a number, it is \"", text,
                           "\"");
  return number;
}

// A port that all processes of a launcher compute, and those of others rarely.
int64_t PortOf(int64_t number) { return 20000 + number % 10000; }

// The first name of Slurm's list, such as "node[03-07,12],big1".
std::string FirstNode(absl::string_view list) {
  const size_t end = list.find_first_of(",[");
  std::string node(list.substr(0, end));
  if (end == absl::string_view::npos || list[end] == ',') return node;
  for (const char c : list.substr(end + 1)) {
    if (!absl::ascii_isdigit(c)) break;
    node += c;
  }
  return node;
}

absl::StatusOr<std::string> Rendezvous(const Launcher& launcher, const GroupOptions& group,
                                       const Environment& environment, int64_t parent_process) {
  if (const std::string host = ValueOf(environment, "MASTER_ADDR"); !host.empty()) {
    EST_ASSIGN_OR_RETURN(const int64_t port, NumberOf(environment, "MASTER_PORT", kPyTorchPort));
    return absl::StrCat(host, ":", port);
  }
  if (launcher.local_size != nullptr) {
    EST_ASSIGN_OR_RETURN(const int64_t local, NumberOf(environment, launcher.local_size, 0));
    if (local == group.size) return absl::StrCat("127.0.0.1:", PortOf(parent_process));
  }
  if (const std::string nodes = ValueOf(environment, "SLURM_STEP_NODELIST"); !nodes.empty()) {
    EST_ASSIGN_OR_RETURN(const int64_t job, NumberOf(environment, "SLURM_JOB_ID", 0));
    EST_ASSIGN_OR_RETURN(const int64_t step, NumberOf(environment, "SLURM_STEP_ID", 0));
    return absl::StrCat(FirstNode(nodes), ":", PortOf(job * 16 + step));
  }
  return InvalidArgument(launcher.rank, " and ", launcher.size, " say that this is process ",
                         group.rank, " of ", group.size,
                         ", but not where the chief is; set MASTER_ADDR and MASTER_PORT, or pass "
                         "--rendezvous=HOST:PORT or a folder that all processes share");
}

}  // namespace

std::string NewToken() {
  char bytes[16] = {};
  CHECK_EQ(::getrandom(bytes, sizeof(bytes), 0), static_cast<ssize_t>(sizeof(bytes)));
  return absl::BytesToHexString({bytes, sizeof(bytes)});
}

absl::StatusOr<GroupOptions> FindGroup(const GivenGroup& given,
                                       const std::optional<GroupOptions>& cluster,
                                       const Environment& environment, int64_t parent_process) {
  GroupOptions group;
  group.token = given.token.empty() ? ValueOf(environment, kTokenVariable) : given.token;
  group.rendezvous = given.rendezvous;
  const bool launched = environment(kLaunchedVariable) != nullptr;
  if (!launched && (given.rank >= 0 || given.size > 0)) {
    if (given.rank < 0 || given.size <= 0) {
      return InvalidArgument("--rank and --world_size must be given together, and --",
                             given.rank < 0 ? "rank" : "world_size", " is missing");
    }
    if (given.rank >= given.size) {
      return InvalidArgument("--rank must be from 0 to --world_size - 1, given ", given.rank,
                             " of ", given.size);
    }
    if (given.size > 1 && given.rendezvous.empty()) {
      return InvalidArgument("--world_size=", given.size,
                             " needs --rendezvous: HOST:PORT of rank 0, or a folder that all "
                             "processes share");
    }
    group.rank = given.rank;
    group.size = given.size;
    return group;
  }
  if (!launched && cluster.has_value()) {
    group.rank = cluster->rank;
    group.size = cluster->size;
    if (group.rendezvous.empty()) group.rendezvous = cluster->rendezvous;
    return group;
  }
  for (const Launcher& launcher : kLaunchers) {
    EST_ASSIGN_OR_RETURN(const int64_t rank, NumberOf(environment, launcher.rank, -1));
    EST_ASSIGN_OR_RETURN(const int64_t size, NumberOf(environment, launcher.size, 0));
    // The launcher's own variables are the first ones, and say that this process is alone.
    if (launched && size == 1) return group;
    if (rank < 0 || size <= 1) continue;
    if (rank >= size) {
      return InvalidArgument("the environment variable ", launcher.rank, " is ", rank, ", but ",
                             launcher.size, " is ", size);
    }
    group.rank = static_cast<int>(rank);
    group.size = static_cast<int>(size);
    if (group.rendezvous.empty()) {
      EST_ASSIGN_OR_RETURN(group.rendezvous,
                           Rendezvous(launcher, group, environment, parent_process));
    }
    if (launched) {
      EST_ASSIGN_OR_RETURN(const int64_t fd, NumberOf(environment, kLaunchedVariable, -1));
      group.listener_fd = static_cast<int>(fd);
    }
    return group;
  }
  if (!group.rendezvous.empty()) {
    return InvalidArgument("--rendezvous needs --rank and --world_size, or a launcher that sets ",
                           "RANK and WORLD_SIZE");
  }
  return group;
}

}  // namespace estimator
