// The rule that chooses between Winograd's algorithm and oneDNN's direct one. It depends on the shape
// only, so that a run computes the same bits whenever it is repeated. native_tier_benchmark
// measures it.
#ifndef ESTIMATOR_KERNELS_WINOGRAD_RULE_H_
#define ESTIMATOR_KERNELS_WINOGRAD_RULE_H_

#include "estimator/kernels/kernel.h"
#include "estimator/kernels/winograd/winograd.h"

namespace estimator::winograd {

enum class Pass { kForward, kInputGradient, kFilterGradient };

// Whether Winograd's algorithm computes the op: always with ConvAlgorithm::kWinograd, otherwise
// where it is the faster one. REQUIRES: the algorithm supports the shape.
//   conv: the forward convolution, for the gradients too.
bool Chosen(const KernelSpec& spec, Pass pass, const Convolution& conv);

}  // namespace estimator::winograd

#endif  // ESTIMATOR_KERNELS_WINOGRAD_RULE_H_
