// The kernel of the native tier for matrix products of bf16 and f32 (matmul.h).
#ifndef ESTIMATOR_KERNELS_BFLOAT16_MATMUL_KERNEL_H_
#define ESTIMATOR_KERNELS_BFLOAT16_MATMUL_KERNEL_H_

#include <memory>

#include "estimator/kernels/kernel.h"

namespace estimator::bfloat16 {

// MatMul, _FusedMatMul: a, b, bias, side -> c, all of rank 2. Factors of bf16 have results in bf16 or
// f32; those of f32 are supported only with ConvAlgorithm::kAuto. Epilogues: a bias, a side input in
// f32, relu or relu6. AcceptsMatMul refuses other specs, CPUs without AVX-512 for bf16, and fewer
// than 16 rows, columns or depths. MakeMatMul returns null for what it refuses. kernel_rules.h says
// where the kernel is fast.
bool AcceptsMatMul(const KernelSpec& spec);
std::unique_ptr<Kernel> MakeMatMul(const KernelSpec& spec);

}  // namespace estimator::bfloat16

#endif  // ESTIMATOR_KERNELS_BFLOAT16_MATMUL_KERNEL_H_
