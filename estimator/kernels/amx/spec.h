// What the kernels of this folder read from a KernelSpec.
#ifndef ESTIMATOR_KERNELS_AMX_SPEC_H_
#define ESTIMATOR_KERNELS_AMX_SPEC_H_

#include <cstdint>
#include <optional>

#include "estimator/kernels/kernel.h"

namespace estimator::amx {

inline bool IsBfloat16(const TensorSpec& spec) { return spec.dtype == DType::kBfloat16; }
inline bool IsF32(const TensorSpec& spec) { return spec.dtype == DType::kFloat32; }
inline bool IsResult(const TensorSpec& spec) { return IsBfloat16(spec) || IsF32(spec); }

// How the factors of a product are multiplied: as bf16 numbers, or as f32 numbers that are split.
// nullopt if this folder does not support their types, or another algorithm is asked for.
enum class Numbers { kBfloat16, kSplit };
std::optional<Numbers> NumbersOf(const KernelSpec& spec, const TensorSpec& a, const TensorSpec& b);

// What follows a product: input 2 is a bias, and input 3 the side input.
struct Fused {
  bool bias = false, side = false, relu = false;
};

// nullopt if there is something else in attribute fused_ops, the bias is not [channels], or the side
// input is not f32.
std::optional<Fused> FusedOf(const KernelSpec& spec, int64_t channels);

}  // namespace estimator::amx

#endif  // ESTIMATOR_KERNELS_AMX_SPEC_H_
