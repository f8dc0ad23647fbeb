// The kernels of the native tier for matrix products of f32.
#ifndef ESTIMATOR_KERNELS_GEMM_KERNELS_H_
#define ESTIMATOR_KERNELS_GEMM_KERNELS_H_

#include "estimator/kernels/matmul_spec.h"

namespace estimator::gemm {

// One product, with any activation (kernels/fused_ops.h), but without a side input. Returns null
// for other specs. kernel_rules.h says where it is fast.
KernelPlan MakeMatMul(const MatMulSpec& spec);

}  // namespace estimator::gemm

#endif  // ESTIMATOR_KERNELS_GEMM_KERNELS_H_
