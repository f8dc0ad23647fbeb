// The batch axis and the time axis of sequences.
#ifndef ESTIMATOR_NN_RNN_BATCH_TIME_H_
#define ESTIMATOR_NN_RNN_BATCH_TIME_H_

#include "estimator/graph/tensor.h"
#include "estimator/ops/operand.h"

namespace estimator {

// Exchanges the first two axes: [N, T, ...] and [T, N, ...].
Tensor TransposeBatchTime(const Tensor& x);

// `per_example`, [N] or [N, 1], with axes of size 1 so that it broadcasts to x [N, ...].
Tensor ForRankOf(const Tensor& x, const Tensor& per_example);

// `x` [N, ...], but `otherwise` for the examples that are over. A scalar is passed through, as in
// TensorFlow.
//   finished: bool [N] or [N, 1].
Tensor UnlessFinished(const Tensor& finished, const Tensor& x, const Operand& otherwise);

}  // namespace estimator

#endif  // ESTIMATOR_NN_RNN_BATCH_TIME_H_
