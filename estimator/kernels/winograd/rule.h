// The rule that chooses between Winograd's algorithm and oneDNN's direct one. It depends on the shape
// only, so that a run computes the same bits whenever it is repeated. rule_benchmark measures it: of
// 132 choices 8 are more than 5 % slower than the other one, namely 3x3 filters of 16 channels (up
// to 35 %) and filter gradients of 2x2 images with 512 channels (up to 56 %).
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
