// What the convolution kernels share: the geometry of a spec in oneDNN's terms.
#ifndef ESTIMATOR_KERNELS_ONEDNN_CONVOLUTION_H_
#define ESTIMATOR_KERNELS_ONEDNN_CONVOLUTION_H_

#include <optional>

#include "estimator/kernels/conv_spec.h"
#include "estimator/kernels/onednn/dnnl_api.h"

namespace estimator::onednn {

// input, filter and output are the layouts of the tensors (NHWC or blocks, HWIO).
struct Convolution {
  dnnl::memory::desc input, filter, output;
  // The layouts that primitives are created with. oneDNN chooses the filter's layout. For blocked
  // activations it chooses theirs too, and a kernel is built only if it chose the blocks of the
  // spec.
  dnnl::memory::desc asked_input, any_filter, asked_output;
  dnnl::memory::dims strides, dilations, pad_before, pad_after;

  bool dilated() const { return dilations[0] > 0 || dilations[1] > 0; }
  bool IsOwn(const dnnl::memory::desc& of_input, const dnnl::memory::desc& of_output) const {
    return of_input == input && of_output == output;
  }
};

// Describes a convolution. Returns nullopt if this tier does not support it: mixed or unsupported
// dtypes, or an empty tensor. x and y have one dtype. That of the filter may be
// f32 where theirs is bf16, which only the gradient of a filter supports.
std::optional<Convolution> DescribeConvolution(const ConvSpec& spec);

// The forward primitive that oneDNN's backward primitives need as a hint. May throw dnnl::error.
dnnl::convolution_forward::primitive_desc ForwardHint(const Convolution& conv);

}  // namespace estimator::onednn

#endif  // ESTIMATOR_KERNELS_ONEDNN_CONVOLUTION_H_
