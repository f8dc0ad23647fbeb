#include "estimator/nn/train/trust_ratio.h"

#include "estimator/ops/comparison.h"
#include "estimator/ops/select.h"

namespace estimator::train {

Tensor TrustRatio(const Tensor& weight_norm, const Tensor& update_norm, const Tensor& ratio) {
  return Where(LogicalAnd(Greater(weight_norm, 0), Greater(update_norm, 0)), ratio, 1.0,
               "trust_ratio");
}

}  // namespace estimator::train
