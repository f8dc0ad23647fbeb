// What the kernels of this folder accept of a spec.
#ifndef ESTIMATOR_KERNELS_BFLOAT16_SPEC_H_
#define ESTIMATOR_KERNELS_BFLOAT16_SPEC_H_

#include <cstdint>
#include <optional>

#include "estimator/kernels/bfloat16/convolution.h"
#include "estimator/kernels/conv_spec.h"
#include "estimator/kernels/kernel.h"

namespace estimator::bfloat16 {

inline bool IsBfloat16(const TensorSpec& spec) { return spec.dtype == DType::kBfloat16; }
inline bool IsF32(const TensorSpec& spec) { return spec.dtype == DType::kFloat32; }
inline bool IsResult(const TensorSpec& spec) { return IsBfloat16(spec) || IsF32(spec); }

// How the factors of a product are multiplied: as bf16 numbers, or as f32 numbers, each of which is
// split into two of bf16. nullopt if this folder does not support their types, or another algorithm
// is asked for.
enum class Numbers { kBfloat16, kSplitFloat32 };
std::optional<Numbers> NumbersOf(const TensorSpec& a, const TensorSpec& b, const TensorSpec& result,
                                 ConvAlgorithm algorithm);

// The activation that follows a product. nullopt if this folder does not support the activation,
// the bias is not [channels], or the side input is not f32 and like the result.
std::optional<Activation> FusedActivationOf(const FusedOps& fused, const TensorSpec& bias,
                                            const TensorSpec& side, const TensorSpec& result,
                                            int64_t channels);

// The sizes of a spec; nullopt if this folder does not support it (kernels.h).
std::optional<Convolution> ConvolutionOf(const ConvSpec& spec);

}  // namespace estimator::bfloat16

#endif  // ESTIMATOR_KERNELS_BFLOAT16_SPEC_H_
