#include "tpu/tpu_config.h"

#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace estimator::tpu {
namespace {

// "v3-8": a generation and a number.
bool IsTopologyName(absl::string_view name) {
  const std::vector<absl::string_view> parts = absl::StrSplit(name, '-');
  int64_t size = 0;
  return parts.size() == 2 && parts[0].size() >= 2 && parts[0][0] == 'v' &&
         absl::ascii_isdigit(static_cast<unsigned char>(parts[0][1])) &&
         absl::SimpleAtoi(parts[1], &size) && size > 0;
}

}  // namespace

absl::Status TPUConfig::Validate() const {
  std::vector<std::string> violations;
  if (!iterations_per_loop.status().ok())
    violations.emplace_back(iterations_per_loop.status().message());
  if (num_shards.has_value() && *num_shards <= 0) {
    violations.push_back(absl::StrCat("num_shards must be > 0, given ", *num_shards));
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
  if (experimental_host_call_every_n_steps < 1) {
    violations.push_back(absl::StrCat("experimental_host_call_every_n_steps must be >= 1, given ",
                                      experimental_host_call_every_n_steps));
  }
  if (!check.empty() && check != "rules" && !IsTopologyName(check)) {
    violations.push_back(absl::StrCat(
        "check must be \"rules\" or a topology such as \"v3-8\", given \"", check, "\""));
  }
  if (violations.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("TPUConfig: ", absl::StrJoin(violations, "; ")));
}

absl::Status RunConfig::Validate() const {
  const absl::Status own = estimator::RunConfig::Validate(), tpu = tpu_config.Validate();
  if (own.ok() || tpu.ok()) return own.ok() ? tpu : own;
  return absl::InvalidArgumentError(absl::StrCat(own.message(), "; ", tpu.message()));
}

}  // namespace estimator::tpu
