#include "estimator/nn/train/clip.h"

#include <optional>

#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/indexed_slices.h"
#include "estimator/ops/comparison.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/select.h"

namespace estimator {

namespace {

Tensor ClipDense(const Tensor& x, double clip_norm, const ReduceAxes& axes) {
  // The derivative of the square root is not finite at 0. The inner Where replaces 0 by 1 there, so
  // that the gradient of the norm is 0, not NaN.
  const Tensor sum = ReduceSum(Square(x), axes, {.keepdims = true});
  const Tensor positive = Greater(sum, 0.0);
  const Tensor norm = Where(positive, Sqrt(Where(positive, sum, 1.0)), sum);
  return x * clip_norm / Maximum(norm, clip_norm);
}

}  // namespace

Tensor ClipByNorm(const Tensor& x, double clip_norm, const ReduceAxes& axes) {
  const NameScope scope("clip_by_norm", GraphFor({x}));
  std::optional<IndexedSlices> slices = SlicesOf(x);
  if (!slices.has_value()) return ClipDense(x, clip_norm, axes);
  slices->values = ClipDense(slices->values, clip_norm, axes);
  return AddUp(*slices, x.dim(0));
}

ClippedByGlobalNorm ClipByGlobalNorm(const std::vector<Tensor>& tensors, double clip_norm,
                                     const Tensor& use_norm) {
  const NameScope scope("clip_by_global_norm", GraphFor(tensors));
  std::vector<Tensor> present;
  for (const Tensor& tensor : tensors) {
    if (tensor.valid()) present.push_back(tensor);
  }
  ClippedByGlobalNorm result = {tensors, use_norm};
  if (!(clip_norm >= 0)) {  // a negative norm would turn the gradients around
    GraphFor(tensors).Fail(
        InvalidArgument("ClipByGlobalNorm: clip_norm is ", clip_norm, ", but must be 0 or more"));
    return result;
  }
  if (present.empty()) return result;
  if (!use_norm.valid()) result.global_norm = GlobalNorm(present);
  const Tensor& norm = result.global_norm;
  // norm - norm is 0 if the norm is finite, and NaN if not.
  const Tensor scale = Minimum(1 / norm, 1 / clip_norm) * clip_norm + (norm - norm);
  for (Tensor& tensor : result.tensors) {
    if (!tensor.valid()) continue;
    const Tensor by = Cast(scale, tensor.dtype());
    if (std::optional<IndexedSlices> slices = SlicesOf(tensor); slices.has_value()) {
      slices->values = slices->values * by;
      tensor = AddUp(*slices, tensor.dim(0));
    } else {
      tensor = tensor * by;
    }
  }
  return result;
}

namespace train {

std::vector<GradientAndVariable> ClipByGlobalNorm(
    const std::vector<GradientAndVariable>& grads_and_vars, double clip_norm) {
  std::vector<Tensor> gradients;
  for (const GradientAndVariable& pair : grads_and_vars) gradients.push_back(pair.gradient);
  const ClippedByGlobalNorm clipped = estimator::ClipByGlobalNorm(gradients, clip_norm);
  std::vector<GradientAndVariable> result = grads_and_vars;
  for (size_t i = 0; i < result.size(); ++i) result[i].gradient = clipped.tensors[i];
  return result;
}

}  // namespace train
}  // namespace estimator
