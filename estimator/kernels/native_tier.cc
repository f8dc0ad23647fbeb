#include "estimator/kernels/native_tier.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "estimator/kernels/bfloat16/kernels.h"
#include "estimator/kernels/bfloat16/matmul_kernel.h"
#include "estimator/kernels/bfloat16/tiles.h"
#include "estimator/kernels/bfloat16/winograd_kernels.h"
#include "estimator/kernels/conv_block.h"
#include "estimator/kernels/fused_ops.h"
#include "estimator/kernels/gemm/gemm.h"
#include "estimator/kernels/gemm/kernels.h"
#include "estimator/kernels/layout.h"
#include "estimator/kernels/winograd/kernels.h"

namespace estimator {
namespace {

using Pass = ConvolutionCase::Pass;

struct Implementation {
  NativeKernel kernel = NativeKernel::kGemm;
  bool (*accepts)(const KernelSpec& spec) = nullptr;
  // Builds a kernel for a spec that `accepts` takes.
  std::unique_ptr<Kernel> (*make)(const KernelSpec& spec) = nullptr;
};

constexpr Implementation kProducts[] = {
    {NativeKernel::kGemm, gemm::AcceptsMatMul, gemm::MakeMatMul},
    {NativeKernel::kBfloat16Tiles, bfloat16::AcceptsMatMul, bfloat16::MakeMatMul},
};
constexpr Implementation kConvolutions[] = {
    {NativeKernel::kFirstLayer, winograd::AcceptsFirstLayer, winograd::MakeFirstLayer},
    {NativeKernel::kWinograd, winograd::AcceptsConvolution, winograd::MakeConvolution},
    {NativeKernel::kBfloat16Tiles, bfloat16::AcceptsConvolution, bfloat16::MakeConvolution},
    {NativeKernel::kBfloat16Winograd, bfloat16::AcceptsWinogradConvolution,
     bfloat16::MakeWinogradConvolution},
};
constexpr Implementation kInputGradients[] = {
    {NativeKernel::kWinograd, winograd::AcceptsInputGradient, winograd::MakeInputGradient},
    {NativeKernel::kBfloat16Tiles, bfloat16::AcceptsInputGradient, bfloat16::MakeInputGradient},
    {NativeKernel::kBfloat16Winograd, bfloat16::AcceptsWinogradInputGradient,
     bfloat16::MakeWinogradInputGradient},
};
constexpr Implementation kFilterGradients[] = {
    {NativeKernel::kFirstLayer, winograd::AcceptsFirstLayerFilterGradient,
     winograd::MakeFirstLayerFilterGradient},
    {NativeKernel::kWinograd, winograd::AcceptsFilterGradient, winograd::MakeFilterGradient},
    {NativeKernel::kBfloat16Tiles, bfloat16::AcceptsFilterGradient, bfloat16::MakeFilterGradient},
    {NativeKernel::kBfloat16Winograd, bfloat16::AcceptsWinogradFilterGradient,
     bfloat16::MakeWinogradFilterGradient},
};

// What the rules read from a spec. nullopt only for specs that no native kernel accepts.
std::optional<MatMulCase> MatMulCaseOf(const KernelSpec& spec) {
  if (spec.inputs.size() < 2 || spec.outputs.empty()) return std::nullopt;
  const Shape &a = spec.inputs[0].shape, &c = spec.outputs[0].shape;
  if (a.rank() != 2 || c.rank() != 2) return std::nullopt;
  const auto flag = [&spec](const char* name) {
    return spec.attrs.has(name) && spec.attrs.b(name);
  };
  MatMulCase product{.dtype = spec.inputs[0].dtype,
                     .m = c[0],
                     .n = c[1],
                     .transpose_a = flag("transpose_a"),
                     .transpose_b = flag("transpose_b")};
  product.k = a[product.transpose_a ? 0 : 1];
  return product;
}

std::optional<ConvolutionCase> ConvolutionCaseOf(const KernelSpec& spec, Pass pass) {
  if (spec.inputs.size() < 2 || spec.outputs.empty()) return std::nullopt;
  const bool pooled = spec.attrs.has("pool_ksize");
  const size_t filter_input = pass == Pass::kInputGradient && pooled ? 0 : 1;
  const Shape& image = (pass == Pass::kInputGradient ? spec.outputs[0] : spec.inputs[0]).shape;
  const TensorSpec& filter =
      pass == Pass::kFilterGradient ? spec.outputs[0] : spec.inputs[filter_input];
  if (image.rank() != (IsBlocked(spec.attrs) ? 5 : 4) || filter.shape.rank() != 4)
    return std::nullopt;
  const auto geometry = ConvGeometryOf(spec.attrs, image, filter.shape);
  if (!geometry.ok()) return std::nullopt;
  // The gradient of a filter may have another dtype than the factors.
  return ConvolutionCase{
      .pass = pass,
      .dtype = pass == Pass::kFilterGradient ? spec.inputs[0].dtype : filter.dtype,
      .images = geometry->batch,
      .in_columns = geometry->columns.input,
      .in_channels = geometry->in_channels,
      .out_rows = geometry->rows.output,
      .out_columns = geometry->columns.output,
      .out_channels = geometry->out_channels,
      .filter_rows = geometry->rows.kernel,
      .filter_columns = geometry->columns.kernel};
}

// The first kernel of the list that accepts the spec; null if none does.
const Implementation* FirstOf(const std::vector<NativeKernel>& kernels,
                              absl::Span<const Implementation> implementations,
                              const KernelSpec& spec) {
  for (const NativeKernel kernel : kernels) {
    for (const Implementation& implementation : implementations) {
      if (implementation.kernel == kernel && implementation.accepts(spec)) return &implementation;
    }
  }
  return nullptr;
}

// The same, but null if an earlier kernel accepts the spec without its activation: a slower kernel
// costs more time than an op for the activation. All kernels have relu.
const Implementation* FirstThatAccepts(const std::vector<NativeKernel>& kernels,
                                       absl::Span<const Implementation> implementations,
                                       const KernelSpec& spec) {
  const Implementation* const first = FirstOf(kernels, implementations, spec);
  const std::optional<FusedOps> fused = FusedOpsOf(spec);
  if (!fused.has_value() || !fused->activation.has_value() ||
      fused->activation == fused::TileOp::kRelu) {
    return first;
  }
  return first == FirstOf(kernels, implementations, WithoutActivation(spec)) ? first : nullptr;
}

const Implementation* ChooseProduct(const KernelSpec& spec) {
  const auto product = MatMulCaseOf(spec);
  if (!product.has_value()) return nullptr;
  return FirstThatAccepts(FastKernels(*product, ThisCpu()), kProducts, spec);
}

template <Pass kPass>
const Implementation* ChooseConvolution(const KernelSpec& spec) {
  const auto conv = ConvolutionCaseOf(spec, kPass);
  if (!conv.has_value()) return nullptr;
  const auto kernels = FastKernels(*conv, ThisCpu(), spec.conv_algorithm);
  if (kPass == Pass::kForward) return FirstThatAccepts(kernels, kConvolutions, spec);
  return kPass == Pass::kInputGradient ? FirstThatAccepts(kernels, kInputGradients, spec)
                                       : FirstThatAccepts(kernels, kFilterGradients, spec);
}

struct Op {
  const char* name = nullptr;
  // The implementation of a spec of the op; null if the spec is left to other tiers.
  const Implementation* (*choose)(const KernelSpec& spec) = nullptr;
};
constexpr Op kOps[] = {
    {"MatMul", ChooseProduct},
    {"_FusedMatMul", ChooseProduct},
    {"Conv2D", ChooseConvolution<Pass::kForward>},
    {"_FusedConv2D", ChooseConvolution<Pass::kForward>},
    {"_FusedConv2DMaxPool", ChooseConvolution<Pass::kForward>},
    {"Conv2DBackpropInput", ChooseConvolution<Pass::kInputGradient>},
    {"_Conv2DMaxPoolBackpropInput", ChooseConvolution<Pass::kInputGradient>},
    {"Conv2DBackpropFilter", ChooseConvolution<Pass::kFilterGradient>},
    {"_FusedConv2DBackpropFilter", ChooseConvolution<Pass::kFilterGradient>},
    {"_Conv2DMaxPoolBackpropFilter", ChooseConvolution<Pass::kFilterGradient>},
};

bool Register() {
  for (const Op& op : kOps) {
    RegisterKernel(
        op.name, KernelTier::kNative,
        [choose = op.choose](const KernelSpec& spec) -> std::unique_ptr<Kernel> {
          const Implementation* implementation = choose(spec);
          return implementation == nullptr ? nullptr : implementation->make(spec);
        },
        [choose = op.choose](const KernelSpec& spec) { return choose(spec) != nullptr; });
  }
  return true;
}
[[maybe_unused]] const bool registered = Register();

}  // namespace

CpuFeatures ThisCpu() { return {.avx512 = gemm::HasWideVectors(), .amx = bfloat16::HasAmx()}; }

std::optional<NativeKernel> NativeKernelOf(const KernelSpec& spec) {
  for (const Op& op : kOps) {
    if (op.name != spec.op) continue;
    const Implementation* implementation = op.choose(spec);
    if (implementation != nullptr) return implementation->kernel;
  }
  return std::nullopt;
}

}  // namespace estimator
