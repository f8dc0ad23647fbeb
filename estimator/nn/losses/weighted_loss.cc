#include "estimator/nn/losses/weighted_loss.h"

#include "estimator/base/status.h"
#include "estimator/ops/math_binary.h"

namespace estimator::losses {

Tensor SmoothLabels(const Tensor& labels, double smoothing, double uniform,
                    absl::string_view loss) {
  if (smoothing == 0 || !labels.valid()) return labels;
  if (!(smoothing > 0 && smoothing < 1)) {
    return labels.graph()->Fail(
        InvalidArgument(loss, ": label_smoothing must be in [0, 1), got ", smoothing));
  }
  return labels * (1 - smoothing) + smoothing * uniform;
}

}  // namespace estimator::losses
