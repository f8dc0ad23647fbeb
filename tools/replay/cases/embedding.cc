// Words and tags, looked up in two tables, with each optimizer that has a rule for looked-up rows
// and with some that do not need one. The same network is in
// testdata/reference/embedding/network.py.
#include "estimator/estimator.h"
#include "tools/replay/cases/cases.h"

namespace estimator::replay {
namespace {

using layers::Dense;
using train::GradientAndVariable;
using Pairs = std::vector<GradientAndVariable>;

Tensor Loss(const Features& features, const Tensor& labels, bool tied) {
  const Variable words = GetVariable("words", {31, 6}), tags = GetVariable("tags", {9});
  const Tensor looked_up = Gather(words, features["words"]);
  const Tensor first_word = Squeeze(Slice(features["words"], {0, 0}, {-1, 1}), {1});
  const Tensor first = Gather(words, first_word);
  const Tensor weights = ExpandDims(Exp(Gather(tags, features["tags"])), 2);
  const Tensor mean = ReduceSum(looked_up * weights, {1}) / ReduceSum(weights, {1});
  const Tensor hidden = Dense(Concat({mean, first}, 1), {.units = 8, .activation = Tanh});
  const Tensor loss = losses::SparseSoftmaxCrossEntropy(labels, Dense(hidden, {.units = 3}));
  if (!tied) return loss;
  const Tensor scores = MatMul(mean, words, {.transpose_b = true});
  return loss + losses::SparseSoftmaxCrossEntropy(first_word, scores);
}

using Clip = Pairs (*)(const Pairs&);

// Each call of the model_fn minimizes with its own copy of the optimizer.
template <typename Optimizer>
Model UnderEmbedding(Optimizer optimizer, Clip clip = nullptr, bool tied = false) {
  return Model([=](const Features& features, const Tensor& labels) {
    const Tensor loss = Loss(features, labels, tied);
    Optimizer own = optimizer;
    const Pairs pairs = own.ComputeGradients(loss);
    return EstimatorSpec::Train(loss, own.ApplyGradients(clip == nullptr ? pairs : clip(pairs)));
  });
}

Pairs ByGlobalNorm(const Pairs& pairs) { return train::ClipByGlobalNorm(pairs, 0.3); }

Pairs ByNorm(const Pairs& pairs) {
  Pairs clipped = pairs;
  for (GradientAndVariable& pair : clipped) pair.gradient = ClipByNorm(pair.gradient, 0.1);
  return clipped;
}

Pairs ByValue(const Pairs& pairs) {
  Pairs clipped = pairs;
  for (GradientAndVariable& pair : clipped)
    pair.gradient = ClipByValue(pair.gradient, -0.02f, 0.03f);
  return clipped;
}

}  // namespace

Cases EmbeddingCases() {
  const train::Momentum momentum(0.2, 0.9);
  return {
      {"embedding_adadelta", UnderEmbedding(train::Adadelta(1.0, {.rho = 0.9, .epsilon = 1e-4}))},
      {"embedding_adagrad", UnderEmbedding(train::Adagrad(0.3))},
      {"embedding_clip_by_global_norm", UnderEmbedding(momentum, ByGlobalNorm)},
      {"embedding_clip_by_norm", UnderEmbedding(momentum, ByNorm)},
      {"embedding_clip_by_value", UnderEmbedding(momentum, ByValue)},
      {"embedding_ftrl", UnderEmbedding(train::Ftrl(0.5, {.l1_regularization_strength = 0.01,
                                                          .l2_regularization_strength = 0.02,
                                                          .beta = 0.1}))},
      {"embedding_ftrl_shrinkage",
       UnderEmbedding(train::Ftrl(
           0.5, {.learning_rate_power = -0.6, .l2_shrinkage_regularization_strength = 0.001}))},
      {"embedding_gradient_descent", UnderEmbedding(train::GradientDescent(0.5))},
      {"embedding_lazy_adam", UnderEmbedding(train::LazyAdam(0.05))},
      {"embedding_momentum", UnderEmbedding(momentum)},
      {"embedding_momentum_nesterov",
       UnderEmbedding(train::Momentum(0.2, 0.9, {.use_nesterov = true}))},
      {"embedding_proximal_adagrad",
       UnderEmbedding(train::ProximalAdagrad(
           0.3, {.l1_regularization_strength = 0.01, .l2_regularization_strength = 0.02}))},
      {"embedding_rms_prop", UnderEmbedding(train::RMSProp(0.1, {.decay = 0.9, .momentum = 0.5}))},
      {"embedding_rms_prop_centered",
       UnderEmbedding(train::RMSProp(
           0.1, {.decay = 0.9, .momentum = 0.5, .epsilon = 1e-3, .centered = true}))},
      {"embedding_tied", UnderEmbedding(train::Momentum(0.1, 0.9), ByGlobalNorm, /*tied=*/true)},
  };
}

}  // namespace estimator::replay
