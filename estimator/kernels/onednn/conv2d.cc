// Conv2D, DepthwiseConv2dNative and their fused ops by oneDNN. Images are NHWC, or in blocks if
// oneDNN prefers that. The filter is reordered to the layout that oneDNN prefers, and is the
// prepared input.
//   _FusedConv2D, _FusedDepthwiseConv2dNative (kernels/fused_ops.h): with Relu, Relu6, LeakyRelu or
//     no activation. The output may use the buffer of the side input.
#include <memory>
#include <optional>

#include "estimator/kernels/layout.h"
#include "estimator/kernels/onednn/convolution.h"
#include "estimator/kernels/onednn/primitive_chain.h"

namespace estimator::onednn {
namespace {

using dnnl::memory;

// What oneDNN does for a spec.
struct ConvPlan {
  Convolution conv;
  FusedOps fused;
  dnnl::convolution_forward::primitive_desc desc;
};

// nullopt if oneDNN does not support the spec. Only oneDNN knows that: the answer is whether it makes a
// primitive descriptor. This is cheap beside building the primitive, which generates its code.
std::optional<ConvPlan> ConvPlanOf(const KernelSpec& spec, bool depthwise) {
  const std::optional<FusedOps> fused = SupportedFusedOps(spec);
  if (!fused.has_value()) return std::nullopt;
  if (spec.inputs[1].dtype != spec.inputs[0].dtype) return std::nullopt;
  if (fused->side && !(spec.inputs[3] == spec.outputs[0])) return std::nullopt;
  const std::optional<Convolution> conv =
      DescribeConvolution(spec.attrs, spec.inputs[0], spec.inputs[1], spec.outputs[0], depthwise);
  if (!conv.has_value()) return std::nullopt;
  const int64_t channels = conv->output.dims()[1];
  if (fused->bias &&
      (spec.inputs[2].dtype != spec.inputs[0].dtype || spec.inputs[2].shape != Shape{channels})) {
    return std::nullopt;
  }
  const memory::desc bias =
      fused->bias ? memory::desc({channels}, DataType(spec.inputs[0].dtype), memory::format_tag::x)
                  : memory::desc();
  // Blocks are used in programs that also compute gradients; oneDNN's training primitives agree on
  // their layout. Its inference primitives would choose NHWC on AVX-512.
  const dnnl::prop_kind kind = IsBlocked(spec.attrs) ? dnnl::prop_kind::forward_training
                                                     : dnnl::prop_kind::forward_inference;
  return NullIfUnsupported([&]() -> std::optional<ConvPlan> {
    dnnl::convolution_forward::primitive_desc desc(
        {kind, dnnl::algorithm::convolution_direct, conv->asked_input, conv->any_filter, bias,
         conv->asked_output, conv->strides, conv->dilations, conv->pad_before, conv->pad_after},
        FusedAttributes(*fused), CpuEngine());
    if (!SkipReference(desc) || !conv->IsOwn(desc.src_desc(), desc.dst_desc())) return std::nullopt;
    return ConvPlan{.conv = *conv, .fused = *fused, .desc = desc};
  });
}

template <bool kDepthwise>
bool AcceptsConv2D(const KernelSpec& spec) {
  return ConvPlanOf(spec, kDepthwise).has_value();
}

template <bool kDepthwise>
std::unique_ptr<Kernel> MakeConv2D(const KernelSpec& spec) {
  std::optional<ConvPlan> plan = ConvPlanOf(spec, kDepthwise);
  if (!plan.has_value()) return nullptr;
  return NullIfUnsupported([&]() -> std::unique_ptr<Kernel> {
    auto chain = std::make_unique<PrimitiveChain>(spec.name);
    std::vector<Argument> arguments = {
        {DNNL_ARG_SRC, plan->desc.src_desc(), Input(0)},
        {DNNL_ARG_WEIGHTS, plan->desc.weights_desc(),
         chain->InPreparedLayout(1, plan->conv.filter, plan->desc.weights_desc())},
        {DNNL_ARG_DST, plan->desc.dst_desc(), Output(0)}};
    if (plan->fused.bias) arguments.push_back({DNNL_ARG_BIAS, plan->desc.bias_desc(), Input(2)});
    if (plan->fused.side) {
      chain->AddCopy(Input(3), Output(0), spec.outputs[0].num_bytes());
      chain->set_alias_input(3);
    }
    chain->AddStep(dnnl::convolution_forward(plan->desc), plan->desc.scratchpad_desc(), arguments);
    chain->set_implementation(plan->desc.impl_info_str());
    return chain;
  });
}

EST_REGISTER_KERNEL("Conv2D", KernelTier::kOneDnn, MakeConv2D<false>, AcceptsConv2D<false>);
EST_REGISTER_KERNEL("_FusedConv2D", KernelTier::kOneDnn, MakeConv2D<false>, AcceptsConv2D<false>);
EST_REGISTER_KERNEL("DepthwiseConv2dNative", KernelTier::kOneDnn, MakeConv2D<true>,
                    AcceptsConv2D<true>);
EST_REGISTER_KERNEL("_FusedDepthwiseConv2dNative", KernelTier::kOneDnn, MakeConv2D<true>,
                    AcceptsConv2D<true>);

}  // namespace
}  // namespace estimator::onednn
