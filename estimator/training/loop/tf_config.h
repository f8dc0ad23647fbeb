// TF_CONFIG: the environment variable, JSON, in which a cluster manager tells a process what it is.
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

namespace estimator {

// What TF_CONFIG says of this process. The default is a process on its own.
// Source: TF 2.15 tf.estimator.RunConfig, its derived properties.
struct TaskConfig {
  std::map<std::string, std::vector<std::string>> cluster_spec = {};  // job -> addresses
  std::string task_type = "worker";
  int64_t task_id = 0;
  bool is_chief = true;
  std::string master = "";  // "" is this process
  std::string evaluation_master = "";
  int64_t num_ps_replicas = 0;
  int64_t num_worker_replicas = 1;  // the chief among them
  // Chief 0, then the other jobs in alphabetical order, ps last; none for an evaluator.
  std::optional<int64_t> global_id_in_cluster = 0;
  std::optional<std::string> model_dir = std::nullopt;
};

// Of an empty string: the default.
// Errors: INVALID_ARGUMENT naming what is wrong with the JSON, the cluster or the task.
absl::StatusOr<TaskConfig> ParseTfConfig(absl::string_view json);

// Of the environment variable TF_CONFIG.
absl::StatusOr<TaskConfig> TaskConfigFromEnvironment();

// Whether this process may train. It trains alone, so the cluster must have no other that does.
// Errors: INVALID_ARGUMENT for an evaluator or a ps; UNIMPLEMENTED for a cluster of several.
absl::Status CheckMayTrain(const TaskConfig& task);

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_LOOP_TF_CONFIG_H_
