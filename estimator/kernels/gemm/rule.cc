#include "estimator/kernels/gemm/rule.h"

namespace estimator::gemm {

bool Chosen(const Product& product) {
  if (!HasWideVectors()) return false;
  if (product.m < 128 || product.n < 1000 || product.k < 32) return false;
  return !(product.transpose_b && product.m > 512 && product.k >= 1024);
}

}  // namespace estimator::gemm
