// TPUConfig and tpu::RunConfig: how a run on replicas goes.
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

// Source: TF 2.15 tf.estimator.tpu.TPUConfig, in its order.
struct TPUConfig {
  // Steps of one run of the loop, between two looks of the hooks: 50, or a time as "30s".
  IterationsPerLoop iterations_per_loop = 2;
  // Replicas. None: 8, the cores of one TPU device.
  std::optional<int64_t> num_shards = std::nullopt;
  InputPipelineConfig per_host_input_for_training = InputPipelineConfig::PER_HOST_V1;
  // PER_HOST_V1: evaluation and prediction are fed as training is. SLICED: batches of B are split.
  InputPipelineConfig eval_training_input_configuration = InputPipelineConfig::PER_HOST_V1;
  std::string tpu_job_name = "";
  // host_call runs at every n-th step of a loop, in training.
  int64_t experimental_host_call_every_n_steps = 1;

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
  // The address of a TPU, for programs that pass one on; "" is this process.
  std::string master;
  std::string evaluation_master;

  absl::Status Validate() const;
};

}  // namespace estimator::tpu

#endif  // TPU_TPU_CONFIG_H_
