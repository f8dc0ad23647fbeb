// Conv2D, DepthwiseConv2dNative and their fused ops by oneDNN. Images are NHWC, or in blocks if
// oneDNN prefers that. The filter is reordered to the layout that oneDNN prefers, and is the
// prepared input.
//   _FusedConv2D: x, filter, bias[, side] -> y = act(conv(x, filter) + bias + side)
//     fused_ops is {"BiasAdd"} or {"BiasAdd", "Relu"}. The output may use the buffer of the side
//     input.
//   _FusedDepthwiseConv2dNative: the same of a depthwise convolution
#include <memory>
#include <optional>

#include "estimator/kernels/layout.h"
#include "estimator/kernels/onednn/convolution.h"
#include "estimator/kernels/onednn/primitive_chain.h"

namespace estimator::onednn {
namespace {

using dnnl::memory;

std::unique_ptr<Kernel> MakeConv2D(const KernelSpec& spec, bool depthwise) {
  FusedOps fused;
  if (!ParseFusedOps(spec.attrs, &fused)) return nullptr;
  const bool side = spec.inputs.size() == 4;
  if (spec.inputs.size() != (fused.bias ? (side ? 4 : 3) : 2)) return nullptr;
  if (spec.inputs[1].dtype != spec.inputs[0].dtype) return nullptr;
  if (side && !(spec.inputs[3] == spec.outputs[0])) return nullptr;
  const std::optional<Convolution> conv =
      DescribeConvolution(spec.attrs, spec.inputs[0], spec.inputs[1], spec.outputs[0], depthwise);
  if (!conv.has_value()) return nullptr;
  const int64_t channels = conv->output.dims()[1];
  if (fused.bias &&
      (spec.inputs[2].dtype != spec.inputs[0].dtype || spec.inputs[2].shape != Shape{channels})) {
    return nullptr;
  }
  const memory::desc bias =
      fused.bias ? memory::desc({channels}, DataType(spec.inputs[0].dtype), memory::format_tag::x)
                 : memory::desc();
  // Blocks are used in programs that also compute gradients; oneDNN's training primitives agree on
  // their layout. Its inference primitives would choose NHWC on AVX-512.
  const dnnl::prop_kind kind = IsBlocked(spec.attrs) ? dnnl::prop_kind::forward_training
                                                     : dnnl::prop_kind::forward_inference;
  return NullIfUnsupported([&]() -> std::unique_ptr<Kernel> {
    dnnl::convolution_forward::primitive_desc desc(
        {kind, dnnl::algorithm::convolution_direct, conv->asked_input, conv->any_filter, bias,
         conv->asked_output, conv->strides, conv->dilations, conv->pad_before, conv->pad_after},
        FusedAttributes(fused, side), CpuEngine());
    if (!SkipReference(desc) || !conv->IsOwn(desc.src_desc(), desc.dst_desc())) return nullptr;
    auto chain = std::make_unique<PrimitiveChain>(spec.name);
    std::vector<Argument> arguments = {
        {DNNL_ARG_SRC, desc.src_desc(), Input(0)},
        {DNNL_ARG_WEIGHTS, desc.weights_desc(),
         chain->InPreparedLayout(1, conv->filter, desc.weights_desc())},
        {DNNL_ARG_DST, desc.dst_desc(), Output(0)}};
    if (fused.bias) arguments.push_back({DNNL_ARG_BIAS, desc.bias_desc(), Input(2)});
    if (side) {
      chain->AddCopy(Input(3), Output(0), spec.outputs[0].num_bytes());
      chain->set_alias_input(3);
    }
    chain->AddStep(dnnl::convolution_forward(desc), desc.scratchpad_desc(), arguments);
    chain->set_implementation(desc.impl_info_str());
    return chain;
  });
}

EST_REGISTER_KERNEL("Conv2D", KernelTier::kOneDnn,
                    [](const KernelSpec& spec) { return MakeConv2D(spec, false); });
EST_REGISTER_KERNEL("_FusedConv2D", KernelTier::kOneDnn,
                    [](const KernelSpec& spec) { return MakeConv2D(spec, false); });
EST_REGISTER_KERNEL("DepthwiseConv2dNative", KernelTier::kOneDnn,
                    [](const KernelSpec& spec) { return MakeConv2D(spec, true); });
EST_REGISTER_KERNEL("_FusedDepthwiseConv2dNative", KernelTier::kOneDnn,
                    [](const KernelSpec& spec) { return MakeConv2D(spec, true); });

}  // namespace
}  // namespace estimator::onednn
