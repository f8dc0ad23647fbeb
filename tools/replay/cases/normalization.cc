// Batch normalization. The same networks are in testdata/reference/batch_norm_*/generate.py.
#include "estimator/estimator.h"
#include "tools/replay/cases/cases.h"

namespace estimator::replay {
namespace {

using namespace layers;  // NOLINT: a network reads like its Python twin

EstimatorSpec Training(const Features& features, const Tensor& labels) {
  Tensor x = Conv2D(features, {.filters = 6, .kernel_size = 3, .use_bias = false});
  x = Relu(BatchNormalization(x, {.momentum = 0.9, .training = true}));
  x = Conv2D(
      x,
      {.filters = 4, .kernel_size = 3, .strides = 2, .padding = Padding::kSame, .use_bias = false});
  x = Relu(
      BatchNormalization(x, {.momentum = 0.8, .epsilon = 1e-2, .scale = false, .training = true}));
  x = Dense(Flatten(x), {.units = 8, .use_bias = false});
  x = Tanh(BatchNormalization(x, {.momentum = 0.9, .training = true}));
  const Tensor loss = losses::SparseSoftmaxCrossEntropy(labels, Dense(x, {.units = 3}));
  return EstimatorSpec::Train(loss, train::GradientDescent(0.1).Minimize(loss));
}

EstimatorSpec Inference(const Features& features, const Tensor& labels) {
  Tensor x = Conv2D(features, {.filters = 6, .kernel_size = 3});
  x = Relu(BatchNormalization(x, {.training = false}));
  x = BatchNormalization(Dense(Flatten(x), {.units = 5}), {.epsilon = 1e-2, .training = false});
  return EstimatorSpec::Eval(losses::MeanSquaredError(labels, Dense(x, {.units = 1})));
}

}  // namespace

Cases NormalizationCases() {
  return {{"batch_norm_training", Training}, {"batch_norm_inference", Inference}};
}

}  // namespace estimator::replay
