// What the convolution kernels share: a spec's geometry in oneDNN's terms.
#ifndef ESTIMATOR_KERNELS_ONEDNN_CONVOLUTION_H_
#define ESTIMATOR_KERNELS_ONEDNN_CONVOLUTION_H_

#include <dnnl.hpp>
#include <optional>

#include "estimator/kernels/kernel.h"

namespace estimator::onednn {

// input, filter and output are the tensors' own layouts (NHWC or blocks, HWIO).
struct Convolution {
  dnnl::memory::desc input, filter, output;
  // What primitives are made from. oneDNN chooses the filter's layout; with blocked activations
  // theirs too, and a kernel is made only if it chose the blocks that it is given.
  dnnl::memory::desc asked_input, any_filter, asked_output;
  dnnl::memory::dims strides, dilations, pad_before, pad_after;

  bool dilated() const { return dilations[0] > 0 || dilations[1] > 0; }
  bool IsOwn(const dnnl::memory::desc& of_input, const dnnl::memory::desc& of_output) const {
    return of_input == input && of_output == output;
  }
};

// input [N,H,W,C], filter [KH,KW,C,O] (depthwise: [KH,KW,C,M], output channel c * M + m), output
// [N,OH,OW,O]; or input and output in blocks (kernels/layout.h). Returns nullopt where the tier
// does not do it: mixed or unsupported dtypes, grouped filters, an empty tensor, attributes that
// MakeConvGeometry refuses.
std::optional<Convolution> DescribeConvolution(const Attrs& attrs, const TensorSpec& input,
                                               const TensorSpec& filter, const TensorSpec& output,
                                               bool depthwise);

// The forward primitive that oneDNN's backward ones ask for as a hint. May throw dnnl::error.
dnnl::convolution_forward::primitive_desc ForwardHint(const Convolution& conv);

}  // namespace estimator::onednn

#endif  // ESTIMATOR_KERNELS_ONEDNN_CONVOLUTION_H_
