// The quotient of norms by which LARS and LAMB scale the step of a variable.
#ifndef ESTIMATOR_NN_TRAIN_TRUST_RATIO_H_
#define ESTIMATOR_NN_TRAIN_TRUST_RATIO_H_

#include "estimator/graph/tensor.h"

namespace estimator::train {

// Returns `ratio` if both norms are above 0, else 1: a variable that is zero, or whose update is
// zero, is not scaled. All are scalars of one floating dtype.
Tensor TrustRatio(const Tensor& weight_norm, const Tensor& update_norm, const Tensor& ratio);

}  // namespace estimator::train

#endif  // ESTIMATOR_NN_TRAIN_TRUST_RATIO_H_
