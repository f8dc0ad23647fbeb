// Gradient clipping. ClipByValue and GlobalNorm are ops, in ops/math_binary.h and ops/reduction.h.
#ifndef ESTIMATOR_NN_TRAIN_CLIP_H_
#define ESTIMATOR_NN_TRAIN_CLIP_H_

#include <vector>

#include "estimator/graph/tensor.h"
#include "estimator/nn/cross_shard.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/reduction.h"

namespace estimator {

// x * clip_norm / max(norm, clip_norm), with the Euclidean norm over `axes`. By default the norm is
// that of the whole tensor; with `axes`, each slice has its own.
// Source: TF 2.15 tf.clip_by_norm.
Tensor ClipByNorm(const Tensor& x, double clip_norm, const ReduceAxes& axes = ReduceAxes::All());

struct ClippedByGlobalNorm {
  std::vector<Tensor> tensors;  // in the order given; an invalid tensor stays invalid
  Tensor global_norm;           // before clipping, f32 []
};
// Multiplies every tensor by clip_norm / max(global norm, clip_norm). If the norm is not finite,
// all tensors become NaN, so that the NaN guard detects it.
//   use_norm: the global norm, if it is known already.
// Errors (kept by the graph): INVALID_ARGUMENT if clip_norm is negative or NaN.
// Source: TF 2.15 tf.clip_by_global_norm.
ClippedByGlobalNorm ClipByGlobalNorm(const std::vector<Tensor>& tensors, double clip_norm,
                                     const Tensor& use_norm = Tensor());

namespace train {

// The same for the result of ComputeGradients. Pass the result to ApplyGradients. On replicas this
// clips each replica's part, before the sum; clipping_optimizer.h clips the sum.
std::vector<GradientAndVariable> ClipByGlobalNorm(
    const std::vector<GradientAndVariable>& grads_and_vars, double clip_norm);

}  // namespace train
}  // namespace estimator

#endif  // ESTIMATOR_NN_TRAIN_CLIP_H_
