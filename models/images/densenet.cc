#include "models/images/densenet.h"

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "models/images/network.h"
#include "models/images/preprocess_input.h"

namespace estimator::images {
namespace {

constexpr int kDenseNet121Layers[] = {6, 12, 24, 16};  // of the four blocks

class DenseNetBuilder {
 public:
  DenseNetBuilder(const Network& net, double width) : net_(net), width_(width) {}

  Tensor Build(const Tensor& images) const {
    Tensor x = Conv(ZeroPad(images, 3, 3), Scaled(64, width_), 7, "conv1/conv", 2);
    x = Normalize(x, "conv1/bn");
    x = layers::MaxPooling2D(ZeroPad(x, 1, 1), {.pool_size = 3, .strides = 2});
    for (int block = 0; block < 4 && x.valid(); ++block) {
      for (int i = 1; i <= kDenseNet121Layers[block]; ++i) {
        x = Concat({x, Layer(x, absl::StrCat("conv", block + 2, "_block", i))}, 3);
      }
      if (block < 3 && x.valid()) x = Transition(x, absl::StrCat("pool", block + 2));
    }
    return Normalize(x, "bn");
  }

 private:
  Tensor Conv(const Tensor& x, int64_t filters, int64_t kernel_size, const std::string& name,
              int64_t strides = 1) const {
    return net_.Conv2D(x, {.filters = filters,
                           .kernel_size = kernel_size,
                           .strides = strides,
                           .padding = strides > 1 ? Padding::kValid : Padding::kSame,
                           .use_bias = false,
                           .name = name});
  }

  Tensor Normalize(const Tensor& x, const std::string& name) const {
    return Relu(net_.BatchNormalization(x, {.epsilon = 1.001e-5, .name = name}));
  }

  Tensor Layer(const Tensor& x, const std::string& name) const {
    const int64_t growth = Scaled(32, width_);
    Tensor y = Conv(Normalize(x, name + "_0_bn"), 4 * growth, 1, name + "_1_conv");
    return Conv(Normalize(y, name + "_1_bn"), growth, 3, name + "_2_conv");
  }

  // Halves the channels, the height and the width.
  Tensor Transition(const Tensor& x, const std::string& name) const {
    const Tensor y = Conv(Normalize(x, name + "_bn"), x.dim(3) / 2, 1, name + "_conv");
    return layers::AveragePooling2D(y, {.pool_size = 2});
  }

  const Network& net_;
  const double width_;
};

}  // namespace

Tensor DenseNet121(const Tensor& images, const DenseNet121Options& options) {
  const Network net("DenseNet121", images, options);
  if (!net.ok()) return Network::Invalid();
  return net.Finish(DenseNetBuilder(net, options.width).Build(images));
}

Tensor DenseNetPreprocessInput(const Tensor& images) {
  return PreprocessInput(images, PreprocessMode::kTorch);
}

}  // namespace estimator::images
