#include "tpu/tpu_config.h"

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/base/status.h"
#include "tpu/cluster/tpu_slice.h"

namespace estimator::tpu {
namespace {

constexpr int64_t kMostShards = std::numeric_limits<int32_t>::max();  // replicas are counted in int

// TensorFlow's checks, and that one core computes a replica.
void CheckModelParallelism(const TPUConfig& config, std::vector<std::string>& violations) {
  const std::optional<int64_t> cores = config.num_cores_per_replica;
  const size_t num_dims = config.input_partition_dims.size();
  if (cores.has_value() && (*cores < 1 || *cores > 128 || (*cores & (*cores - 1)) != 0)) {
    violations.push_back(absl::StrCat(
        "num_cores_per_replica must be 1, 2, 4, 8, 16, 32, 64 or 128, given ", *cores));
  } else if (cores.value_or(1) != 1) {
    violations.push_back(absl::StrCat("num_cores_per_replica is ", *cores,
                                      ", but model parallelism is not supported; leave it out, and "
                                      "lower the batch size if a replica needs too much memory"));
  }
  if (num_dims == 0) return;
  if (num_dims > 2) {
    violations.push_back(absl::StrCat(
        "input_partition_dims must have one element, for features, or two, for features and "
        "labels, given ",
        num_dims));
  }
  if (config.per_host_input_for_training != InputPipelineConfig::PER_HOST_V2)
    violations.push_back("input_partition_dims needs per_host_input_for_training = PER_HOST_V2");
  violations.push_back(
      cores.has_value()
          ? "input_partition_dims is given, but model parallelism is not supported; leave it out"
          : "input_partition_dims needs num_cores_per_replica");
}

}  // namespace

absl::Status TPUConfig::Validate() const {
  std::vector<std::string> violations;
  if (!iterations_per_loop.status().ok())
    violations.emplace_back(iterations_per_loop.status().message());
  if (num_shards.has_value() && *num_shards <= 0) {
    violations.push_back(absl::StrCat("num_shards must be > 0, given ", *num_shards));
  } else if (num_shards.has_value() && *num_shards > kMostShards) {
    violations.push_back(
        absl::StrCat("num_shards must be <= ", kMostShards, ", given ", *num_shards));
  }
  const int training = static_cast<int>(per_host_input_for_training);
  if (training < 1 || training > 4) {
    violations.push_back(
        absl::StrCat("per_host_input_for_training must be PER_SHARD_V1, PER_HOST_V1, PER_HOST_V2 "
                     "or BROADCAST, given ",
                     training));
  }
  if (eval_training_input_configuration != InputPipelineConfig::PER_HOST_V1 &&
      eval_training_input_configuration != InputPipelineConfig::SLICED) {
    violations.push_back("eval_training_input_configuration must be PER_HOST_V1 or SLICED");
  }
  CheckModelParallelism(*this, violations);
  if (experimental_host_call_every_n_steps < 1) {
    violations.push_back(absl::StrCat("experimental_host_call_every_n_steps must be >= 1, given ",
                                      experimental_host_call_every_n_steps));
  }
  const std::vector<std::string> topologies = TopologyNames();
  if (!check.empty() && check != "rules" &&
      std::find(topologies.begin(), topologies.end(), check) == topologies.end()) {
    violations.push_back(absl::StrCat("check must be \"rules\" or a topology, ",
                                      absl::StrJoin(topologies, ", "), "; given \"", check, "\""));
  }
  if (violations.empty()) return absl::OkStatus();
  return InvalidArgument("TPUConfig: ", absl::StrJoin(violations, "; "));
}

absl::Status RunConfig::Validate() const {
  const absl::Status own = estimator::RunConfig::Validate(), tpu = tpu_config.Validate();
  // If both parts are invalid, one error has the violations of both.
  if (own.ok() || tpu.ok()) return own.ok() ? tpu : own;
  return InvalidArgument(own.message(), "; ", tpu.message());
}

}  // namespace estimator::tpu
