#include "models/images/mobilenet_v2.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "models/images/mobile.h"
#include "models/images/network.h"
#include "models/images/preprocess_input.h"
#include "models/images/slim_map.h"

namespace estimator::images {
namespace {

struct InvertedGroup {
  int64_t filters;
  int64_t strides;  // of the first block
  int blocks;
};
constexpr InvertedGroup kMobileNetV2Groups[] = {{16, 1, 1}, {24, 2, 2},  {32, 2, 3}, {64, 2, 4},
                                                {96, 1, 3}, {160, 2, 3}, {320, 1, 1}};
constexpr double kMobileNetV2Momentum = 0.999;

std::string MobileNetV2Prefix(int block) {
  return block == 0 ? "expanded_conv_" : absl::StrCat("block_", block, "_");
}

Tensor InvertedResidual(const Network& net, const Tensor& inputs, int64_t filters, int64_t strides,
                        int block) {
  if (!inputs.valid()) return inputs;
  const std::string prefix = MobileNetV2Prefix(block);
  const auto options = [&](const std::string& conv) {
    return ConvNormOptions{
        .conv = prefix + conv, .norm = prefix + conv + "_BN", .momentum = kMobileNetV2Momentum};
  };
  Tensor x = inputs;
  if (block > 0) {
    ConvNormOptions expand = options("expand");
    expand.filters = 6 * inputs.dim(3);
    x = Relu6(ConvNorm(net, x, expand));
  }
  ConvNormOptions depthwise = options("depthwise");
  depthwise.kernel_size = 3;
  depthwise.strides = strides;
  depthwise.padding = StridedPadding::kCorrect;
  x = Relu6(DepthwiseNorm(net, x, depthwise));
  ConvNormOptions project = options("project");
  project.filters = filters;
  x = ConvNorm(net, x, project);
  return inputs.dim(3) == filters && strides == 1 ? inputs + x : x;
}

}  // namespace

Tensor MobileNetV2(const Tensor& images, const MobileNetV2Options& options) {
  const double alpha = options.alpha;
  const Network net("MobileNetV2", images, options, 32, UnlessPositive("alpha", alpha));
  if (!net.ok()) return Network::Invalid();
  Tensor x = Relu6(ConvNorm(net, images,
                            {.conv = "Conv1",
                             .norm = "bn_Conv1",
                             .filters = DivisibleBy8(32 * alpha),
                             .kernel_size = 3,
                             .strides = 2,
                             .momentum = kMobileNetV2Momentum}));
  int block = 0;
  for (const auto& [whole_filters, strides, blocks] : kMobileNetV2Groups) {
    // Keras cuts off the fraction first.
    const int64_t filters = DivisibleBy8(std::trunc(static_cast<double>(whole_filters) * alpha));
    for (int i = 0; i < blocks; ++i)
      x = InvertedResidual(net, x, filters, i == 0 ? strides : 1, block++);
  }
  x = Relu6(ConvNorm(net, x,
                     {.conv = "Conv_1",
                      .norm = "Conv_1_bn",
                      .filters = alpha > 1 ? DivisibleBy8(1280 * alpha) : 1280,
                      .momentum = kMobileNetV2Momentum}));
  return net.Finish(x);
}

Tensor MobileNetV2PreprocessInput(const Tensor& images) {
  return PreprocessInput(images, PreprocessMode::kTf);
}

train::AssignmentMap MobileNetV2FromSlim(StringArg scope) {
  SlimMap map("MobilenetV2/", scope);
  const auto conv = [&](const std::string& slim, const std::string& layer,
                        const std::string& norm) {
    map.Conv(slim, layer, /*use_bias=*/false);
    map.BatchNorm(slim + "/BatchNorm", norm);
  };
  conv("Conv", "Conv1", "bn_Conv1");
  for (int block = 0; block < 17; ++block) {
    const std::string slim =
        block == 0 ? "expanded_conv/" : absl::StrCat("expanded_conv_", block, "/");
    const std::string ours = MobileNetV2Prefix(block);
    if (block > 0) conv(slim + "expand", ours + "expand", ours + "expand_BN");
    map.Variable(slim + "depthwise/depthwise_weights", ours + "depthwise/depthwise_kernel");
    map.BatchNorm(slim + "depthwise/BatchNorm", ours + "depthwise_BN");
    conv(slim + "project", ours + "project", ours + "project_BN");
  }
  conv("Conv_1", "Conv_1", "Conv_1_bn");
  return map.map();
}

}  // namespace estimator::images
