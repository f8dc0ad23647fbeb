#include "models/common/run_flags.h"

#include <glog/logging.h>

#include "absl/strings/str_cat.h"

DEFINE_bool(use_tpu, true,
            "run on --num_shards replicas in this process; false: run on the CPU without replicas");
DEFINE_string(iterations, "50", "steps between hook calls on the replicas, or a time such as 30s");
DEFINE_int64(num_shards, 8, "number of replicas (a TPU device has 8 cores)");
DEFINE_string(tpu_check, "",
              "print what a TPU would refuse or punish, and exit without training: rules, or a "
              "topology such as v3-8, for which the program is also compiled; empty: no check");
DEFINE_string(tpu, "", "name or grpc address of a TPU; has no effect but a warning");
DEFINE_string(tpu_zone, "", "zone of the TPU; has no effect");
DEFINE_string(gcp_project, "", "project of the TPU; has no effect");
DEFINE_string(master, "",
              "pjrt:PATH runs replicas on the devices of the PJRT plugin at PATH (libtpu.so, "
              "xla_cuda_plugin.so), one on each; another address has no effect but a warning");

namespace estimator {
namespace {

// Adds the flags of this file.
tpu::RunConfig WithTPUFlags(const RunConfig& run_config) {
  tpu::RunConfig config;
  static_cast<RunConfig&>(config) = run_config;
  config.master = FLAGS_master;
  config.tpu_config.iterations_per_loop = FLAGS_iterations;
  config.tpu_config.num_shards = FLAGS_num_shards;
  config.tpu_config.check = FLAGS_tpu_check;
  return config;
}

}  // namespace

tpu::RunConfig RunConfigFromFlags() {
  // TPUEstimator warns of --master.
  LOG_IF(WARNING, !FLAGS_tpu.empty())
      << "--tpu has no effect: this program does not connect to TPUs; with --use_tpu, "
      << FLAGS_num_shards << " replicas run in this process";
  return WithTPUFlags(EstimatorRunConfigFromFlags());
}

absl::Status RequireFlags(const std::vector<FlagRequirement>& requirements) {
  return RequireRunConfigFlags(
      requirements, [](const RunConfig& config) { return WithTPUFlags(config).Validate(); });
}

FlagRequirement BatchRequirement(const std::string& flag, int64_t batch_size) {
  // RunConfig reports a num_shards that is not positive, and a check a batch that is not divisible.
  if (!FLAGS_use_tpu || FLAGS_num_shards <= 0 || !FLAGS_tpu_check.empty())
    return {.flag = flag, .holds = batch_size > 0, .requirement = "positive"};
  return {.flag = flag,
          .holds = batch_size > 0 && batch_size % FLAGS_num_shards == 0,
          .requirement = absl::StrCat("positive and divisible by the ", FLAGS_num_shards,
                                      " shards (--num_shards)")};
}

}  // namespace estimator
