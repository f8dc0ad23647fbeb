// The networks of models/images at small width. Keras' networks and the same training step are in
// testdata/reference/images and images_*.
#include "estimator/estimator.h"
#include "models/images/densenet.h"
#include "models/images/efficientnet.h"
#include "models/images/efficientnet_v2.h"
#include "models/images/inception_v3.h"
#include "models/images/mobilenet.h"
#include "models/images/mobilenet_v2.h"
#include "models/images/mobilenet_v3.h"
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
struct ImageTraining {
  int64_t times = 4;  // the network's images are `times` as large as the recorded ones
  double rate = 0.003;
  bool scale = true;  // pixels to -1 ... 1; false: the network does it
};

template <typename Options>
Model ImageModel(Tensor (*network)(const Tensor&, const Options&), Options options,
                 ImageTraining training = {}) {
  options.training = true;
  options.classes = 5;
  return Model([=](const Features& features, const Tensor& labels) {
    const Tensor images = Enlarge(Cast(Tensor(features), DType::kFloat32), training.times);
    const Tensor logits = network(training.scale ? images / 127.5f - 1.0f : images, options);
    const Tensor loss = losses::SparseSoftmaxCrossEntropy(labels, logits);
    return EstimatorSpec::Train(loss, train::GradientDescent(training.rate).Minimize(loss));
  });
}

Model ResNetModel(int depth, images::ResNetVersion version) {
  return ImageModel(images::ResNet, {.depth = depth, .version = version, .width = 1.0 / 32});
}

}  // namespace

Cases ImageCases() {
  using namespace images;  // NOLINT: the networks
  const ImageTraining raw = {.scale = false};
  const MobileNetV3Options v3 = {.alpha = 0.1, .dropout_rate = 0, .last_filters = 32};
  return {
      {"images_densenet121", ImageModel(DenseNet121, {.width = 1.0 / 16})},
      {"images_efficientnet", ImageModel(EfficientNet,
                                         {.drop_connect_rate = 0,
                                          .dropout_rate = 0,
                                          .width_coefficient = 0.1,
                                          .depth_coefficient = 0.5},
                                         raw)},
      {"images_efficientnet_v2_s", ImageModel(EfficientNetV2S,
                                              {.drop_connect_rate = 0,
                                               .dropout_rate = 0,
                                               .width_coefficient = 0.1,
                                               .depth_coefficient = 0.26},
                                              raw)},
      {"images_inception_v3",
       ImageModel(InceptionV3, {.width = 1.0 / 32}, {.times = 6, .rate = 3e-4})},
      {"images_mobilenet", ImageModel(MobileNet, {.alpha = 1.0 / 16, .dropout = 0})},
      {"images_mobilenet_v2", ImageModel(MobileNetV2, {.alpha = 0.05})},
      {"images_mobilenet_v3_large", ImageModel(MobileNetV3Large, v3, raw)},
      {"images_mobilenet_v3_small", ImageModel(MobileNetV3Small, v3, raw)},
      {"images_resnet18", ResNetModel(18, ResNetVersion::kV1)},
      {"images_resnet18_v2", ResNetModel(18, ResNetVersion::kV2)},
      {"images_resnet50", ResNetModel(50, ResNetVersion::kV1)},
      {"images_resnet50_v1_5", ResNetModel(50, ResNetVersion::kV1_5)},
      {"images_resnet50_v2", ResNetModel(50, ResNetVersion::kV2)},
      {"images_vgg16", ImageModel(VGG16, {.width = 1.0 / 40}, {.times = 2, .rate = 0.1})},
      {"images_vit",
       ImageModel(ViT,
                  {.patch_size = 8, .hidden_size = 24, .blocks = 2, .heads = 2, .mlp_size = 48},
                  {.times = 2, .rate = 0.1})},
      {"images_xception", ImageModel(Xception, {.width = 1.0 / 40})},
  };
}

}  // namespace estimator::replay
