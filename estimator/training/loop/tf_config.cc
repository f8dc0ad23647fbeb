#include "estimator/training/loop/tf_config.h"

#include <google/protobuf/util/json_util.h>

#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/base/status.h"
#include "estimator/proto/tf_config.pb.h"

namespace estimator {
namespace {

constexpr char kChief[] = "chief";
constexpr char kMaster[] = "master";  // the name of a chief before TensorFlow 1.4
constexpr char kWorker[] = "worker";
constexpr char kPs[] = "ps";
constexpr char kEvaluator[] = "evaluator";

template <typename... Parts>
absl::Status Invalid(const Parts&... parts) {
  return InvalidArgument("TF_CONFIG: ", parts...);
}

absl::StatusOr<proto::TfConfig> ParseJson(absl::string_view json) {
  proto::TfConfig config;
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = true;  // cluster managers add their own keys
  const auto parsed = google::protobuf::util::JsonStringToMessage(
      google::protobuf::StringPiece(json.data(), json.size()), &config, options);
  if (!parsed.ok()) {
    return Invalid("cannot be read: ", std::string(parsed.message()),
                   "; it is JSON like {\"cluster\": {\"chief\": [\"host:2222\"]}, \"task\": "
                   "{\"type\": \"chief\", \"index\": 0}}");
  }
  return config;
}

absl::StatusOr<std::map<std::string, std::vector<std::string>>> ClusterSpec(
    const proto::TfConfig& config) {
  std::map<std::string, std::vector<std::string>> cluster;
  for (const auto& [job, addresses] : config.cluster()) {
    for (const auto& address : addresses.values()) {
      if (address.string_value().empty()) {
        return Invalid("cluster job \"", job, "\": addresses are non-empty strings");
      }
      cluster[job].push_back(address.string_value());
    }
  }
  return cluster;
}

size_t Count(const TaskConfig& task, const std::string& job) {
  const auto found = task.cluster_spec.find(job);
  return found == task.cluster_spec.end() ? 0 : found->second.size();
}

int64_t GlobalId(const TaskConfig& task, const std::string& chief) {
  // TensorFlow numbers the chief first, then the other jobs by name, and parameter servers last.
  int64_t id = 0;
  std::vector<std::string> jobs = {chief};
  for (const auto& [job, addresses] : task.cluster_spec) {
    if (job != chief && job != kPs) jobs.push_back(job);
  }
  jobs.push_back(kPs);
  for (const std::string& job : jobs) {
    if (job == task.task_type) return id + task.task_id;
    id += static_cast<int64_t>(Count(task, job));
  }
  return id;
}

absl::Status SetLocalTask(const proto::TfConfig& config, TaskConfig& task) {
  if (config.has_task()) {
    if (!config.task().type().empty()) task.task_type = config.task().type();
    task.task_id = config.task().index();
  }
  // As in TensorFlow, a run without a cluster is worker 0.
  if (task.task_type != kWorker || task.task_id != 0) {
    return Invalid("without a cluster the task must be worker 0, given ", task.task_type, " ",
                   task.task_id, "; add the cluster, or remove the task");
  }
  return absl::OkStatus();
}

absl::Status SetClusterTask(const proto::TfConfig& config, TaskConfig& task) {
  if (config.task().type().empty() || !config.task().has_index()) {
    return Invalid("a cluster is given, so the task needs its type and its index");
  }
  task.task_type = config.task().type();
  task.task_id = config.task().index();
  const bool legacy = task.cluster_spec.count(kMaster) > 0;
  const std::string chief = legacy ? kMaster : kChief;
  if (legacy && (task.cluster_spec.count(kChief) > 0 || task.task_type == kEvaluator)) {
    return Invalid(
        "a cluster with the old job \"master\" has neither a chief nor an evaluator; "
        "rename \"master\" to \"chief\"");
  }
  if (Count(task, chief) != 1) {
    return Invalid("the cluster must have exactly one chief, it has ", Count(task, chief));
  }
  if (task.task_id < 0) return Invalid("the task's index must be >= 0, given ", task.task_id);

  size_t num_nodes = 0;
  for (const auto& [job, addresses] : task.cluster_spec) num_nodes += addresses.size();
  if (task.task_type == kEvaluator) {  // not part of the cluster
    task.cluster_spec.clear();
    task.is_chief = false;
    task.num_worker_replicas = 0;
    task.global_id_in_cluster = std::nullopt;
    return absl::OkStatus();
  }
  const auto job = task.cluster_spec.find(task.task_type);
  if (job == task.cluster_spec.end()) {
    return Invalid("the task's type \"", task.task_type, "\" is not a job of the cluster (",
                   absl::StrJoin(task.cluster_spec, ", ",
                                 [](std::string* out, const auto& entry) {
                                   absl::StrAppend(out, entry.first);
                                 }),
                   ")");
  }
  if (task.task_id >= static_cast<int64_t>(job->second.size())) {
    return Invalid("the task's index is ", task.task_id, ", but the job \"", task.task_type,
                   "\" has ", job->second.size(), " tasks");
  }
  task.is_chief = task.task_type == chief;
  task.num_ps_replicas = static_cast<int64_t>(Count(task, kPs));
  // The chief trains too.
  task.num_worker_replicas = static_cast<int64_t>(Count(task, kWorker) + 1);
  task.global_id_in_cluster = GlobalId(task, chief);
  // As in TensorFlow, the only node of a cluster needs no server.
  if (num_nodes > 1) task.master = absl::StrCat("grpc://", job->second[task.task_id]);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<TaskConfig> ParseTfConfig(absl::string_view json) {
  TaskConfig task;
  if (json.empty()) return task;
  EST_ASSIGN_OR_RETURN(const proto::TfConfig config, ParseJson(json));
  if (config.has_model_dir()) {
    if (config.model_dir().empty()) return Invalid("model_dir must be non-empty when it is given");
    task.model_dir = config.model_dir();
  }
  EST_ASSIGN_OR_RETURN(task.cluster_spec, ClusterSpec(config));
  EST_RETURN_IF_ERROR(task.cluster_spec.empty() ? SetLocalTask(config, task)
                                                : SetClusterTask(config, task));
  if (const auto job = config.service().fields().find("tpu_worker_job_name");
      job != config.service().fields().end()) {
    if (job->second.string_value().empty())
      return Invalid("service.tpu_worker_job_name must be a non-empty string");
    task.tpu_worker_job_name = job->second.string_value();
  }
  // As in TensorFlow, a session_master takes precedence over the address of the task.
  if (config.has_session_master()) task.master = config.session_master();
  if (config.has_eval_session_master()) task.evaluation_master = config.eval_session_master();
  return task;
}

absl::StatusOr<TaskConfig> TaskConfigFromEnvironment() {
  const char* json = getenv("TF_CONFIG");
  return ParseTfConfig(json == nullptr ? "" : json);
}

std::optional<GroupOptions> GroupOfTask(const TaskConfig& task) {
  if (task.task_type == kEvaluator) return GroupOptions();
  if (task.cluster_spec.empty() || task.num_ps_replicas > 0) return std::nullopt;
  if (!task.is_chief && task.task_type != kWorker) return std::nullopt;  // a job of the user's
  GroupOptions group;
  group.rank = task.is_chief ? 0 : static_cast<int>(task.task_id) + 1;
  group.size = static_cast<int>(task.num_worker_replicas);
  const char* const chief = task.cluster_spec.count(kMaster) > 0 ? kMaster : kChief;
  group.rendezvous = task.cluster_spec.at(chief)[0];
  return group;
}

absl::Status CheckMayTrain(const TaskConfig& task, int num_processes) {
  if (task.task_type == kEvaluator || task.task_type == kPs) {
    return Invalid("the task is \"", task.task_type, "\", which does not train: ",
                   task.task_type == kEvaluator
                       ? "let it evaluate the checkpoints that the chief writes"
                       : "only a chief, a master or a worker calls Train");
  }
  if (task.num_ps_replicas > 0) {
    return Unimplemented("TF_CONFIG: the cluster has ", task.num_ps_replicas,
                         " parameter servers, but all processes have all variables: make them "
                         "workers, or leave them out");
  }
  if (task.num_worker_replicas > 1 && task.num_worker_replicas != num_processes) {
    return Invalid("the cluster has ", task.num_worker_replicas,
                   " tasks that train, but RunConfig.process_group has ", num_processes,
                   ": set it to the group of these processes, leave the chief alone in the "
                   "cluster, or unset TF_CONFIG");
  }
  return absl::OkStatus();
}

}  // namespace estimator
