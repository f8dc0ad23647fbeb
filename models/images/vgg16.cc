#include "models/images/vgg16.h"

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "models/images/network.h"
#include "models/images/preprocess_input.h"
#include "models/images/slim_map.h"

namespace estimator::images {
namespace {

struct VGGBlock {
  int64_t filters;
  int convolutions;
};
constexpr VGGBlock kVGG16Blocks[] = {{64, 2}, {128, 2}, {256, 3}, {512, 3}, {512, 3}};

}  // namespace

Tensor VGG16(const Tensor& images, const VGG16Options& options) {
  const Network net("VGG16", images, options);
  if (!net.ok()) return Network::Invalid();
  Tensor x = images;
  int number = 0;
  for (const auto& [filters, convolutions] : kVGG16Blocks) {
    const std::string block = absl::StrCat("block", ++number);
    for (int i = 1; i <= convolutions; ++i) {
      x = net.Conv2D(x, {.filters = Scaled(filters, options.width),
                         .kernel_size = 3,
                         .padding = Padding::kSame,
                         .activation = Relu,
                         .name = absl::StrCat(block, "_conv", i)});
    }
    x = layers::MaxPooling2D(x, {.pool_size = 2});
  }
  return net.Finish(x, [&](const Tensor& features) {
    const int64_t units = Scaled(4096, options.width);
    Tensor y = layers::Flatten(features);
    y = net.Dense(y, {.units = units, .activation = Relu, .name = "fc1"});
    y = net.Dense(y, {.units = units, .activation = Relu, .name = "fc2"});
    return net.Dense(y, {.units = options.classes, .name = "predictions"});
  });
}

Tensor VGG16PreprocessInput(const Tensor& images) {
  return PreprocessInput(images, PreprocessMode::kCaffe);
}

train::AssignmentMap VGG16FromSlim(StringArg scope) {
  SlimMap slim("vgg_16/", scope);
  for (int block = 1; block <= 5; ++block) {
    for (int i = 1; i <= kVGG16Blocks[block - 1].convolutions; ++i) {
      slim.Conv(absl::StrCat("conv", block, "/conv", block, "_", i),
                absl::StrCat("block", block, "_conv", i), /*use_bias=*/true);
    }
  }
  return slim.map();
}

}  // namespace estimator::images
