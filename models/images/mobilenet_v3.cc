#include "models/images/mobilenet_v3.h"

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "models/images/mobile.h"
#include "models/images/network.h"

namespace estimator::images {
namespace {

struct MobileNetV3Block {
  double expansion;
  int64_t filters;
  bool large_kernel;  // 5x5 unless minimalistic
  int64_t strides;
  bool squeeze_excite;  // unless minimalistic
  bool hard_swish;      // unless minimalistic; false: relu
};

constexpr MobileNetV3Block kSmallBlocks[] = {{1, 16, false, 2, true, false},
                                             {72.0 / 16, 24, false, 2, false, false},
                                             {88.0 / 24, 24, false, 1, false, false},
                                             {4, 40, true, 2, true, true},
                                             {6, 40, true, 1, true, true},
                                             {6, 40, true, 1, true, true},
                                             {3, 48, true, 1, true, true},
                                             {3, 48, true, 1, true, true},
                                             {6, 96, true, 2, true, true},
                                             {6, 96, true, 1, true, true},
                                             {6, 96, true, 1, true, true}};

constexpr MobileNetV3Block kLargeBlocks[] = {
    {1, 16, false, 1, false, false},  {4, 24, false, 2, false, false},
    {3, 24, false, 1, false, false},  {3, 40, true, 2, true, false},
    {3, 40, true, 1, true, false},    {3, 40, true, 1, true, false},
    {6, 80, false, 2, false, true},   {2.5, 80, false, 1, false, true},
    {2.3, 80, false, 1, false, true}, {2.3, 80, false, 1, false, true},
    {6, 112, false, 1, true, true},   {6, 112, false, 1, true, true},
    {6, 160, true, 2, true, true},    {6, 160, true, 1, true, true},
    {6, 160, true, 1, true, true}};

Tensor HardSigmoid(const Tensor& x) { return Relu6(x + 3.0f) * (1.0f / 6.0f); }
Tensor HardSwish(const Tensor& x) { return x * HardSigmoid(x); }

class MobileNetV3Builder {
 public:
  MobileNetV3Builder(const Network& net, const MobileNetV3Options& options)
      : net_(net),
        options_(options),
        activation_(options.minimalistic ? Activation(Relu) : Activation(HardSwish)) {}

  Tensor Features(const Tensor& images, absl::Span<const MobileNetV3Block> blocks) const {
    Tensor x = images;
    if (options_.include_preprocessing)
      x = Cast(Cast(x, DType::kFloat32) * (1.0f / 127.5f) - 1.0f, images.dtype());
    ConvNormOptions stem = Layer("Conv", 16);
    stem.kernel_size = 3;
    stem.strides = 2;
    x = activation_(ConvNorm(net_, x, stem));
    for (size_t i = 0; i < blocks.size(); ++i) x = InvertedResidual(x, blocks[i], i);
    if (!x.valid()) return x;
    const int64_t filters = DivisibleBy8(6.0 * static_cast<double>(x.dim(3)));
    return activation_(ConvNorm(net_, x, Layer("Conv_1", filters)));
  }

  Tensor Top(const Tensor& features, int64_t last_filters) const {
    if (options_.alpha > 1)
      last_filters = DivisibleBy8(static_cast<double>(last_filters) * options_.alpha);
    if (options_.last_filters > 0) last_filters = options_.last_filters;
    Tensor x = GlobalAvgPool(features, /*keepdims=*/true);
    x = net_.Conv2D(x, {.filters = last_filters, .kernel_size = 1, .name = "Conv_2"});
    x = net_.Dropout(activation_(x), options_.dropout_rate);
    x = net_.Conv2D(x, {.filters = options_.classes, .kernel_size = 1, .name = "Logits"});
    return layers::Flatten(x);
  }

 private:
  static ConvNormOptions Layer(const std::string& name, int64_t filters) {
    return {.conv = name, .norm = name + "/BatchNorm", .filters = filters, .momentum = 0.999};
  }

  Tensor SqueezeExcite(const Tensor& x, const std::string& prefix) const {
    const int64_t squeezed = DivisibleBy8(static_cast<double>(x.dim(3)) * 0.25);
    Tensor y = GlobalAvgPool(x, /*keepdims=*/true);
    y = net_.Conv2D(
        y, {.filters = squeezed, .kernel_size = 1, .activation = Relu, .name = prefix + "Conv"});
    y = net_.Conv2D(y, {.filters = x.dim(3), .kernel_size = 1, .name = prefix + "Conv_1"});
    return x * HardSigmoid(y);
  }

  Tensor InvertedResidual(const Tensor& inputs, const MobileNetV3Block& block,
                          size_t number) const {
    if (!inputs.valid()) return inputs;
    const auto channels = static_cast<double>(inputs.dim(3));
    const int64_t filters = DivisibleBy8(static_cast<double>(block.filters) * options_.alpha);
    const Activation activation = block.hard_swish ? activation_ : Activation(Relu);
    const std::string prefix =
        number == 0 ? "expanded_conv/" : absl::StrCat("expanded_conv_", number, "/");
    Tensor x = inputs;
    if (number > 0) {
      const int64_t expanded = DivisibleBy8(channels * block.expansion);
      x = activation(ConvNorm(net_, x, Layer(prefix + "expand", expanded)));
    }
    ConvNormOptions depthwise = Layer(prefix + "depthwise", 0);
    depthwise.kernel_size = block.large_kernel && !options_.minimalistic ? 5 : 3;
    depthwise.strides = block.strides;
    depthwise.padding = StridedPadding::kCorrect;
    x = activation(DepthwiseNorm(net_, x, depthwise));
    if (!x.valid()) return x;
    if (block.squeeze_excite && !options_.minimalistic)
      x = SqueezeExcite(x, prefix + "squeeze_excite/");
    x = ConvNorm(net_, x, Layer(prefix + "project", filters));
    return block.strides == 1 && inputs.dim(3) == filters ? inputs + x : x;
  }

  const Network& net_;
  const MobileNetV3Options& options_;
  const Activation activation_;
};

Tensor MobileNetV3(StringArg function, const Tensor& images, const MobileNetV3Options& options,
                   absl::Span<const MobileNetV3Block> blocks, int64_t last_filters) {
  const Network net(function, images, options, 32, UnlessPositive("alpha", options.alpha));
  if (!net.ok()) return Network::Invalid();
  const MobileNetV3Builder builder(net, options);
  return net.Finish(builder.Features(images, blocks),
                    [&](const Tensor& features) { return builder.Top(features, last_filters); });
}

}  // namespace

Tensor MobileNetV3Small(const Tensor& images, const MobileNetV3Options& options) {
  return MobileNetV3("MobileNetV3Small", images, options, kSmallBlocks, 1024);
}

Tensor MobileNetV3Large(const Tensor& images, const MobileNetV3Options& options) {
  return MobileNetV3("MobileNetV3Large", images, options, kLargeBlocks, 1280);
}

Tensor MobileNetV3PreprocessInput(const Tensor& images) { return Cast(images, DType::kFloat32); }

}  // namespace estimator::images
