#include "models/images/efficientnet_v2.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "models/images/efficientnet_blocks.h"
#include "models/images/mobile.h"
#include "models/images/network.h"

namespace estimator::images {
namespace {

constexpr EfficientNetGroup kEfficientNetV2SGroups[] = {
    {3, 2, 24, 24, 1, 1, false, true},   {3, 4, 24, 48, 4, 2, false, true},
    {3, 4, 48, 64, 4, 2, false, true},   {3, 6, 64, 128, 4, 2, true, false},
    {3, 9, 128, 160, 6, 1, true, false}, {3, 15, 160, 256, 6, 2, true, false},
};

}  // namespace

Tensor EfficientNetV2S(const Tensor& images, const EfficientNetV2Options& options) {
  std::vector<std::string> problems =
      UnlessPositive("width_coefficient", options.width_coefficient);
  for (std::string& problem : UnlessPositive("depth_coefficient", options.depth_coefficient))
    problems.push_back(std::move(problem));
  const Network net("EfficientNetV2S", images, options, 32, std::move(problems));
  if (!net.ok()) return Network::Invalid();
  const auto filters = [&](int64_t whole) {
    return DivisibleBy8(static_cast<double>(whole) * options.width_coefficient,
                        /*never_below_90_percent=*/false);
  };
  const EfficientNetLayers layers(
      net, {.training = options.training, .momentum = 0.9, .depthwise = "dwconv2"});
  Tensor x = images;
  if (options.include_preprocessing)
    x = Cast(Cast(x, DType::kFloat32) * (1.0f / 128.0f) - 1.0f, images.dtype());
  x = layers.ConvNormSwish(x, filters(24), 3, 2, "stem_conv", "stem_bn");
  // As in Keras, the drop rates grow over the blocks of depth 1.
  int blocks = 0, number = 0, group_number = 0;
  for (const EfficientNetGroup& group : kEfficientNetV2SGroups) blocks += group.repeats;
  for (EfficientNetGroup group : kEfficientNetV2SGroups) {
    ++group_number;
    group.filters_in = filters(group.filters_in);
    group.filters_out = filters(group.filters_out);
    const int repeats = static_cast<int>(std::ceil(options.depth_coefficient * group.repeats));
    for (int i = 0; i < repeats; ++i) {
      x = layers.Block(x, group, options.drop_connect_rate * number++ / blocks,
                       absl::StrCat("block", group_number, std::string(1, 'a' + i), "_"));
      group.strides = 1;
      group.filters_in = group.filters_out;
    }
  }
  x = layers.ConvNormSwish(x, filters(1280), 1, 1, "top_conv", "top_bn");
  return net.Finish(x, [&](const Tensor& features) {
    return layers.Top(features, options.classes, options.dropout_rate);
  });
}

Tensor EfficientNetV2PreprocessInput(const Tensor& images) { return Cast(images, DType::kFloat32); }

}  // namespace estimator::images
