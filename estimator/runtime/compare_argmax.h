// For --check_kernels: checks the argmax of a convolution block by the values that it names.
#ifndef ESTIMATOR_RUNTIME_COMPARE_ARGMAX_H_
#define ESTIMATOR_RUNTIME_COMPARE_ARGMAX_H_

#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "estimator/array/array.h"
#include "estimator/array/compare.h"
#include "estimator/kernels/kernel.h"

namespace estimator::ir {

// Checks output 1 of a _FusedConv2DMaxPool (kernels/conv_block.h). Sums of a window that are equal,
// or nearly so, may be rounded to another order than the reference kernel's. So a place is right if
// the activation there is the window's maximum within the tolerance, and "relu is off" is right if
// the maximum is 0 within it.
//   inputs, outputs: those of the op, in the spec's layout.
// Errors: INTERNAL with the first place that is wrong; errors of the reference kernels.
absl::Status CheckArgmax(const KernelSpec& spec, const std::vector<Array>& inputs,
                         const std::vector<Array>& outputs,
                         const std::function<Tolerance(const Array& expected)>& tolerance_for);

}  // namespace estimator::ir

#endif  // ESTIMATOR_RUNTIME_COMPARE_ARGMAX_H_
