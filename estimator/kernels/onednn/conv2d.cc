// Conv2D, DepthwiseConv2dNative and their fused ops by oneDNN. Images are NHWC, or in blocks if
// oneDNN prefers that. The filter is reordered to the layout that oneDNN prefers, and is the
// prepared input.
//   _FusedConv2D, _FusedDepthwiseConv2dNative (kernels/fused_ops.h): with Relu, Relu6, LeakyRelu or
//     no activation. The output may use the buffer of the side input.
#include <memory>
#include <optional>

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

// nullopt if oneDNN does not support the spec. Only oneDNN knows that: the answer is whether it
// makes a primitive descriptor. This is cheap beside building the primitive, which generates its
// code.
std::optional<ConvPlan> ConvPlanOf(const ConvSpec& spec) {
  const FusedOps& fused = spec.fused;
  if (spec.pooled || !IsSupported(fused) || spec.filter.dtype != spec.x.dtype) return std::nullopt;
  if (fused.side && spec.side != spec.y) return std::nullopt;
  const std::optional<Convolution> conv = DescribeConvolution(spec);
  if (!conv.has_value()) return std::nullopt;
  const int64_t channels = DimsOf(conv->output)[1];
  if (fused.bias && spec.bias != TensorSpec{spec.x.dtype, {channels}}) return std::nullopt;
  const memory::desc bias =
      fused.bias ? memory::desc({channels}, DataType(spec.x.dtype), memory::format_tag::x)
                 : memory::desc();
  // Blocks are used in programs that also compute gradients; oneDNN's training primitives agree on
  // their layout. Its inference primitives would choose NHWC on AVX-512.
  const dnnl::prop_kind kind =
      spec.blocked ? dnnl::prop_kind::forward_training : dnnl::prop_kind::forward_inference;
  return NullIfUnsupported([&]() -> std::optional<ConvPlan> {
    // This asks for the direct algorithm and not for oneDNN's own choice, because this tier also
    // serves ConvAlgorithm::kDirect, which forbids the errors of Winograd's algorithm.
    auto desc = Describe<dnnl::convolution_forward>(
        CpuEngine(), FusedAttributes(fused), kind, dnnl::algorithm::convolution_direct,
        conv->asked_input, conv->any_filter, bias, conv->asked_output, conv->strides,
        conv->dilations, conv->pad_before, conv->pad_after);
    // In blocks, oneDNN was free to choose the layout of the images. Only if it chose ours does the
    // kernel need no copies of them.
    if (!SkipReference(desc) || !conv->IsOwn(desc.src_desc(), desc.dst_desc())) return std::nullopt;
    return ConvPlan{.conv = *conv, .fused = fused, .desc = desc};
  });
}

KernelPlan MakeConv2D(const ConvSpec& spec) {
  std::optional<ConvPlan> found = ConvPlanOf(spec);
  if (!found.has_value()) return nullptr;
  return PlanChain([plan = *std::move(found), name = spec.name, y = spec.y] {
    auto chain = std::make_unique<PrimitiveChain>(name);
    std::vector<Argument> arguments = {
        {DNNL_ARG_SRC, plan.desc.src_desc(), Input(0)},
        {DNNL_ARG_WEIGHTS, plan.desc.weights_desc(),
         chain->InPreparedLayout(1, plan.conv.filter, plan.desc.weights_desc())},
        {DNNL_ARG_DST, plan.desc.dst_desc(), Output(0)}};
    if (plan.fused.bias) arguments.push_back({DNNL_ARG_BIAS, plan.desc.bias_desc(), Input(2)});
    if (plan.fused.side) {
      // oneDNN adds to what the output's buffer holds. The copy does nothing if the runtime gives
      // both the same buffer.
      chain->AddCopy(Input(3), Output(0), y.num_bytes());
      chain->set_alias_input(3);
    }
    chain->AddStep(dnnl::convolution_forward(plan.desc), plan.desc.scratchpad_desc(), arguments);
    chain->set_implementation(plan.desc.impl_info_str());
    return chain;
  });
}

EST_REGISTER_KERNEL("Conv2D", KernelTier::kOneDnn, FromConvSpec<MakeConv2D>);
EST_REGISTER_KERNEL("_FusedConv2D", KernelTier::kOneDnn, FromConvSpec<MakeConv2D>);
EST_REGISTER_KERNEL("DepthwiseConv2dNative", KernelTier::kOneDnn, FromConvSpec<MakeConv2D>);
EST_REGISTER_KERNEL("_FusedDepthwiseConv2dNative", KernelTier::kOneDnn, FromConvSpec<MakeConv2D>);

}  // namespace
}  // namespace estimator::onednn
