#include "models/images/efficientnet.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "models/images/efficientnet_blocks.h"
#include "models/images/mobile.h"
#include "models/images/network.h"

namespace estimator::images {
namespace {

constexpr EfficientNetGroup kEfficientNetGroups[] = {
    {3, 1, 32, 16, 1, 1, true, false},   {3, 2, 16, 24, 6, 2, true, false},
    {5, 2, 24, 40, 6, 2, true, false},   {3, 3, 40, 80, 6, 2, true, false},
    {5, 3, 80, 112, 6, 1, true, false},  {5, 4, 112, 192, 6, 2, true, false},
    {3, 1, 192, 320, 6, 1, true, false},
};

struct EfficientNetScale {
  double width;
  double depth;
  double dropout_rate;
};
constexpr EfficientNetScale kEfficientNetScales[] = {
    {1.0, 1.0, 0.2}, {1.0, 1.1, 0.2}, {1.1, 1.2, 0.3}, {1.2, 1.4, 0.3},
    {1.4, 1.8, 0.4}, {1.6, 2.2, 0.4}, {1.8, 2.6, 0.5}, {2.0, 3.1, 0.5}};

// The images are rescaled and normalized in f32: bf16 keeps too few of the 256 values apart.
// Source: TF 2.15 tf.keras.layers.Rescaling, Normalization.
Tensor NormalizePixels(const Tensor& images, bool imagenet_rescaling) {
  const VariableScope scope("normalization");
  const Shape channels{images.dim(3)};
  const Variable mean =
      GetVariable("mean", channels, {.initializer = initializers::Zeros(), .trainable = false});
  const Variable variance =
      GetVariable("variance", channels, {.initializer = initializers::Ones(), .trainable = false});
  // How many batches Keras' adapt() has seen. Its files have it.
  GetVariable("count", {},
              {.dtype = DType::kInt64, .initializer = initializers::Zeros(), .trainable = false});
  Tensor x = Cast(images, DType::kFloat32) * (1.0f / 255.0f);
  x = (x - mean) / Maximum(Sqrt(variance), 1e-7f);
  if (imagenet_rescaling) {
    const auto root = [](double stddev) { return static_cast<float>(1 / std::sqrt(stddev)); };
    x = x * Constant(Array::Of<float>({3}, {root(0.229), root(0.224), root(0.225)}));
  }
  return Cast(x, images.dtype());
}

}  // namespace

Tensor EfficientNet(const Tensor& images, const EfficientNetOptions& options) {
  const bool known = options.model >= 0 && options.model <= 7;
  const EfficientNetScale& scale = kEfficientNetScales[known ? options.model : 0];
  const double width = options.width_coefficient.value_or(scale.width);
  const double depth = options.depth_coefficient.value_or(scale.depth);
  std::vector<std::string> problems = UnlessPositive("width_coefficient", width);
  for (std::string& problem : UnlessPositive("depth_coefficient", depth))
    problems.push_back(std::move(problem));
  if (!known) problems.push_back(absl::StrCat("model must be 0 to 7, got ", options.model));
  if (options.imagenet_rescaling && images.valid() && images.rank() == 4 && images.dim(3) != 3) {
    problems.push_back(absl::StrCat("imagenet_rescaling needs images of 3 channels, got ",
                                    images.spec().ToString()));
  }
  const Network net("EfficientNet", images, options, 32, std::move(problems));
  if (!net.ok()) return Network::Invalid();
  const auto filters = [&](int64_t whole) {
    return DivisibleBy8(static_cast<double>(whole) * width);
  };
  const auto repeats = [&](int whole) { return static_cast<int>(std::ceil(depth * whole)); };
  const EfficientNetLayers layers(
      net, {.training = options.training, .padding = StridedPadding::kCorrect});
  Tensor x = NormalizePixels(images, options.imagenet_rescaling);
  x = layers.ConvNormSwish(x, filters(32), 3, 2, "stem_conv", "stem_bn");
  int blocks = 0, number = 0, group_number = 0;
  for (const EfficientNetGroup& group : kEfficientNetGroups) blocks += repeats(group.repeats);
  for (EfficientNetGroup group : kEfficientNetGroups) {
    ++group_number;
    group.filters_in = filters(group.filters_in);
    group.filters_out = filters(group.filters_out);
    for (int i = 0; i < repeats(group.repeats); ++i) {
      x = layers.Block(x, group, options.drop_connect_rate * number++ / blocks,
                       absl::StrCat("block", group_number, std::string(1, 'a' + i), "_"));
      group.strides = 1;
      group.filters_in = group.filters_out;
    }
  }
  x = layers.ConvNormSwish(x, filters(1280), 1, 1, "top_conv", "top_bn");
  return net.Finish(x, [&](const Tensor& features) {
    return layers.Top(features, options.classes, options.dropout_rate.value_or(scale.dropout_rate));
  });
}

Tensor EfficientNetPreprocessInput(const Tensor& images) { return Cast(images, DType::kFloat32); }

}  // namespace estimator::images
