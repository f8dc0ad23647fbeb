// InputPipelineConfig: how batches are distributed to the replicas. Names and numbers are
// TensorFlow's.
#ifndef TPU_INPUT_PIPELINE_CONFIG_H_
#define TPU_INPUT_PIPELINE_CONFIG_H_

namespace estimator::tpu {

// B is the mode's global batch size, and R is the number of replicas. There is one host.
enum class InputPipelineConfig {
  // input_fn is called R times, and returns batches of B/R. In eval and predict: as PER_HOST_V1.
  PER_SHARD_V1 = 1,
  // input_fn is called once, and returns batches of B, which are split evenly on axis 0.
  PER_HOST_V1 = 2,
  // input_fn is called once, and returns batches of B/R. A step takes R consecutive ones.
  PER_HOST_V2 = 3,
  // input_fn is called once, and returns batches of B. Every replica gets the whole batch.
  BROADCAST = 4,
  // In eval and predict: as PER_HOST_V1. Not for training.
  SLICED = 5,
};

}  // namespace estimator::tpu

#endif  // TPU_INPUT_PIPELINE_CONFIG_H_
