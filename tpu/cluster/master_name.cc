#include "tpu/cluster/master_name.h"

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "estimator/base/status.h"

namespace estimator::tpu {
namespace {

constexpr char kDefaultJob[] = "tpu_worker";
constexpr char kCoordinatorJob[] = "coordinator";

}  // namespace

bool IsPluginMaster(const std::string& master) { return absl::StartsWith(master, kPluginPrefix); }

bool IsLocalMaster(const std::string& master) { return master.empty() || master == "local"; }

absl::StatusOr<std::string> TPUJobName(
    const std::string& master, const std::map<std::string, std::vector<std::string>>& cluster_spec,
    const std::string& tpu_job_name) {
  if (!tpu_job_name.empty()) return tpu_job_name;
  if (IsLocalMaster(master) || IsPluginMaster(master)) return "";
  if (cluster_spec.empty()) return kDefaultJob;
  std::vector<std::string> jobs, workers;
  for (const auto& [job, addresses] : cluster_spec) {
    jobs.push_back(job);
    // The only job of a cluster has the workers, whatever its name is.
    if (job != kCoordinatorJob || cluster_spec.size() == 1) workers.push_back(job);
  }
  const bool reserved = cluster_spec.count(kDefaultJob) > 0;
  if (!reserved && workers.size() == 1) return workers[0];
  return InvalidArgument(
      "the job of the TPU's workers cannot be told from the jobs of the cluster (",
      absl::StrJoin(jobs, ", "), ")",
      reserved ? ", of which \"tpu_worker\" is not an allowed name" : "",
      "; name it in TPUConfig.tpu_job_name");
}

absl::Status CannotDrive(const std::string& master, const std::string& source) {
  return Unimplemented(
      "the TPU at ", master, " (from ", source,
      ") is on another machine, and this program only drives devices of its own machine. Run it on "
      "the TPU VM itself with --master=pjrt:/path/libtpu.so (or --use_tpu=auto, which finds it), "
      "or leave the address out to run on replicas in this process");
}

}  // namespace estimator::tpu
