// The network of models/mnist without dropout, with each optimizer, with fewer filters or with all;
// and the small network with dropout. The same network is in testdata/reference/mnist/network.py.
#include <functional>
#include <map>
#include <string>

#include "estimator/estimator.h"
#include "tools/replay/cases/cases.h"

namespace estimator::replay {
namespace {

struct Size {
  int64_t filters, more_filters, units;
};
constexpr Size kSmall = {4, 8, 16}, kWhole = {32, 64, 1024};

// Builds the network. `dropout` is applied before the last layer.
template <typename Dropout>
Tensor Logits(const Features& features, const Size& size, Dropout dropout) {
  using namespace layers;  // NOLINT: a network reads like its Python twin
  Tensor x = Cast(Reshape(features["image"], {-1, 28, 28, 1}), DType::kFloat32) * (1.f / 255);
  x = Conv2D(
      x,
      {.filters = size.filters, .kernel_size = 5, .padding = Padding::kSame, .activation = Relu});
  x = MaxPooling2D(x, {.pool_size = 2, .padding = Padding::kSame});
  x = Conv2D(x, {.filters = size.more_filters,
                 .kernel_size = 5,
                 .padding = Padding::kSame,
                 .activation = Relu});
  x = MaxPooling2D(x, {.pool_size = 2, .padding = Padding::kSame});
  x = Dense(Flatten(x), {.units = size.units, .activation = Relu});
  return Dense(dropout(x), {.units = 10});
}

Tensor Logits(const Features& features, const Size& size) {
  return Logits(features, size, [](const Tensor& x) { return x; });
}

// The same network is in testdata/reference/mnist_dropout/generate.py.
EstimatorSpec WithDropout(const Features& features, const Tensor& labels, Mode mode) {
  const Tensor logits = Logits(features, kSmall, [mode](const Tensor& x) {
    return layers::Dropout(x, {.rate = 0.4, .training = mode == Mode::kTrain, .seed = 5});
  });
  const Tensor loss = losses::SparseSoftmaxCrossEntropy(labels, logits);
  return EstimatorSpec::Train(loss, train::Momentum(0.02, 0.9).Minimize(loss));
}

EstimatorSpec Predict(const Features& features, const Labels&, Mode) {
  const Tensor logits = Logits(features, kSmall);
  return EstimatorSpec::Predict(
      {{"class_ids", ArgMax(logits, 1)}, {"probabilities", Softmax(logits)}});
}

// The network with an optimizer. Each call of the model_fn minimizes with its own copy of it.
struct Under {
  template <typename Optimizer>
  Under(Optimizer optimizer)  // NOLINT: the rows below read better
      : of([optimizer](const Size& size) {
          return Model([optimizer, size](const Features& features, const Tensor& labels) {
            const Tensor loss = losses::SparseSoftmaxCrossEntropy(labels, Logits(features, size));
            Optimizer own = optimizer;
            return EstimatorSpec::Train(loss, own.Minimize(loss));
          });
        }) {}
  std::function<Model(const Size&)> of;
};

std::map<std::string, Under> Optimizers() {
  const Schedule decaying =
      train::ExponentialDecay({.initial = 0.02, .decay_steps = 10, .decay_rate = 0.95});
  return {
      {"mnist_adabelief",
       Under(train::AdaBelief(0.001, {.epsilon = 1e-8, .weight_decay = 0.01, .rectify = false}))},
      {"mnist_adabelief_rectified", Under(train::AdaBelief(0.001, {.weight_decay = 0.01}))},
      {"mnist_adadelta", Under(train::Adadelta(1.0, {.epsilon = 1e-5}))},
      {"mnist_adafactor", Under(train::Adafactor(0.02, {.beta1 = 0.9}))},
      {"mnist_adagrad", Under(train::Adagrad(0.02))},
      {"mnist_adam", Under(train::Adam(0.001))},
      {"mnist_adam_continued", Under(train::Adam(train::ExponentialDecay(
                                   {.initial = 0.002, .decay_steps = 10, .decay_rate = 0.9})))},
      {"mnist_adam_weight_decay",
       Under(train::AdamWeightDecay(
           0.002, {.weight_decay_rate = 0.1, .exclude_from_weight_decay = {"bias"}}))},
      {"mnist_ftrl", Under(train::Ftrl(0.02, {.initial_accumulator_value = 1e-4,
                                              .l1_regularization_strength = 1e-4,
                                              .l2_regularization_strength = 1e-3,
                                              .l2_shrinkage_regularization_strength = 1e-3,
                                              .beta = 0.01}))},
      {"mnist_gradient_descent", Under(train::GradientDescent(0.1))},
      {"mnist_lamb", Under(train::LAMB(0.01, {.weight_decay_rate = 0.01,
                                              .exclude_from_weight_decay = {"bias"}}))},
      {"mnist_lars",
       Under(train::LARS(0.02, {.weight_decay = 1e-3, .eeta = 0.1, .skip_list = {"bias"}}))},
      {"mnist_momentum", Under(train::Momentum(decaying, 0.9))},
      {"mnist_momentum_nesterov", Under(train::Momentum(0.02, 0.9, {.use_nesterov = true}))},
      {"mnist_proximal_adagrad",
       Under(train::ProximalAdagrad(
           0.02, {.l1_regularization_strength = 1e-3, .l2_regularization_strength = 1e-2}))},
      {"mnist_rms_prop", Under(train::RMSProp(0.01))},
      {"mnist_rms_prop_centered",
       Under(train::RMSProp(0.005, {.momentum = 0.5, .epsilon = 1e-3, .centered = true}))},
      {"mnist_rms_prop_momentum",
       Under(train::RMSProp(0.002, {.decay = 0.9, .momentum = 0.9, .epsilon = 1e-3}))},
  };
}

Cases OfSize(const Size& size) {
  Cases cases;
  for (const auto& [name, under] : Optimizers()) cases.emplace(name, under.of(size));
  return cases;
}

}  // namespace

Cases MnistCases() {
  Cases cases = OfSize(kSmall);
  cases.emplace("mnist_dropout", WithDropout);
  cases.emplace("mnist_predict", Predict);
  return cases;
}

Cases WholeMnistCases() { return OfSize(kWhole); }

}  // namespace estimator::replay
