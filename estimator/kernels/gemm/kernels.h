// The kernels of the native tier for matrix products of f32.
#ifndef ESTIMATOR_KERNELS_GEMM_KERNELS_H_
#define ESTIMATOR_KERNELS_GEMM_KERNELS_H_

#include <memory>

#include "estimator/kernels/kernel.h"

namespace estimator::gemm {

// MatMul, and _FusedMatMul with any activation (kernels/fused_ops.h), but without a side input.
// MakeMatMul returns null for other specs. kernel_rules.h says where it is fast.
bool AcceptsMatMul(const KernelSpec& spec);
std::unique_ptr<Kernel> MakeMatMul(const KernelSpec& spec);

}  // namespace estimator::gemm

#endif  // ESTIMATOR_KERNELS_GEMM_KERNELS_H_
