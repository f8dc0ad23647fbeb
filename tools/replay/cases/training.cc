// The computation between a loss and its updates: clipping, penalties, moving averages. The same
// networks are in testdata/reference/small/network.py and the cases that use it.
#include <functional>
#include <vector>

#include "estimator/estimator.h"
#include "tools/replay/cases/cases.h"

namespace estimator::replay {
namespace {

using train::GradientAndVariable;
using Gradients = std::vector<GradientAndVariable>;

Tensor Loss(const Features& features, const Tensor& labels,
            const Regularizer& regularizer = nullptr) {
  const Tensor hidden =
      layers::Dense(features, {.units = 12, .activation = Relu, .kernel_regularizer = regularizer});
  const Tensor logits = layers::Dense(hidden, {.units = 4, .kernel_regularizer = regularizer});
  return losses::SparseSoftmaxCrossEntropy(labels, logits);
}

Model WithGradients(const std::function<Gradients(Gradients)>& change) {
  return Model([change](const Features& features, const Tensor& labels) {
    const Tensor loss = Loss(features, labels);
    train::GradientDescent optimizer(0.5);
    return EstimatorSpec::Train(loss,
                                optimizer.ApplyGradients(change(optimizer.ComputeGradients(loss))));
  });
}

Gradients Each(Gradients pairs, const std::function<Tensor(const Tensor&)>& clip) {
  for (GradientAndVariable& pair : pairs) pair.gradient = clip(pair.gradient);
  return pairs;
}

EstimatorSpec L2Regularization(const Features& features, const Tensor& labels) {
  Loss(features, labels, regularizers::L2(0.02));
  const Tensor loss = losses::GetTotalLoss();
  return EstimatorSpec::Train(loss, train::Momentum(0.05, 0.9).Minimize(loss));
}

EstimatorSpec MovingAverages(const Features& features, const Tensor& labels) {
  const Tensor loss = Loss(features, labels);
  const Operation step = train::GradientDescent(0.2).Minimize(loss);
  const std::vector<Variable> all = Graph::Current().TrainableVariables();
  const Operation fixed = train::ExponentialMovingAverage(0.9).Apply({all[0], all[1]}, step);
  const Operation warming =
      train::ExponentialMovingAverage(0.99, {.num_updates = GetOrCreateGlobalStep()})
          .Apply({all[2], all[3]}, step);
  return EstimatorSpec::Train(loss, Group({step, fixed, warming}));
}

// testdata/reference/custom_gradient/generate.py.
EstimatorSpec CustomGradients(const Features& features, const Tensor& labels) {
  const auto reverse_gradient =
      CustomGradient([](const Tensor& x) { return x; }, [](const Tensor& dy) { return dy * -0.1; });
  const auto binary_matmul =
      CustomGradient([](const Tensor& x, const Tensor& w) { return MatMul(x, Sign(w)); },
                     [](const Tensor& x, const Tensor& w, const Tensor&, const Tensor& dy) {
                       return std::vector<Tensor>{MatMul(dy, w, {.transpose_b = true}),
                                                  MatMul(x, dy, {.transpose_a = true})};
                     });
  using Tensors = std::vector<Tensor>;
  const auto log1p_exp_and_sigmoid = CustomGradient(
      [](const Tensor& x) {
        const Tensor e = Exp(x);
        return Tensors{Log(1 + e), e / (1 + e)};
      },
      [](const Tensors& inputs, const Tensors&, const Tensors& grads) {
        return grads[0] * (1 - 1 / (1 + Exp(inputs[0]))) + grads[1];
      });
  const Tensor hidden = log1p_exp_and_sigmoid(layers::Dense(features, {.units = 12}))[0];
  const Tensor domain = layers::Dense(reverse_gradient(hidden), {.units = 2, .name = "domain"});
  const Variable w = GetVariable("binary/kernel", {12, 4});
  const Tensor loss =
      losses::SparseSoftmaxCrossEntropy(labels, binary_matmul(hidden, w)) +
      losses::SparseSoftmaxCrossEntropy(FloorMod(labels, Constant(int64_t{2})), domain);
  return EstimatorSpec::Train(loss, train::GradientDescent(0.02).Minimize(loss));
}

}  // namespace

Cases TrainingCases() {
  return {
      {"clip_by_norm", WithGradients([](Gradients pairs) {
         return Each(std::move(pairs), [](const Tensor& g) { return ClipByNorm(g, 0.2); });
       })},
      {"clip_by_value", WithGradients([](Gradients pairs) {
         return Each(std::move(pairs),
                     [](const Tensor& g) { return ClipByValue(g, -0.02f, 0.03f); });
       })},
      {"clip_by_global_norm",
       WithGradients([](Gradients pairs) { return train::ClipByGlobalNorm(pairs, 0.5); })},
      {"l2_regularization", L2Regularization},
      {"exponential_moving_average", MovingAverages},
      {"custom_gradient", CustomGradients},
  };
}

}  // namespace estimator::replay
