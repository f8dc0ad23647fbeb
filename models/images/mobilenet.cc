#include "models/images/mobilenet.h"

#include "absl/strings/str_cat.h"
#include "models/images/mobile.h"
#include "models/images/network.h"
#include "models/images/preprocess_input.h"
#include "models/images/slim_map.h"

namespace estimator::images {
namespace {

struct SeparableBlock {
  int64_t filters;
  int64_t strides;
};
constexpr SeparableBlock kMobileNetBlocks[] = {{64, 1},  {128, 2},  {128, 1}, {256, 2}, {256, 1},
                                               {512, 2}, {512, 1},  {512, 1}, {512, 1}, {512, 1},
                                               {512, 1}, {1024, 2}, {1024, 1}};

}  // namespace

Tensor MobileNet(const Tensor& images, const MobileNetOptions& options) {
  const Network net("MobileNet", images, options, 32, UnlessPositive("alpha", options.alpha));
  if (!net.ok()) return Network::Invalid();
  const auto filters = [&](int64_t whole) {
    return static_cast<int64_t>(static_cast<double>(whole) * options.alpha);
  };
  Tensor x = Relu6(ConvNorm(net, images,
                            {.conv = "conv1",
                             .norm = "conv1_bn",
                             .filters = filters(32),
                             .kernel_size = 3,
                             .strides = 2}));
  int block = 0;
  for (const auto& [whole_filters, strides] : kMobileNetBlocks) {
    const std::string depthwise = absl::StrCat("conv_dw_", ++block);
    const std::string pointwise = absl::StrCat("conv_pw_", block);
    x = Relu6(DepthwiseNorm(net, x,
                            {.conv = depthwise,
                             .norm = depthwise + "_bn",
                             .kernel_size = 3,
                             .strides = strides,
                             .padding = StridedPadding::kAfter,
                             .depth_multiplier = options.depth_multiplier}));
    x = Relu6(ConvNorm(
        net, x, {.conv = pointwise, .norm = pointwise + "_bn", .filters = filters(whole_filters)}));
  }
  return net.Finish(x, [&](const Tensor& features) {
    Tensor y = net.Dropout(GlobalAvgPool(features, /*keepdims=*/true), options.dropout);
    y = net.Conv2D(y, {.filters = options.classes, .kernel_size = 1, .name = "conv_preds"});
    return layers::Flatten(y);
  });
}

Tensor MobileNetPreprocessInput(const Tensor& images) {
  return PreprocessInput(images, PreprocessMode::kTf);
}

train::AssignmentMap MobileNetFromSlim(StringArg scope) {
  SlimMap map("MobilenetV1/Conv2d_", scope);
  map.Conv("0", "conv1", /*use_bias=*/false);
  map.BatchNorm("0/BatchNorm", "conv1_bn");
  for (int block = 1; block <= 13; ++block) {
    const std::string depthwise = absl::StrCat("conv_dw_", block);
    const std::string pointwise = absl::StrCat("conv_pw_", block);
    const std::string slim_depthwise = absl::StrCat(block, "_depthwise");
    const std::string slim_pointwise = absl::StrCat(block, "_pointwise");
    map.Variable(slim_depthwise + "/depthwise_weights", depthwise + "/depthwise_kernel");
    map.BatchNorm(slim_depthwise + "/BatchNorm", depthwise + "_bn");
    map.Conv(slim_pointwise, pointwise, /*use_bias=*/false);
    map.BatchNorm(slim_pointwise + "/BatchNorm", pointwise + "_bn");
  }
  return map.map();
}

}  // namespace estimator::images
