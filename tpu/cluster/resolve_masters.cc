#include "tpu/cluster/resolve_masters.h"

#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "tpu/cluster/detect_accelerator.h"
#include "tpu/cluster/master_name.h"

namespace estimator::tpu {
namespace {

absl::Status CheckDrivable(const std::string& master, const std::string& source) {
  if (IsLocalMaster(master) || IsPluginMaster(master)) return absl::OkStatus();
  return CannotDrive(master, source);
}

// Takes master and num_shards of the TPU of this machine.
absl::Status UseLocalTPU(const TPUClusterResolver& resolver, RunConfig& config) {
  EST_ASSIGN_OR_RETURN(const Accelerator accelerator,
                       DetectAccelerator({.tpu = "local", .machine = resolver.machine}));
  const std::optional<int64_t> wanted = config.tpu_config.num_shards;
  if (wanted.has_value() && *wanted != accelerator.num_replicas) {
    return InvalidArgument("TPUConfig.num_shards is ", *wanted, ", but the TPU (",
                           accelerator.description, ") has ", accelerator.num_replicas,
                           " replicas; set it to that, or leave it out");
  }
  accelerator.Configure(config);
  return absl::OkStatus();
}

}  // namespace

absl::Status ResolveMasters(const TaskConfig& task, RunConfig& config) {
  std::string source = "RunConfig.master";
  std::map<std::string, std::vector<std::string>> cluster_spec;
  if (config.cluster.has_value()) {
    if (!config.master.empty()) {
      return InvalidArgument(
          "RunConfig: master (\"", config.master,
          "\") and cluster are both given, and both choose the TPU; leave one out");
    }
    EST_ASSIGN_OR_RETURN(const TPUCluster cluster, config.cluster->Resolve());
    if (cluster.local) {
      EST_RETURN_IF_ERROR(UseLocalTPU(*config.cluster, config));
    } else {
      config.master = cluster.Master();
      cluster_spec = cluster.ClusterSpec(config.cluster->job_name);
      source = absl::StrCat("RunConfig.cluster: ", cluster.source);
    }
  } else if (config.master.empty() && !task.master.empty()) {
    config.master = task.master;
    source = "TF_CONFIG";
  }
  if (config.evaluation_master.empty()) {
    // As in TensorFlow, TF_CONFIG decides for an evaluator. Without one, a program evaluates where
    // it trains.
    config.evaluation_master = !task.evaluation_master.empty() ? task.evaluation_master
                               : task.task_type == "evaluator" ? ""
                                                               : config.master;
  }
  std::string& job = config.tpu_config.tpu_job_name;
  if (job.empty()) job = task.tpu_worker_job_name;
  EST_ASSIGN_OR_RETURN(job, TPUJobName(config.master, cluster_spec, job));

  EST_RETURN_IF_ERROR(CheckDrivable(config.master, source));
  EST_RETURN_IF_ERROR(CheckDrivable(config.evaluation_master, "RunConfig.evaluation_master"));
  const std::string& evaluation = config.evaluation_master;
  const bool same = evaluation.empty() || evaluation == config.master ||
                    (IsLocalMaster(evaluation) && IsLocalMaster(config.master));
  if (!same) {
    return Unimplemented(
        "RunConfig.evaluation_master is \"", evaluation, "\", but master is \"", config.master,
        "\", and one program runs on the devices of one master; leave evaluation_master out");
  }
  return absl::OkStatus();
}

absl::Status ResolveMasters(RunConfig& config) {
  EST_ASSIGN_OR_RETURN(const TaskConfig task, TaskConfigFromEnvironment());
  return ResolveMasters(task, config);
}

}  // namespace estimator::tpu
