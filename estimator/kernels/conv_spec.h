// What a KernelSpec says about a convolution, for the kernels of all tiers and the rules that
// choose them. The ops are Conv2D, DepthwiseConv2dNative and their gradients, and those with bias,
// shortcut, activation (fused_ops.h) or max pool (conv_block.h).
#ifndef ESTIMATOR_KERNELS_CONV_SPEC_H_
#define ESTIMATOR_KERNELS_CONV_SPEC_H_

#include <optional>
#include <string>

#include "estimator/array/tensor_spec.h"
#include "estimator/kernels/convolution.h"
#include "estimator/kernels/fused_ops.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/window.h"

namespace estimator {

// A convolution, or one of its two gradients.
struct ConvSpec {
  enum class Pass { kForward, kInputGradient, kFilterGradient };
  Pass pass = Pass::kForward;
  bool depthwise = false;
  bool blocked = false;  // the images are in blocks of channels (layout.h)
  bool pooled = false;   // a max pool follows the convolution (conv_block.h)
  // The three operands, of which one is an output of the op: y, x or filter. y is after the pool.
  // In the place of an image, a gradient has its gradient.
  TensorSpec x = {}, filter = {}, y = {};
  // The number of each operand in the inputs, or in the outputs if it is one; -1: the op has none.
  int x_index = 0, filter_index = 1, y_index = 0;
  int argmax_index = -1;            // an output of the forward pass, and an input of the gradients
  int dbias_index = -1;             // an output of the filter's gradient
  FusedOps fused = {};              // of the forward pass
  TensorSpec bias = {}, side = {};  // if `fused` has them
  TensorSpec dbias = {};            // if there is one
  ConvGeometry geometry = {};       // in NHWC, without the pool
  Window2D pool = {};               // if pooled
  std::string name = {};            // the node's name, used in messages
  ConvAlgorithm algorithm = ConvAlgorithm::kAuto;
  DType compute_dtype = DType::kFloat32;  // KernelSpec::compute_dtype

  // The dtype of the two factors.
  DType dtype() const { return pass == Pass::kFilterGradient ? x.dtype : filter.dtype; }
  // Whether the three operands have the dtype.
  bool IsAll(DType dtype) const;
  bool IsEmpty() const;  // an operand has no elements
  // Whether `sizes` describes it: one group, no dilation.
  bool IsPlain() const;
  Convolution sizes() const;
  // Whether the pool has adjacent windows of 2x2 that cover the whole image.
  bool HalvesTheImage() const;
};

// nullopt for other ops, and for operands or attributes that do not agree.
std::optional<ConvSpec> ConvSpecOf(const KernelSpec& spec);

// A factory of ConvSpecs as one of KernelSpecs.
template <KernelPlan (*kMake)(const ConvSpec&)>
KernelPlan FromConvSpec(const KernelSpec& spec) {
  const std::optional<ConvSpec> conv = ConvSpecOf(spec);
  return conv.has_value() ? kMake(*conv) : nullptr;
}

}  // namespace estimator

#endif  // ESTIMATOR_KERNELS_CONV_SPEC_H_
