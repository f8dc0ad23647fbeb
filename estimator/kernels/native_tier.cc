// Registers the native tier: our own matrix products and convolutions. An op has one kernel in a
// tier, so convolutions of bf16 and of f32 are registered together.
#include <memory>
#include <utility>

#include "estimator/kernels/amx/kernels.h"
#include "estimator/kernels/gemm/kernels.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/winograd/kernels.h"

namespace estimator {
namespace {

std::unique_ptr<Kernel> MakeConvolution(const KernelSpec& spec) {
  std::unique_ptr<Kernel> kernel = amx::MakeConvolution(spec);
  return kernel != nullptr ? std::move(kernel) : winograd::MakeConvolution(spec);
}

std::unique_ptr<Kernel> MakeInputGradient(const KernelSpec& spec) {
  std::unique_ptr<Kernel> kernel = amx::MakeInputGradient(spec);
  return kernel != nullptr ? std::move(kernel) : winograd::MakeInputGradient(spec);
}

std::unique_ptr<Kernel> MakeFilterGradient(const KernelSpec& spec) {
  std::unique_ptr<Kernel> kernel = amx::MakeFilterGradient(spec);
  return kernel != nullptr ? std::move(kernel) : winograd::MakeFilterGradient(spec);
}

EST_REGISTER_KERNEL("MatMul", KernelTier::kNative, gemm::MakeMatMul);
EST_REGISTER_KERNEL("_FusedMatMul", KernelTier::kNative, gemm::MakeMatMul);
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
