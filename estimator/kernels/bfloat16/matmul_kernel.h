// The kernel of the native tier for matrix products of bf16 and f32 (matmul.h).
#ifndef ESTIMATOR_KERNELS_BFLOAT16_MATMUL_KERNEL_H_
#define ESTIMATOR_KERNELS_BFLOAT16_MATMUL_KERNEL_H_

#include "estimator/kernels/matmul_spec.h"

namespace estimator::bfloat16 {

// Factors of bf16 have results in bf16 or f32; those of f32 are supported only with
// ConvAlgorithm::kAuto. Epilogues: a bias, a side input in f32, relu or relu6. Returns null for
// other specs, CPUs without AVX-512 for bf16, and fewer than 16 rows, columns or depths.
// kernel_rules.h says where the kernel is fast.
KernelPlan MakeMatMul(const MatMulSpec& spec);

}  // namespace estimator::bfloat16

#endif  // ESTIMATOR_KERNELS_BFLOAT16_MATMUL_KERNEL_H_
