// The float32 kernel of an op, run on bfloat16 operands: they are widened to float32 in scratch,
// and its results are rounded once, to nearest even. CreateKernel takes it where a fast tier has a
// kernel for float32 but none for bfloat16. So no such op falls back to the reference tier.
//
// The result is that of a kernel which sums in float32 and rounds at the end, as the reference
// kernels do. Convolutions with filters of 5x5 may have larger errors (winograd/winograd.h). The
// price is a pass over memory for each operand.
#ifndef ESTIMATOR_KERNELS_WIDENED_H_
#define ESTIMATOR_KERNELS_WIDENED_H_

#include <memory>
#include <optional>

#include "estimator/kernels/kernel.h"

namespace estimator {

// The spec with float32 in place of bfloat16, and compute_dtype kBfloat16. Returns nullopt if no
// input is bfloat16, and for Cast, whose meaning is its dtypes.
std::optional<KernelSpec> WidenedSpec(const KernelSpec& spec);

// Runs `kernel`, which was built for WidenedSpec(spec), on the operands of `spec`.
std::unique_ptr<Kernel> MakeWidened(const KernelSpec& spec, std::unique_ptr<Kernel> kernel);

// Whether MakeWidened made the kernel.
bool IsWidened(const Kernel& kernel);

}  // namespace estimator

#endif  // ESTIMATOR_KERNELS_WIDENED_H_
