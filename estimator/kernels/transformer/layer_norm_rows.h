// Layer normalization of rows, vectorised for the CPU at run time:
//   y = (x - mean) rstd gamma + beta, with the row's mean and rstd = 1 / sqrt(variance + epsilon)
#ifndef ESTIMATOR_KERNELS_TRANSFORMER_LAYER_NORM_ROWS_H_
#define ESTIMATOR_KERNELS_TRANSFORMER_LAYER_NORM_ROWS_H_

#include <cstdint>

namespace estimator::transformer {

//   x, y: [rows, channels]; y may be x.  gamma, beta: [channels].  mean, rstd: [rows].
void LayerNormRows(const float* x, const float* gamma, const float* beta, int64_t rows,
                   int64_t channels, float epsilon, float* y, float* mean, float* rstd);

//   dy, x, dx: [rows, channels]; dx may be dy.  gamma: [channels].  mean, rstd: [rows].
// Adds the rows' gradients to dgamma and dbeta, [channels].
void LayerNormGradRows(const float* dy, const float* x, const float* gamma, const float* mean,
                       const float* rstd, int64_t rows, int64_t channels, float* dx, float* dgamma,
                       float* dbeta);

}  // namespace estimator::transformer

#endif  // ESTIMATOR_KERNELS_TRANSFORMER_LAYER_NORM_ROWS_H_
