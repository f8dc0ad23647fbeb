// What both generations of EfficientNet share. Not for users.
#ifndef MODELS_IMAGES_EFFICIENTNET_BLOCKS_H_
#define MODELS_IMAGES_EFFICIENTNET_BLOCKS_H_

#include <cstdint>
#include <string>

#include "estimator/estimator.h"
#include "models/images/mobile.h"
#include "models/images/network.h"

namespace estimator::images {

// A group of blocks; the first has the strides.
struct EfficientNetGroup {
  int64_t kernel_size;
  int repeats;
  int64_t filters_in;
  int64_t filters_out;
  int64_t expand_ratio;
  int64_t strides;
  bool squeeze_excite;
  bool fused;  // a convolution in place of the expansion and the depthwise convolution
};

// What differs between the generations.
struct EfficientNetStyle {
  bool training = false;   // drops blocks
  double momentum = 0.99;  // of batch norms
  StridedPadding padding = StridedPadding::kSame;
  std::string depthwise = "dwconv";
};

// The layers of one network.
class EfficientNetLayers {
 public:
  EfficientNetLayers(const Network& net, EfficientNetStyle style)
      : net_(net), style_(std::move(style)) {}

  // swish(batch_norm(convolution)).
  Tensor ConvNormSwish(const Tensor& x, int64_t filters, int64_t kernel_size, int64_t strides,
                       const std::string& conv, const std::string& norm) const;
  // A block, MBConv or Fused-MBConv, with strides, filters_in and filters_out of its own.
  //   drop_rate: the share of examples that skip it, if it has a shortcut.
  Tensor Block(const Tensor& inputs, const EfficientNetGroup& block, double drop_rate,
               const std::string& prefix) const;
  // The mean, dropout and the dense layer.
  Tensor Top(const Tensor& features, int64_t classes, double dropout_rate) const;

 private:
  ConvNormOptions Layer(const std::string& conv, const std::string& norm, int64_t filters,
                        int64_t kernel_size, int64_t strides) const;
  Tensor SqueezeExcite(const Tensor& x, int64_t squeezed, const std::string& prefix) const;

  const Network& net_;
  const EfficientNetStyle style_;
};

}  // namespace estimator::images

#endif  // MODELS_IMAGES_EFFICIENTNET_BLOCKS_H_
