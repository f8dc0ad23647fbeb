#include "estimator/kernels/kernel_list.h"

#include <algorithm>
#include <utility>

#include "estimator/kernels/bfloat16/kernels.h"
#include "estimator/kernels/bfloat16/matmul_kernel.h"
#include "estimator/kernels/bfloat16/tiles.h"
#include "estimator/kernels/bfloat16/winograd_kernels.h"
#include "estimator/kernels/gemm/gemm.h"
#include "estimator/kernels/gemm/kernels.h"
#include "estimator/kernels/winograd/kernels.h"

namespace estimator {
namespace {

using Pass = ConvSpec::Pass;
using enum NativeKernel;

constexpr ListedKernel<MatMulSpec> kMatMuls[] = {
    {kBfloat16Tiles, TilesAreFast, bfloat16::MakeMatMul},
    {kGemm, GemmIsFast, gemm::MakeMatMul},
};
constexpr ListedKernel<ConvSpec> kConvolutions[] = {
    {kBfloat16Tiles, TilesAreFastest, bfloat16::MakeConvolution},
    {kBfloat16Winograd, Bfloat16WinogradIsFast, bfloat16::MakeWinogradConvolution},
    {kFirstLayer, FirstLayerIsFast, winograd::MakeFirstLayer},
    {kWinograd, WinogradIsFast, winograd::MakeConvolution},
    {kBfloat16Tiles, TilesAreFast, bfloat16::MakeConvolution},
};
constexpr ListedKernel<ConvSpec> kInputGradients[] = {
    {kBfloat16Tiles, TilesAreFastest, bfloat16::MakeInputGradient},
    {kBfloat16Winograd, Bfloat16WinogradIsFast, bfloat16::MakeWinogradInputGradient},
    {kWinograd, WinogradIsFast, winograd::MakeInputGradient},
    {kBfloat16Tiles, TilesAreFast, bfloat16::MakeInputGradient},
};
constexpr ListedKernel<ConvSpec> kFilterGradients[] = {
    {kBfloat16Tiles, TilesAreFastest, bfloat16::MakeFilterGradient},
    {kBfloat16Winograd, Bfloat16WinogradIsFast, bfloat16::MakeWinogradFilterGradient},
    {kFirstLayer, FirstLayerIsFast, winograd::MakeFirstLayerFilterGradient},
    {kWinograd, WinogradIsFast, winograd::MakeFilterGradient},
    {kBfloat16Tiles, TilesAreFast, bfloat16::MakeFilterGradient},
};

absl::Span<const ListedKernel<MatMulSpec>> ListOf(const MatMulSpec&) { return MatMulKernels(); }
absl::Span<const ListedKernel<ConvSpec>> ListOf(const ConvSpec& spec) {
  return ConvKernels(spec.pass);
}

// A kernel of a list that accepts a spec.
struct NativeChoice {
  NativeKernel name = kGemm;
  KernelPlan plan;
};

// The first kernel of the list that is fast for the spec and accepts it.
template <typename Spec>
std::optional<NativeChoice> FirstOf(const Spec& spec) {
  for (const ListedKernel<Spec>& kernel : ListOf(spec)) {
    // The rule is asked first: it reads some numbers, and make may plan how threads divide the
    // work.
    if (!kernel.is_fast(spec, ThisCpu())) continue;
    // A rule looks at sizes, dtype and CPU. The kernel may still refuse the spec, for a fused op
    // that it does not have, for example.
    if (KernelPlan plan = kernel.make(spec)) return NativeChoice{kernel.name, std::move(plan)};
  }
  return std::nullopt;
}

// The same, but nullopt if an earlier kernel accepts the spec without its activation: a slower
// kernel costs more time than an op for the activation. All kernels have relu.
template <typename Spec>
std::optional<NativeChoice> Choose(const Spec& spec) {
  std::optional<NativeChoice> first = FirstOf(spec);
  const std::optional<fused::TileOp> activation = spec.fused.activation;
  if (!first.has_value() || !activation.has_value() || activation == fused::TileOp::kRelu)
    return first;
  Spec without = spec;
  without.fused.activation.reset();
  // Compares names and not entries: a kernel that is in the list twice is the same one in both
  // places.
  if (const auto plain = FirstOf(without); !plain.has_value() || plain->name != first->name)
    first.reset();
  return first;
}

std::optional<NativeChoice> ChooseNative(const KernelSpec& spec) {
  if (const auto conv = ConvSpecOf(spec)) return Choose(*conv);
  if (const auto product = MatMulSpecOf(spec)) return Choose(*product);
  return std::nullopt;
}

KernelPlan MakeNative(const KernelSpec& spec) {
  std::optional<NativeChoice> choice = ChooseNative(spec);
  // Null leaves the spec to oneDNN and to the tiers below.
  return choice.has_value() ? std::move(choice->plan) : nullptr;
}

constexpr const char* kOps[] = {
    "MatMul",
    "_FusedMatMul",
    "Conv2D",
    "_FusedConv2D",
    "_FusedConv2DMaxPool",
    "Conv2DBackpropInput",
    "_Conv2DMaxPoolBackpropInput",
    "Conv2DBackpropFilter",
    "_FusedConv2DBackpropFilter",
    "_Conv2DMaxPoolBackpropFilter",
};

bool Register() {
  for (const char* const op : kOps) RegisterKernel(op, KernelTier::kNative, MakeNative);
  return true;
}
[[maybe_unused]] const bool registered = Register();

template <typename Spec>
std::vector<NativeKernel> NamesOfFast(const Spec& spec, const CpuFeatures& cpu) {
  std::vector<NativeKernel> names;
  for (const ListedKernel<Spec>& kernel : ListOf(spec)) {
    // Of two places of a kernel, the first counts.
    if (kernel.is_fast(spec, cpu) &&
        std::find(names.begin(), names.end(), kernel.name) == names.end())
      names.push_back(kernel.name);
  }
  return names;
}

}  // namespace

absl::Span<const ListedKernel<MatMulSpec>> MatMulKernels() { return kMatMuls; }

absl::Span<const ListedKernel<ConvSpec>> ConvKernels(Pass pass) {
  if (pass == Pass::kForward) return kConvolutions;
  return pass == Pass::kInputGradient ? absl::MakeConstSpan(kInputGradients) : kFilterGradients;
}

std::vector<NativeKernel> FastKernels(const MatMulSpec& spec, const CpuFeatures& cpu) {
  return NamesOfFast(spec, cpu);
}
std::vector<NativeKernel> FastKernels(const ConvSpec& spec, const CpuFeatures& cpu) {
  return NamesOfFast(spec, cpu);
}

CpuFeatures ThisCpu() { return {.avx512 = gemm::HasWideVectors(), .amx = bfloat16::HasAmx()}; }

std::optional<NativeKernel> NativeKernelOf(const KernelSpec& spec) {
  const std::optional<NativeChoice> choice = ChooseNative(spec);
  return choice.has_value() ? std::optional(choice->name) : std::nullopt;
}

}  // namespace estimator
