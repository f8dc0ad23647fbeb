#include "models/bert/optimization.h"

#include <utility>
#include <vector>

#include "tpu/cross_shard_optimizer.h"

namespace estimator::bert {

Operation CreateOptimizer(const Tensor& loss, const OptimizerOptions& options) {
  const Schedule decay =
      train::PolynomialDecay({.initial = options.learning_rate,
                              .decay_steps = static_cast<double>(options.num_train_steps),
                              .end = 0});
  const Schedule rate =
      train::WarmUp(static_cast<double>(options.num_warmup_steps), options.learning_rate, decay);
  return MinimizeClipped(
      loss, train::AdamWeightDecay(
                rate, {.weight_decay_rate = 0.01,
                       .exclude_from_weight_decay = {"LayerNorm", "layer_norm", "bias"}}));
}

Operation MinimizeClipped(const Tensor& loss, train::AdamWeightDecay adam) {
  tpu::CrossShardOptimizer optimizer(std::move(adam));
  const std::vector<Variable> variables = Graph::Current().TrainableVariables();
  const std::vector<Tensor> gradients = Gradients(loss, variables);
  std::vector<train::GradientAndVariable> pairs;
  for (size_t i = 0; i < variables.size(); ++i) pairs.push_back({gradients[i], variables[i]});
  return optimizer.ApplyGradients(train::ClipByGlobalNorm(pairs, 1.0));
}

}  // namespace estimator::bert
