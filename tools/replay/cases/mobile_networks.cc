// Networks of models/images at a small width, as in
// testdata/reference/{images_mobilenet*,images_efficientnet*}.
#include "models/images/efficientnet.h"
#include "models/images/efficientnet_v2.h"
#include "models/images/mobilenet.h"
#include "models/images/mobilenet_v2.h"
#include "models/images/mobilenet_v3.h"
#include "tools/replay/cases/cases.h"
#include "tools/replay/cases/keras_images.h"

namespace estimator::replay {

Cases MobileNetworkCases() {
  using namespace images;  // NOLINT: the networks
  const int64_t classes = kKerasImagesClasses;
  const MobileNetV3Options v3 = {
      .training = true, .classes = classes, .alpha = 0.1, .dropout_rate = 0, .last_filters = 32};
  return {
      // Gradients of so few filters are large.
      {"images_mobilenet",
       KerasImages(
           [=](const Tensor& images) {
             return MobileNet(
                 MobileNetPreprocessInput(images),
                 {.training = true, .classes = classes, .alpha = 1.0 / 16, .dropout = 0});
           },
           1e-5)},
      {"images_mobilenet_v2", KerasImages([=](const Tensor& images) {
         return MobileNetV2(MobileNetV2PreprocessInput(images),
                            {.training = true, .classes = classes, .alpha = 0.05});
       })},
      {"images_mobilenet_v3_small",
       KerasImages([=](const Tensor& images) { return MobileNetV3Small(images, v3); })},
      {"images_mobilenet_v3_large",
       KerasImages([=](const Tensor& images) { return MobileNetV3Large(images, v3); })},
      {"images_efficientnet", KerasImages([=](const Tensor& images) {
         return EfficientNet(images, {.training = true,
                                      .classes = classes,
                                      .drop_connect_rate = 0,
                                      .dropout_rate = 0,
                                      .width_coefficient = 0.1,
                                      .depth_coefficient = 0.5});
       })},
      {"images_efficientnet_v2_s", KerasImages([=](const Tensor& images) {
         return EfficientNetV2S(images, {.training = true,
                                         .classes = classes,
                                         .drop_connect_rate = 0,
                                         .dropout_rate = 0,
                                         .width_coefficient = 0.1,
                                         .depth_coefficient = 0.26});
       })},
  };
}

}  // namespace estimator::replay
