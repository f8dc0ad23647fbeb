// Registers the native tier: our own matrix products and convolutions. An op has one kernel in a
// tier, so the folders take turns.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "estimator/kernels/bfloat16/kernels.h"
#include "estimator/kernels/bfloat16/matmul_kernel.h"
#include "estimator/kernels/bfloat16/tiles.h"
#include "estimator/kernels/bfloat16/winograd_kernels.h"
#include "estimator/kernels/gemm/kernels.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/winograd/kernels.h"

namespace estimator {
namespace {

using Factory = std::unique_ptr<Kernel> (*)(const KernelSpec& spec);

std::unique_ptr<Kernel> FirstOf(const KernelSpec& spec, Factory first, Factory second) {
  std::unique_ptr<Kernel> kernel = first(spec);
  return kernel != nullptr ? std::move(kernel) : second(spec);
}

std::unique_ptr<Kernel> MakeMatMul(const KernelSpec& spec) {
  return FirstOf(spec, bfloat16::MakeMatMul, gemm::MakeMatMul);
}

// Convolutions on CPUs with AMX. Three products of bf16 (bfloat16/convolve.h) take less time than
// Winograd's algorithm in f32 for a filter of 3x3, and more for one of 5x5. For ResNet-50's filters of 3x3,
// batch 32, on 2 cores:
//                        64 channels, 56x56   128, 28x28   256, 14x14   512, 7x7
//   forward, ms           7.5 and 10.0        5.3 and 9.3  5.8 and 11.2  7.6 and 19.3
//   filter gradient, ms  10.8 and  9.3        8.2 and 12.8 8.4 and 11.3 13.8 and 12.4
//
// Without AMX, but with AVX-512 for bf16: Convolutions of f32 are left to Winograd's algorithm in f32. Those
// of bf16 use Winograd's algorithm in bf16 where it supports them (winograd_kernels.h). Gradients of 1x1
// filters from bf16 use products of tiles. The rest is left to oneDNN. In bf16, on 2 cores of an AMD EPYC:
//                            64 channels, 56x56   128, 28x28   256, 14x14   512, 7x7
//   3x3: Winograd, ms                4.8               3.9          3.7          4.8
//        oneDNN                      7.3               7.0          7.0          7.1
//     gradient of the filter         6.1               4.5          4.1          5.7
//        oneDNN                      9.6               8.0          7.6          9.7
//   1x1: gradient of the filter      5.2               4.3          3.8          4.0
//        oneDNN                      5.9               5.0          4.9          6.3

//   filter: its shape.
bool IsSmall(const Shape& filter) { return filter.rank() == 4 && filter[0] <= 3 && filter[1] <= 3; }

std::unique_ptr<Kernel> MakeConvolution(const KernelSpec& spec) {
  if (!bfloat16::HasAmx())
    return FirstOf(spec, bfloat16::MakeWinogradConvolution, winograd::MakeConvolution);
  const bool small = spec.inputs.size() >= 2 && IsSmall(spec.inputs[1].shape);
  return small ? FirstOf(spec, bfloat16::MakeConvolution, winograd::MakeConvolution)
               : FirstOf(spec, winograd::MakeConvolution, bfloat16::MakeConvolution);
}

std::unique_ptr<Kernel> MakeInputGradient(const KernelSpec& spec) {
  if (!bfloat16::HasAmx())
    return FirstOf(spec, bfloat16::MakeWinogradInputGradient, winograd::MakeInputGradient);
  const size_t filter = spec.op == "Conv2DBackpropInput" ? 1 : 0;
  const bool small = spec.inputs.size() > filter && IsSmall(spec.inputs[filter].shape);
  return small ? FirstOf(spec, bfloat16::MakeInputGradient, winograd::MakeInputGradient)
               : FirstOf(spec, winograd::MakeInputGradient, bfloat16::MakeInputGradient);
}

// The gradient of a filter of 1x1 from images of bf16.
std::unique_ptr<Kernel> MakeFilterGradientOfOneTap(const KernelSpec& spec) {
  const Shape& filter = spec.outputs[0].shape;
  if (filter.rank() != 4 || filter[0] != 1 || filter[1] != 1) return nullptr;
  if (spec.inputs[0].dtype != DType::kBfloat16) return nullptr;
  return bfloat16::MakeFilterGradient(spec);
}

std::unique_ptr<Kernel> MakeFilterGradient(const KernelSpec& spec) {
  if (!bfloat16::HasAmx()) {
    if (auto kernel = MakeFilterGradientOfOneTap(spec)) return kernel;
    return FirstOf(spec, bfloat16::MakeWinogradFilterGradient, winograd::MakeFilterGradient);
  }
  constexpr int64_t kFewestChannels = 128, kFewestColumns = 14;
  const Shape &x = spec.inputs[0].shape, &filter = spec.outputs[0].shape;
  const bool small =
      IsSmall(filter) && x.rank() == 4 && filter[2] >= kFewestChannels && x[2] >= kFewestColumns;
  return small ? FirstOf(spec, bfloat16::MakeFilterGradient, winograd::MakeFilterGradient)
               : FirstOf(spec, winograd::MakeFilterGradient, bfloat16::MakeFilterGradient);
}

EST_REGISTER_KERNEL("MatMul", KernelTier::kNative, MakeMatMul);
EST_REGISTER_KERNEL("_FusedMatMul", KernelTier::kNative, MakeMatMul);
EST_REGISTER_KERNEL("Conv2D", KernelTier::kNative, MakeConvolution);
EST_REGISTER_KERNEL("_FusedConv2D", KernelTier::kNative, MakeConvolution);
EST_REGISTER_KERNEL("_FusedConv2DMaxPool", KernelTier::kNative, MakeConvolution);
EST_REGISTER_KERNEL("Conv2DBackpropInput", KernelTier::kNative, MakeInputGradient);
EST_REGISTER_KERNEL("_Conv2DMaxPoolBackpropInput", KernelTier::kNative, MakeInputGradient);
EST_REGISTER_KERNEL("Conv2DBackpropFilter", KernelTier::kNative, MakeFilterGradient);
EST_REGISTER_KERNEL("_FusedConv2DBackpropFilter", KernelTier::kNative, MakeFilterGradient);
EST_REGISTER_KERNEL("_Conv2DMaxPoolBackpropFilter", KernelTier::kNative, MakeFilterGradient);

}  // namespace
}  // namespace estimator
