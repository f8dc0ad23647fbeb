// The kernel of the native tier for matrix products of bf16 and f32 with AMX (matmul.h).
#ifndef ESTIMATOR_KERNELS_AMX_MATMUL_KERNEL_H_
#define ESTIMATOR_KERNELS_AMX_MATMUL_KERNEL_H_

#include <memory>

#include "estimator/kernels/kernel.h"

namespace estimator::amx {

// MatMul, _FusedMatMul: a, b, bias, side -> c, all of rank 2. Factors of bf16 have results in bf16 or
// f32; those of f32 are supported only with ConvAlgorithm::kAuto. Epilogues: a bias, a side input in
// f32, relu. Returns null for other specs, without AMX, and for fewer than 16 rows, columns or
// depths. MakeMatMul returns null also where others are faster (MatMulIsChosen).
std::unique_ptr<Kernel> MakeMatMul(const KernelSpec& spec);
std::unique_ptr<Kernel> MakeAnyMatMul(const KernelSpec& spec);

// The rule, which depends on types and shapes only. gemm/gemm_benchmark.cc measures it: in f32 all
// products but those of few depths or rows, and in bf16 the gradients of weights and large products.
// oneDNN's products of bf16 use AMX too.
//   spec: that of a product which MakeAnyMatMul supports.
bool MatMulIsChosen(const KernelSpec& spec);

}  // namespace estimator::amx

#endif  // ESTIMATOR_KERNELS_AMX_MATMUL_KERNEL_H_
