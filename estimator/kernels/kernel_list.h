// The native tier: our own matrix products and convolutions. Each family of ops has one list of
// kernels, the fastest one first. A spec is computed by the first kernel of its list that is fast
// for it (kernel_rules.h) and accepts it, and by another tier if there is none: oneDNN, the fused
// tier, then the reference.
#ifndef ESTIMATOR_KERNELS_KERNEL_LIST_H_
#define ESTIMATOR_KERNELS_KERNEL_LIST_H_

#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "estimator/kernels/conv_spec.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/kernel_rules.h"
#include "estimator/kernels/matmul_spec.h"

namespace estimator {

// The implementations. Each names the folder or the header of its kernels.
enum class NativeKernel {
  kGemm,              // gemm: matrix products of f32
  kFirstLayer,        // winograd/first_layer.h: a convolution of the network's input, and a pool
  kWinograd,          // winograd: convolutions of f32 by Winograd's algorithm
  kBfloat16Tiles,     // bfloat16: products of tiles; numbers of f32 are split into two of bf16
  kBfloat16Winograd,  // bfloat16/winograd.h: convolutions of bf16 by Winograd's algorithm
};

// An entry of a list.
template <typename Spec>
struct ListedKernel {
  NativeKernel name = NativeKernel::kGemm;
  // Whether it is faster for the spec than those after it in the list.
  bool (*is_fast)(const Spec& spec, const CpuFeatures& cpu) = nullptr;
  // Accepts the spec, whether or not it is fast, or returns null.
  KernelPlan (*make)(const Spec& spec) = nullptr;
};

// The lists. A kernel may be in a list twice: its place depends on the spec.
absl::Span<const ListedKernel<MatMulSpec>> MatMulKernels();
absl::Span<const ListedKernel<ConvSpec>> ConvKernels(ConvSpec::Pass pass);

// The kernels of the list that are fast for a spec, in order.
std::vector<NativeKernel> FastKernels(const MatMulSpec& spec, const CpuFeatures& cpu);
std::vector<NativeKernel> FastKernels(const ConvSpec& spec, const CpuFeatures& cpu);

// The instructions of this CPU that kernels may use.
CpuFeatures ThisCpu();

// What the native tier computes the spec with; nullopt if it leaves the spec to other tiers. Builds
// nothing.
std::optional<NativeKernel> NativeKernelOf(const KernelSpec& spec);

}  // namespace estimator

#endif  // ESTIMATOR_KERNELS_KERNEL_LIST_H_
