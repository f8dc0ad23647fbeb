// The network of models/mnist with fewer filters and no dropout, under each optimizer.
// Twin of testdata/reference/mnist/network.py.
#include <functional>

#include "estimator/estimator.h"
#include "replay/cases/cases.h"

namespace estimator::replay {
namespace {

Tensor Loss(const Features& features, const Tensor& labels) {
  using namespace layers;  // NOLINT: a network reads like its Python twin
  Tensor x = Cast(Reshape(features["image"], {-1, 28, 28, 1}), DType::kFloat32) * (1.f / 255);
  x = Conv2D(x, {.filters = 4, .kernel_size = 5, .padding = Padding::kSame, .activation = Relu});
  x = MaxPooling2D(x, {.pool_size = 2, .padding = Padding::kSame});
  x = Conv2D(x, {.filters = 8, .kernel_size = 5, .padding = Padding::kSame, .activation = Relu});
  x = MaxPooling2D(x, {.pool_size = 2, .padding = Padding::kSame});
  x = Dense(Flatten(x), {.units = 16, .activation = Relu});
  return losses::SparseSoftmaxCrossEntropy(labels, Dense(x, {.units = 10}));
}

// Each call of the model_fn minimizes with a copy of its own.
template <typename Optimizer>
Model Under(Optimizer optimizer) {
  return Model::Of<EstimatorParams>(
      [optimizer](const Features& features, const Tensor& labels, Mode, const EstimatorParams&) {
        const Tensor loss = Loss(features, labels);
        Optimizer own = optimizer;
        return EstimatorSpec::Train(loss, own.Minimize(loss));
      });
}

}  // namespace

Cases MnistCases() {
  const Schedule decaying =
      train::ExponentialDecay({.initial = 0.02, .decay_steps = 10, .decay_rate = 0.95});
  return {
      {"mnist_gradient_descent", Under(train::GradientDescent(0.1))},
      {"mnist_momentum", Under(train::Momentum(decaying, 0.9))},
  };
}

}  // namespace estimator::replay
