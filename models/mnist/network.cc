#include "models/mnist/network.h"

namespace estimator::mnist {

Tensor Inference(const Tensor& image, Mode mode, DType compute_dtype) {
  using namespace layers;  // NOLINT: a network reads like its Python twin
  Tensor x = Cast(Reshape(image, {-1, 28, 28, 1}), DType::kFloat32) * (1.f / 255);
  x = Cast(x, compute_dtype);
  x = Conv2D(x, {.filters = 32, .kernel_size = 5, .padding = Padding::kSame, .activation = Relu});
  x = MaxPooling2D(x, {.pool_size = 2, .padding = Padding::kSame});
  x = Conv2D(x, {.filters = 64, .kernel_size = 5, .padding = Padding::kSame, .activation = Relu});
  x = MaxPooling2D(x, {.pool_size = 2, .padding = Padding::kSame});
  x = Dense(Flatten(x), {.units = 1024, .activation = Relu});
  x = Dropout(x, {.rate = 0.4, .training = mode == Mode::kTrain});
  return Cast(Dense(x, {.units = 10}), DType::kFloat32);
}

std::shared_ptr<train::Optimizer> MakeOptimizer(const OptimizerOptions& options) {
  const Schedule rate = train::ExponentialDecay(
      {.initial = options.learning_rate, .decay_steps = options.decay_steps, .decay_rate = 0.95});
  if (options.momentum > 0) return std::make_shared<train::Momentum>(rate, options.momentum);
  return std::make_shared<train::GradientDescent>(rate);
}

}  // namespace estimator::mnist
