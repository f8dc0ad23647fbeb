// The networks of models/images at small width. Keras' networks and the same training step are in
// testdata/reference/images and images_*.
#include "estimator/estimator.h"
#include "models/images/inception_v3.h"
#include "models/images/resnet.h"
#include "models/images/vgg16.h"
#include "models/images/vit.h"
#include "models/images/xception.h"
#include "tools/replay/cases/cases.h"

namespace estimator::replay {
namespace {

// Each pixel becomes times x times pixels, and a texture is added.
Tensor Enlarge(const Tensor& images, int64_t times) {
  const int64_t n = images.dim(0), h = images.dim(1), w = images.dim(2), c = images.dim(3);
  Array texture(DType::kFloat32, {h * times, w * times, c});
  float* next = texture.data<float>();
  for (int64_t row = 0; row < h * times; ++row) {
    for (int64_t column = 0; column < w * times; ++column) {
      for (int64_t channel = 0; channel < c; ++channel)
        *next++ =
            static_cast<float>((31 * row + 17 * column + 7 * channel + 5 * row * column) % 64);
    }
  }
  const Tensor x = Reshape(images, {n, h, 1, w, 1, c});
  return Reshape(Tile(x, {1, 1, times, 1, times, 1}), {n, h * times, w * times, c}) +
         Constant(texture);
}

// The training step of networks.py.
//   times: the network's images are `times` as large as the recorded ones.
template <typename Options>
Model ImageModel(Tensor (*network)(const Tensor&, const Options&), Options options, int64_t times,
                 double rate = 0.003) {
  options.training = true;
  options.classes = 5;
  return Model([=](const Features& features, const Tensor& labels) {
    const Tensor images = Enlarge(Cast(Tensor(features), DType::kFloat32), times);
    const Tensor logits = network(images / 127.5f - 1.0f, options);
    const Tensor loss = losses::SparseSoftmaxCrossEntropy(labels, logits);
    return EstimatorSpec::Train(loss, train::GradientDescent(rate).Minimize(loss));
  });
}

images::ResNetOptions OfResNet(int depth, images::ResNetVersion version, double width) {
  return {.depth = depth, .version = version, .width = width};
}

}  // namespace

Cases ImageCases() {
  using images::ResNetVersion;
  return {
      {"images_inception_v3", ImageModel(images::InceptionV3, {.width = 1.0 / 32}, 6)},
      {"images_resnet18",
       ImageModel(images::ResNet, OfResNet(18, ResNetVersion::kV1, 1.0 / 32), 4)},
      {"images_resnet18_v2",
       ImageModel(images::ResNet, OfResNet(18, ResNetVersion::kV2, 1.0 / 32), 4)},
      {"images_resnet50",
       ImageModel(images::ResNet, OfResNet(50, ResNetVersion::kV1, 1.0 / 32), 4)},
      {"images_resnet50_v2",
       ImageModel(images::ResNet, OfResNet(50, ResNetVersion::kV2, 1.0 / 32), 4)},
      {"images_vgg16", ImageModel(images::VGG16, {.width = 1.0 / 40}, 2, 0.1)},
      {"images_vit",
       ImageModel(images::ViT,
                  {.patch_size = 8, .hidden_size = 24, .blocks = 2, .heads = 2, .mlp_size = 48}, 2,
                  0.1)},
      {"images_xception", ImageModel(images::Xception, {.width = 1.0 / 40}, 3)},
  };
}

}  // namespace estimator::replay
