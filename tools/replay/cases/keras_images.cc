#include "tools/replay/cases/keras_images.h"

#include <utility>

#include "estimator/estimator.h"

namespace estimator::replay {

Model KerasImages(std::function<Tensor(const Tensor& images)> network, double rate) {
  return Model(
      [network = std::move(network), rate](const Features& features, const Tensor& labels) {
        const Tensor images = Tile(Cast(Tensor(features), DType::kFloat32), {1, 4, 4, 1});
        const Tensor loss = losses::SparseSoftmaxCrossEntropy(labels, network(images));
        return EstimatorSpec::Train(loss, train::GradientDescent(rate).Minimize(loss));
      });
}

}  // namespace estimator::replay
