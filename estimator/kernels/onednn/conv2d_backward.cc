// The gradients of Conv2D and DepthwiseConv2dNative by oneDNN.
//   ...BackpropInput:  input_sizes, filter [KH,KW,C,O], dy [N,OH,OW,O] -> dx [N,H,W,C]
//   ...BackpropFilter: x [N,H,W,C], filter_sizes, dy [N,OH,OW,O] -> dfilter [KH,KW,C,O]
// dfilter may be f32 where x and dy are bf16 (passes/bfloat16_products.h).
// The sizes come from the output's static shape. Dilated windows are left to the reference kernel.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "estimator/kernels/kernel_rules.h"
#include "estimator/kernels/onednn/convolution.h"
#include "estimator/kernels/onednn/primitive_chain.h"

namespace estimator::onednn {
namespace {

// What oneDNN does for a gradient.
template <typename Desc>
struct GradientPlan {
  Convolution conv;
  Desc desc;
};
using InputPlan = GradientPlan<dnnl::convolution_backward_data::primitive_desc>;
using FilterPlan = GradientPlan<dnnl::convolution_backward_weights::primitive_desc>;

// nullopt if oneDNN does not support the spec. Only oneDNN knows that: the answer is whether it
// makes a primitive descriptor. This is cheap beside building the primitive, which generates its
// code.
//   accepts(desc, conv): whether the kernel can use the descriptor. It may advance it.
template <typename Desc, typename Check>
std::optional<GradientPlan<Desc>> PlanOf(const ConvSpec& spec, Check accepts) {
  const std::optional<Convolution> conv = DescribeConvolution(spec);
  if (!conv.has_value() || conv->dilated()) return std::nullopt;
  return NullIfUnsupported([&]() -> std::optional<GradientPlan<Desc>> {
    auto desc = DescribeGradient<Desc>(CpuEngine(), UserScratchpad(), ForwardHint(*conv),
                                       dnnl::algorithm::convolution_direct, conv->asked_input,
                                       conv->any_filter, conv->asked_output, conv->strides,
                                       conv->dilations, conv->pad_before, conv->pad_after);
    if (!accepts(desc, *conv)) return std::nullopt;
    return GradientPlan<Desc>{.conv = *conv, .desc = desc};
  });
}

std::optional<InputPlan> InputPlanOf(const ConvSpec& spec) {
  using Desc = decltype(InputPlan::desc);
  if (spec.pooled || spec.filter.dtype != spec.y.dtype) return std::nullopt;
  return PlanOf<Desc>(spec, [](Desc& desc, const Convolution& conv) {
    return SkipReference(desc) && conv.IsOwn(desc.diff_src_desc(), desc.diff_dst_desc());
  });
}

// Those that kernels/bfloat16 refuses have no kernel here either, so CreateKernel runs the f32
// kernel on widened operands.
bool IsSlow(const ConvSpec& spec) {
  return OneDnnFilterGradientIsSlow(spec.x.dtype, HasIsa(dnnl::cpu_isa::avx512_core_amx));
}

// oneDNN 2.6's kernel of 1x1 filters for AVX2 gives wrong sums on two threads if the stride is not
// 1 and a number of channels is no multiple of its blocks of 8.
bool IsWrong(const dnnl::convolution_backward_weights::primitive_desc& desc,
             const Convolution& conv) {
  const auto fills_blocks = [](const dnnl::memory::desc& images) {
    return DimsOf(images)[1] % 8 == 0;
  };
  const bool moves_one = std::all_of(conv.strides.begin(), conv.strides.end(),
                                     [](int64_t stride) { return stride == 1; });
  return !moves_one && std::string(desc.impl_info_str()) == "jit_1x1:avx2" &&
         !(fills_blocks(desc.src_desc()) && fills_blocks(desc.diff_dst_desc()));
}

std::optional<FilterPlan> FilterPlanOf(const ConvSpec& spec) {
  using Desc = decltype(FilterPlan::desc);
  // _FusedConv2DBackpropFilter has its operands at other places. This tier has only the op of
  // TensorFlow.
  if (spec.dbias_index >= 0 || IsSlow(spec)) return std::nullopt;
  return PlanOf<Desc>(spec, [](Desc& desc, const Convolution& conv) {
    return !IsWrong(desc, conv) && SkipReference(desc) &&
           conv.IsOwn(desc.src_desc(), desc.diff_dst_desc());
  });
}

KernelPlan MakeBackpropInput(const ConvSpec& spec) {
  std::optional<InputPlan> found = InputPlanOf(spec);
  if (!found.has_value()) return nullptr;
  return PlanChain([plan = *std::move(found), name = spec.name] {
    const auto& [conv, desc] = plan;
    auto chain = std::make_unique<PrimitiveChain>(name);
    const Operand filter = chain->InPreparedLayout(1, conv.filter, desc.weights_desc());
    chain->AddStep(dnnl::convolution_backward_data(desc), desc.scratchpad_desc(),
                   {{DNNL_ARG_DIFF_DST, desc.diff_dst_desc(), Input(2)},
                    {DNNL_ARG_WEIGHTS, desc.weights_desc(), filter},
                    {DNNL_ARG_DIFF_SRC, desc.diff_src_desc(), Output(0)}});
    chain->set_implementation(desc.impl_info_str());
    return chain;
  });
}

KernelPlan MakeBackpropFilter(const ConvSpec& spec) {
  std::optional<FilterPlan> found = FilterPlanOf(spec);
  if (!found.has_value()) return nullptr;
  return PlanChain([plan = *std::move(found), name = spec.name] {
    const auto& [conv, desc] = plan;
    auto chain = std::make_unique<PrimitiveChain>(name);
    // oneDNN may sum in a layout of its own. The result of the op must be in TensorFlow's, so it is
    // reordered from scratch.
    const bool plain = desc.diff_weights_desc() == conv.filter;
    const Operand filter =
        plain ? Output(0) : chain->AddScratch(desc.diff_weights_desc().get_size());
    chain->AddStep(dnnl::convolution_backward_weights(desc), desc.scratchpad_desc(),
                   {{DNNL_ARG_SRC, desc.src_desc(), Input(0)},
                    {DNNL_ARG_DIFF_DST, desc.diff_dst_desc(), Input(2)},
                    {DNNL_ARG_DIFF_WEIGHTS, desc.diff_weights_desc(), filter}});
    if (!plain) chain->AddReorder(desc.diff_weights_desc(), filter, conv.filter, Output(0));
    chain->set_implementation(desc.impl_info_str());
    return chain;
  });
}

EST_REGISTER_KERNEL("Conv2DBackpropInput", KernelTier::kOneDnn, FromConvSpec<MakeBackpropInput>);
EST_REGISTER_KERNEL("Conv2DBackpropFilter", KernelTier::kOneDnn, FromConvSpec<MakeBackpropFilter>);
EST_REGISTER_KERNEL("DepthwiseConv2dNativeBackpropInput", KernelTier::kOneDnn,
                    FromConvSpec<MakeBackpropInput>);
EST_REGISTER_KERNEL("DepthwiseConv2dNativeBackpropFilter", KernelTier::kOneDnn,
                    FromConvSpec<MakeBackpropFilter>);

}  // namespace
}  // namespace estimator::onednn
