// The optimizer of BERT's pretraining and fine-tuning.
#ifndef MODELS_BERT_OPTIMIZATION_H_
#define MODELS_BERT_OPTIMIZATION_H_

#include <cstdint>

#include "estimator/estimator.h"

namespace estimator::bert {

struct OptimizerOptions {
  double learning_rate = 5e-5;   // the rate after the warm-up, if it did not decay
  int64_t num_train_steps = 0;   // the rate falls linearly and is 0 at this step
  int64_t num_warmup_steps = 0;  // the rate rises linearly from 0 in these steps; 0: no warm-up
};

// Returns the operation of one training step:
//   1. the gradients of all trainable variables are clipped to a global norm of 1;
//   2. on replicas, the clipped gradients are summed;
//   3. AdamWeightDecay with a weight decay of 0.01, but none for LayerNorm and biases.
// As in the original, replicas sum gradients that are not divided by the number of replicas. Adam
// divides by their size, so the step is the same but for epsilon.
// Source: google-research/bert optimization.create_optimizer.
Operation CreateOptimizer(const Tensor& loss, const OptimizerOptions& options);
// The same with another rate or other exceptions from the weight decay.
Operation MinimizeClipped(const Tensor& loss, train::AdamWeightDecay adam);

}  // namespace estimator::bert

#endif  // MODELS_BERT_OPTIMIZATION_H_
