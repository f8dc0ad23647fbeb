// Names of masters: which devices a RunConfig's `master` means, and the job of the TPU's workers.
#ifndef TPU_CLUSTER_MASTER_NAME_H_
#define TPU_CLUSTER_MASTER_NAME_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace estimator::tpu {

// A master "pjrt:/lib/libtpu.so" is the PJRT plugin of this machine that drives the devices.
inline constexpr char kPluginPrefix[] = "pjrt:";
bool IsPluginMaster(const std::string& master);

// Whether replicas run in this process: TensorFlow's local masters, "" and "local".
bool IsLocalMaster(const std::string& master);

// The job of the TPU's workers in the names of devices.
//   tpu_job_name: TPUConfig's, which wins if it is not empty.
//   cluster_spec: job -> addresses; may be empty.
// Returns "" for a local master and for a plugin; "tpu_worker" without a cluster; the only job of
// the cluster, or the one beside "coordinator".
// Errors: INVALID_ARGUMENT if the jobs leave a choice, or if one of them is "tpu_worker".
// Source: TF 2.15 tpu_system_metadata.master_job.
absl::StatusOr<std::string> TPUJobName(
    const std::string& master, const std::map<std::string, std::vector<std::string>>& cluster_spec,
    const std::string& tpu_job_name);

// The error for a TPU on another machine. It says how to run on it instead.
//   source: where the address is from: "TPU_NAME".
absl::Status CannotDrive(const std::string& master, const std::string& source);

}  // namespace estimator::tpu

#endif  // TPU_CLUSTER_MASTER_NAME_H_
