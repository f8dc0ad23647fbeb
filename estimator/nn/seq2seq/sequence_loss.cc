#include "estimator/nn/seq2seq/sequence_loss.h"

#include <cstdint>
#include <vector>

#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/nn/layers/layer.h"
#include "estimator/ops/comparison.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/reduction.h"
#include "estimator/ops/shape_ops.h"
#include "estimator/ops/softmax.h"

namespace estimator::seq2seq {

Tensor SequenceLoss(const Tensor& logits, const Tensor& targets, const Tensor& weights,
                    const SequenceLossOptions& options) {
  Graph& graph = GraphFor({logits, targets, weights});
  const NameScope scope("sequence_loss");
  if (!logits.valid() || !targets.valid() || !weights.valid()) return Tensor(&graph, nullptr, 0);
  if (!layers::CheckRank(logits, "sequence_loss", 3, 3)) return layers::InvalidLike(logits);
  const int64_t batch_size = logits.dim(0), num_steps = logits.dim(1);
  const Shape expected{batch_size, num_steps};
  if (targets.shape() != expected || weights.spec() != TensorSpec{logits.dtype(), expected}) {
    return graph.Fail(InvalidArgument("sequence_loss: the logits are ", logits.spec().ToString(),
                                      ", the targets ", targets.spec().ToString(),
                                      " and the weights ", weights.spec().ToString(),
                                      "; targets and weights must be ", expected.ToString(),
                                      ", and the weights of the dtype of the logits"));
  }
  if ((options.average_across_timesteps && options.sum_over_timesteps) ||
      (options.average_across_batch && options.sum_over_batch)) {
    return graph.Fail(
        InvalidArgument("sequence_loss: an average and a sum over one axis exclude each other; set "
                        "average_across_timesteps or average_across_batch to false for a sum"));
  }
  const bool averages = options.average_across_timesteps || options.average_across_batch;
  const bool sums = options.sum_over_timesteps || options.sum_over_batch;
  if (averages && sums) {
    return graph.Fail(InvalidArgument(
        "sequence_loss: one axis is averaged and the other is summed; average both, or sum both"));
  }
  const Tensor labels = Reshape(targets, Shape{-1}),
               flat = Reshape(logits, Shape{-1, logits.dim(2)});
  const Tensor losses = options.softmax_loss_function
                            ? options.softmax_loss_function(labels, flat)
                            : SparseSoftmaxCrossEntropyWithLogits(labels, flat);
  const Tensor weighted = Reshape(losses, expected) * weights;
  std::vector<int64_t> axes;
  if (options.average_across_batch || options.sum_over_batch) axes.push_back(0);
  if (options.average_across_timesteps || options.sum_over_timesteps) axes.push_back(1);
  if (axes.empty()) return weighted;
  const Tensor counted = averages ? weights : Cast(NotEqual(weights, 0), weights.dtype());
  return DivideNoNan(ReduceSum(weighted, axes), ReduceSum(counted, axes));
}

}  // namespace estimator::seq2seq
