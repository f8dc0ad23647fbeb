// What the kernels of this folder read from a KernelSpec.
#ifndef ESTIMATOR_KERNELS_BFLOAT16_SPEC_H_
#define ESTIMATOR_KERNELS_BFLOAT16_SPEC_H_

#include <cstdint>
#include <optional>

#include "estimator/kernels/bfloat16/convolution.h"
#include "estimator/kernels/kernel.h"

namespace estimator::bfloat16 {

inline bool IsBfloat16(const TensorSpec& spec) { return spec.dtype == DType::kBfloat16; }
inline bool IsF32(const TensorSpec& spec) { return spec.dtype == DType::kFloat32; }
inline bool IsResult(const TensorSpec& spec) { return IsBfloat16(spec) || IsF32(spec); }

// How the factors of a product are multiplied: as bf16 numbers, or as f32 numbers that are split.
// nullopt if this folder does not support their types, or another algorithm is asked for.
enum class Numbers { kBfloat16, kSplit };
std::optional<Numbers> NumbersOf(const KernelSpec& spec, const TensorSpec& a, const TensorSpec& b);

// What follows a product: input 2 is a bias, and input 3 the side input.
struct Fused {
  bool bias = false, side = false;
  Activation activation = Activation::kNone;
};

// nullopt if there is another activation (kernels/fused_ops.h), the bias is not [channels], or the
// side input is not f32.
std::optional<Fused> FusedOf(const KernelSpec& spec, int64_t channels);

// Whether a 2x2 max pool follows the convolution.
inline bool IsPooled(const KernelSpec& spec) { return spec.attrs.has("pool_ksize"); }

// The convolution y = conv(x, filter) of a spec; y is that after a pool. nullopt if this folder does not
// support it (kernels.h).
std::optional<Convolution> ConvolutionOf(const KernelSpec& spec, const Shape& x,
                                         const Shape& filter, const Shape& y);

}  // namespace estimator::bfloat16

#endif  // ESTIMATOR_KERNELS_BFLOAT16_SPEC_H_
