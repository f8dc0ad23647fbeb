// Gradient clipping. (ClipByValue and GlobalNorm are ops: ops/math_binary.h, ops/reduction.h.)
#ifndef ESTIMATOR_NN_TRAIN_CLIP_H_
#define ESTIMATOR_NN_TRAIN_CLIP_H_

#include <vector>

#include "estimator/graph/tensor.h"
#include "estimator/nn/cross_shard.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/operand.h"
#include "estimator/ops/reduction.h"

namespace estimator {

// x * clip_norm / max(norm, clip_norm), with the Euclidean norm over `axes` (each slice by itself),
// or over all. Source: TF 2.15 tf.clip_by_norm.
Tensor ClipByNorm(const Tensor& x, double clip_norm, const ReduceAxes& axes = ReduceAxes::All());

struct ClippedByGlobalNorm {
  std::vector<Tensor> tensors;  // in the order given; invalid where none was
  Tensor global_norm;           // before clipping, f32 []
};
// Every tensor times clip_norm / max(global norm, clip_norm). If the norm is not finite, all become
// NaN, so that the NaN guard sees it. `use_norm`: a norm that is known already. Source: TF 2.15
// tf.clip_by_global_norm.
ClippedByGlobalNorm ClipByGlobalNorm(const std::vector<Tensor>& tensors, double clip_norm,
                                     const Tensor& use_norm = Tensor());

namespace train {

// The same for what ComputeGradients gives and ApplyGradients takes.
std::vector<GradientAndVariable> ClipByGlobalNorm(
    const std::vector<GradientAndVariable>& grads_and_vars, double clip_norm);

}  // namespace train
}  // namespace estimator

#endif  // ESTIMATOR_NN_TRAIN_CLIP_H_
