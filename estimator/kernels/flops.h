// The work of an op, for people who read a plan.
#ifndef ESTIMATOR_KERNELS_FLOPS_H_
#define ESTIMATOR_KERNELS_FLOPS_H_

#include <cstdint>
#include <optional>

#include "estimator/kernels/kernel.h"

namespace estimator {

// The floating point operations of a convolution, a gradient of one, a matrix product, or the
// products of a recurrent layer (ops/recurrent.h): 2 for each multiplication and addition of the
// plain formula, with padding, whatever the algorithm does. nullopt for other ops.
std::optional<int64_t> ProductFlops(const KernelSpec& spec);

// An estimate of the floating point operations of one run. Products: as above. Chains of
// element-wise ops: 1 for each op and element. Others, moves of data too: 1 for each element of the
// largest operand.
int64_t EstimatedFlops(const KernelSpec& spec);

}  // namespace estimator

#endif  // ESTIMATOR_KERNELS_FLOPS_H_
