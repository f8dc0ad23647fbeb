// The kernel of the native tier for matrix products of bf16 and f32 (matmul.h).
#ifndef ESTIMATOR_KERNELS_BFLOAT16_MATMUL_KERNEL_H_
#define ESTIMATOR_KERNELS_BFLOAT16_MATMUL_KERNEL_H_

#include <memory>

#include "estimator/kernels/kernel.h"

namespace estimator::bfloat16 {

// MatMul, _FusedMatMul: a, b, bias, side -> c, all of rank 2. Factors of bf16 have results in bf16 or
// f32; those of f32 are supported only with ConvAlgorithm::kAuto. Epilogues: a bias, a side input in
// f32, relu. Returns null for other specs, without AVX-512 for bf16, and for fewer than 16 rows, columns or
// depths. MakeMatMul returns null also where others are faster (MatMulIsChosen).
std::unique_ptr<Kernel> MakeMatMul(const KernelSpec& spec);
std::unique_ptr<Kernel> MakeAnyMatMul(const KernelSpec& spec);

// The rule, which depends on types, shapes and HasAmx() only. gemm/gemm_benchmark.cc measures it. Of products
// with a depth of at least 64, these are chosen:
//   f32    with AMX: at least 32 rows, or the gradient of weights (transpose_a)
//   bf16   the gradient of weights; a depth of at least 1536 and more than 32 rows; at least 1024
//          rows and 2048 columns, unless transpose_b. oneDNN's other products, by AMX too, are faster
//   spec: that of a product which MakeAnyMatMul supports.
bool MatMulIsChosen(const KernelSpec& spec);

}  // namespace estimator::bfloat16

#endif  // ESTIMATOR_KERNELS_BFLOAT16_MATMUL_KERNEL_H_
