// InputPipelineConfig: how batches reach the replicas. Names and numbers are TensorFlow's.
#ifndef TPU_INPUT_PIPELINE_CONFIG_H_
#define TPU_INPUT_PIPELINE_CONFIG_H_

namespace estimator::tpu {

// B: the mode's global batch size, R: replicas. One host.
enum class InputPipelineConfig {
  PER_SHARD_V1 =
      1,  // input_fn is called R times, each for batches of B/R; in eval and predict as PER_HOST_V1
  PER_HOST_V1 = 2,  // once, for batches of B, which are split evenly on axis 0
  PER_HOST_V2 = 3,  // once, for batches of B/R; a step takes R in a row
  BROADCAST = 4,    // once, for batches of B; every replica gets the whole
  SLICED = 5,       // eval and predict: as PER_HOST_V1
};

}  // namespace estimator::tpu

#endif  // TPU_INPUT_PIPELINE_CONFIG_H_
