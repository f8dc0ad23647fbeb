// TPUConfig and tpu::RunConfig: the configuration of a run on replicas.
#ifndef TPU_TPU_CONFIG_H_
#define TPU_TPU_CONFIG_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "estimator/training/strategies.h"
#include "tpu/input_pipeline_config.h"
#include "tpu/iterations_per_loop.h"

namespace estimator::tpu {

// Source: TF 2.15 tf.estimator.tpu.TPUConfig; fields are in its order.
struct TPUConfig {
  // Steps between hook calls, as a number such as 50, or a time such as "30s". A larger number
  // costs less, but hooks (logging, checkpoints) see the state less often.
  IterationsPerLoop iterations_per_loop = 2;
  // Number of replicas. None: 8, the number of cores of one TPU device.
  std::optional<int64_t> num_shards = std::nullopt;
  // How input_fn is called and its batches are distributed.
  InputPipelineConfig per_host_input_for_training = InputPipelineConfig::PER_HOST_V1;
  // PER_HOST_V1: evaluation and prediction distribute batches as training does. SLICED: they split
  // batches of the global batch size.
  InputPipelineConfig eval_training_input_configuration = InputPipelineConfig::PER_HOST_V1;
  std::string tpu_job_name = "";  // has no effect but a warning: replicas run in this process
  // In training, host_call runs at every n-th step of a loop.
  int64_t experimental_host_call_every_n_steps = 1;
  // Not empty: Train, Evaluate and Predict print what a TPU would refuse or punish, and end before
  // they run anything (tpu/rules/checked_strategy.h), also with use_tpu = false. "rules": the rules
  // of docs/tpu.md. A topology, such as "v3-8": the program is also compiled for it. Not in
  // TensorFlow.
  std::string check = "";

  static constexpr int64_t kDefaultNumShards = 8;
  int64_t replicas() const { return num_shards.value_or(kDefaultNumShards); }
  // Errors: INVALID_ARGUMENT listing every field that is out of range.
  absl::Status Validate() const;
};

// Source: TF 2.15 tf.estimator.tpu.RunConfig.
//   tpu::RunConfig config;
//   config.model_dir = FLAGS_model_dir;
//   config.tpu_config = {.iterations_per_loop = 50, .num_shards = 8};
struct RunConfig : estimator::RunConfig {
  TPUConfig tpu_config;
  // Where replicas run with use_tpu = true: "pjrt:/path/to/plugin.so" runs them on the devices of a
  // PJRT plugin, such as libtpu.so or JAX's xla_cuda_plugin.so, one replica on each. Empty: in this
  // process. Other addresses, and evaluation_master, have no effect: TPUEstimator logs a warning.
  std::string master;
  std::string evaluation_master;

  absl::Status Validate() const;
};

}  // namespace estimator::tpu

#endif  // TPU_TPU_CONFIG_H_
