// The rule that chooses between our own matrix products of f32 and oneDNN's. It depends on the shape
// and the instruction set only, so that a run computes the same bits whenever it is repeated.
//
// gemm_benchmark measures it. On 2 cores with AVX-512 our own product is 5 to 40 % faster for most
// results of at least 128 rows and 1000 columns, nowhere more than 5 % slower, and twice as fast for
// 3072 columns, where oneDNN 2.6 computes at half its rate. These are left to oneDNN:
//   fewer than 1000 columns    few panels share the copy of a row: oneDNN is up to 15 % faster
//   fewer than 128 rows        few rows share the copy of a panel: up to 25 %
//   depths below 32            a sum is written nearly as often as it is added to: up to 20 %
//   depths above 1024          the difference is below 5 % on average
//   no AVX-512                 up to 15 %
#ifndef ESTIMATOR_KERNELS_GEMM_RULE_H_
#define ESTIMATOR_KERNELS_GEMM_RULE_H_

#include "estimator/kernels/gemm/gemm.h"

namespace estimator::gemm {

// Whether our own product is the faster one.
bool Chosen(const Product& product);

}  // namespace estimator::gemm

#endif  // ESTIMATOR_KERNELS_GEMM_RULE_H_
