#include "models/images/xception.h"

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "models/images/network.h"
#include "models/images/preprocess_input.h"

namespace estimator::images {
namespace {

class XceptionBuilder {
 public:
  XceptionBuilder(const Network& net, double width) : net_(net), width_(width) {}

  Tensor Build(const Tensor& images) {
    Tensor x = Conv(images, 32, 2, "block1_conv1");
    x = Conv(x, 64, 1, "block1_conv2");
    x = HalvingBlock(x, 2, 128, 128);
    x = HalvingBlock(x, 3, 256, 256);
    x = HalvingBlock(x, 4, 728, 728);
    for (int block = 5; block <= 12; ++block) {
      Tensor y = x;
      for (int i = 1; i <= 3; ++i) {
        y = Separable(Relu(y), 728, absl::StrCat("block", block, "_sepconv", i));
      }
      x = y + x;
    }
    x = HalvingBlock(x, 13, 728, 1024);
    x = Relu(Separable(x, 1536, "block14_sepconv1"));
    return Relu(Separable(x, 2048, "block14_sepconv2"));
  }

 private:
  Tensor Conv(const Tensor& x, int64_t filters, int64_t strides, const std::string& name) const {
    const Tensor y = net_.Conv2D(x, {.filters = Scaled(filters, width_),
                                     .kernel_size = 3,
                                     .strides = strides,
                                     .use_bias = false,
                                     .name = name});
    return Relu(net_.BatchNormalization(y, {.name = name + "_bn"}));
  }

  Tensor Separable(const Tensor& x, int64_t filters, const std::string& name) const {
    const Tensor y = net_.SeparableConv2D(x, {.filters = Scaled(filters, width_),
                                              .kernel_size = 3,
                                              .padding = Padding::kSame,
                                              .use_bias = false,
                                              .name = name});
    return net_.BatchNormalization(y, {.name = name + "_bn"});
  }

  // Keras' layers without a name of their own: conv2d, conv2d_1, ...
  Tensor Shortcut(const Tensor& x, int64_t filters) {
    const std::string number = shortcuts_ == 0 ? "" : absl::StrCat("_", shortcuts_);
    ++shortcuts_;
    const Tensor y = net_.Conv2D(x, {.filters = Scaled(filters, width_),
                                     .kernel_size = 1,
                                     .strides = 2,
                                     .padding = Padding::kSame,
                                     .use_bias = false,
                                     .name = "conv2d" + number});
    return net_.BatchNormalization(y, {.name = "batch_normalization" + number});
  }

  Tensor HalvingBlock(const Tensor& x, int block, int64_t first, int64_t second) {
    const std::string name = absl::StrCat("block", block, "_sepconv");
    const Tensor shortcut = Shortcut(x, second);
    // The input of block 2 is the output of a relu.
    Tensor y = Separable(block == 2 ? x : Relu(x), first, name + "1");
    y = Separable(Relu(y), second, name + "2");
    y = layers::MaxPooling2D(y, {.pool_size = 3, .strides = 2, .padding = Padding::kSame});
    return y + shortcut;
  }

  const Network& net_;
  const double width_;
  int shortcuts_ = 0;
};

}  // namespace

Tensor Xception(const Tensor& images, const XceptionOptions& options) {
  const Network net("Xception", images, options, /*min_size=*/71);
  if (!net.ok()) return Network::Invalid();
  return net.Finish(XceptionBuilder(net, options.width).Build(images));
}

Tensor XceptionPreprocessInput(const Tensor& images) {
  return PreprocessInput(images, PreprocessMode::kTf);
}

}  // namespace estimator::images
