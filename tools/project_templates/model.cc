#include "model.h"

#include <cstdint>

namespace model {

using namespace estimator;

namespace {

MetricMap EvalMetrics(const Tensor& labels, const Tensor& logits) {
  return {{"accuracy", metrics::Accuracy(labels, ArgMax(logits, 1))}};
}

Dataset Points() {
  constexpr int kNumPoints = 1000;
  Array x(DType::kFloat32, {kNumPoints, 2}), y(DType::kInt32, {kNumPoints});
  for (int i = 0; i < kNumPoints; ++i) {
    float* point = x.data<float>() + 2 * i;
    point[0] = static_cast<float>(i * 7919 % 1000) / 1000;
    point[1] = static_cast<float>(i * 104729 % 997) / 997;
    y.data<int32_t>()[i] = point[0] > point[1];
  }
  return Dataset::FromTensorSlices({.features = {{"x", x}}, .labels = y});
}

}  // namespace

tpu::TPUEstimatorSpec ModelFn(const Features& features, const Tensor& labels, Mode mode,
                              const Params& params) {
  const Tensor hidden = layers::Dense(features["x"], {.units = 16, .activation = Relu});
  const Tensor logits = layers::Dense(hidden, {.units = 2});  // f32 [N, 2]
  if (mode == Mode::kPredict) {
    return tpu::TPUEstimatorSpec::Predict(
        {{"class", ArgMax(logits, 1)}, {"probabilities", Softmax(logits)}});
  }
  const Tensor loss = losses::SparseSoftmaxCrossEntropy(labels, logits);
  if (mode == Mode::kEval) {
    return tpu::TPUEstimatorSpec::Eval(loss, {EvalMetrics, {labels, logits}});
  }
  tpu::CrossShardOptimizer optimizer(train::Momentum(params.learning_rate, 0.9));
  return tpu::TPUEstimatorSpec::Train(loss, optimizer.Minimize(loss));
}

Dataset TrainInput(const Params& params) {
  // If several processes train, each reads its part of every batch.
  return Points()
      .Shuffle(1000)
      .Repeat()
      .Shard(params.context.num_hosts, params.context.current_host, params.batch_size)
      .Batch(params.batch_size, {.drop_remainder = true});
}

Dataset EvalInput(const Params& params) { return Points().Batch(params.batch_size); }

}  // namespace model
