// TPUConfig and tpu::RunConfig: the configuration of a run on replicas.
#ifndef TPU_TPU_CONFIG_H_
#define TPU_TPU_CONFIG_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "estimator/training/strategies.h"
#include "tpu/cluster/tpu_cluster_resolver.h"
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
  // Cores that compute one replica together. Only 1 is supported: there is no model parallelism.
  std::optional<int64_t> num_cores_per_replica = std::nullopt;
  // How input_fn is called and its batches are distributed.
  InputPipelineConfig per_host_input_for_training = InputPipelineConfig::PER_HOST_V1;
  // PER_HOST_V1: evaluation and prediction distribute batches as training does. SLICED: they split
  // batches of the global batch size.
  InputPipelineConfig eval_training_input_configuration = InputPipelineConfig::PER_HOST_V1;
  // The job of the TPU's workers in the names of devices (TPUContext::device_for_replica). Empty:
  // the one that the cluster has, if it can be told; none for replicas in this process.
  std::string tpu_job_name = "";
  // Into how many parts each axis of the features, and then of the labels, is split between the
  // cores of a replica. Must be empty: there is no model parallelism.
  std::vector<std::vector<int64_t>> input_partition_dims = {};
  // In training, host_call runs at every n-th step of a loop.
  int64_t experimental_host_call_every_n_steps = 1;
  // Not empty: Train, Evaluate and Predict print what a TPU would refuse or punish, and end before
  // they run anything (tpu/rules/checked_strategy.h), also with use_tpu = false. "rules": the rules
  // of docs/tpu.md. A topology, such as "v3-8": the program is also compiled for it. Not in
  // TensorFlow.
  std::string check = "";
  // A file for the StableHLO of the training step, written when the step is compiled. The steps of
  // evaluation and prediction of whole batches are written beside it: step.mlir, step_eval.mlir,
  // step_predict.mlir.
  // Needs use_tpu = true. Empty: none. Not in TensorFlow.
  std::string dump_stablehlo = "";
  // True: float32 matrix products and convolutions read operands that are rounded to bfloat16, and
  // sum in float32, as a TPU does by default. Use it to see whether a model trains in this
  // precision. Training, evaluation and prediction are slower. Not in TensorFlow.
  bool tpu_numerics = false;

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
  // The devices that replicas run on, with use_tpu = true:
  //   "", "local"     num_shards replicas in this process
  //   "pjrt:PATH"     the devices of a PJRT plugin, such as pjrt:/lib/libtpu.so
  //   "grpc://..."    a TPU on another machine, which is an error: run on the TPU VM itself
  // evaluation_master: the same for Evaluate; empty: as master. Other devices are an error.
  std::string master;
  std::string evaluation_master;
  // The TPU to run on, in place of master.
  std::optional<TPUClusterResolver> cluster;

  absl::Status Validate() const;
};

}  // namespace estimator::tpu

#endif  // TPU_TPU_CONFIG_H_
