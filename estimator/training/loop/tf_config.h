// TF_CONFIG: an environment variable in JSON. A cluster manager sets it to tell a process its role.
//
//   {"cluster": {"chief": ["host0:2222"], "worker": ["host1:2222"], "ps": ["host2:2222"]},
//    "task": {"type": "worker", "index": 0}, "model_dir": "/shared/model"}
#ifndef ESTIMATOR_TRAINING_LOOP_TF_CONFIG_H_
#define ESTIMATOR_TRAINING_LOOP_TF_CONFIG_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/distributed/join_group.h"

namespace estimator {

// The role of this process. The default is a process without a cluster.
// Source: TF 2.15 tf.estimator.RunConfig, its derived properties.
struct TaskConfig {
  std::map<std::string, std::vector<std::string>> cluster_spec = {};  // job -> addresses
  std::string task_type = "worker";
  int64_t task_id = 0;
  bool is_chief = true;
  std::string master = "";  // "" is this process
  std::string evaluation_master = "";
  int64_t num_ps_replicas = 0;
  int64_t num_worker_replicas = 1;  // including the chief
  // The chief has 0, then come the other jobs in alphabetical order, with ps last. An evaluator has
  // none.
  std::optional<int64_t> global_id_in_cluster = 0;
  std::optional<std::string> model_dir = std::nullopt;
  std::string tpu_worker_job_name = "";  // of `service`; "" if it is not given
};

// Parses the value of TF_CONFIG. An empty string gives the default.
// Errors: INVALID_ARGUMENT that says what is wrong with the JSON, the cluster or the task.
absl::StatusOr<TaskConfig> ParseTfConfig(absl::string_view json);

// Parses the environment variable TF_CONFIG.
absl::StatusOr<TaskConfig> TaskConfigFromEnvironment();

// The group of processes that train, as the cluster says it: rank 0 is the chief, then come the
// workers, and they meet at the chief's address. An evaluator is alone. nullopt if there is no
// cluster, or if it has parameter servers, which CheckMayTrain refuses.
std::optional<GroupOptions> GroupOfTask(const TaskConfig& task);

// Whether this process may train.
//   num_processes: those that train together (RunConfig.process_group).
// Errors: INVALID_ARGUMENT for an evaluator or a ps, or if the cluster has another number of tasks
// that train, and more than one; UNIMPLEMENTED if it has parameter servers.
absl::Status CheckMayTrain(const TaskConfig& task, int num_processes = 1);

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_LOOP_TF_CONFIG_H_
