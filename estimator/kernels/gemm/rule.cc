#include "estimator/kernels/gemm/rule.h"

namespace estimator::gemm {

bool Chosen(const Product& product) {
  return HasWideVectors() && product.m >= 128 && product.n >= 1000 && product.k >= 32 &&
         product.k <= 1024;
}

}  // namespace estimator::gemm
