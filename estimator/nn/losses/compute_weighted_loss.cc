#include "estimator/nn/losses/compute_weighted_loss.h"

#include "estimator/base/status.h"
#include "estimator/nn/match_shapes.h"
#include "estimator/ops/comparison.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/reduction.h"
#include "estimator/ops/shape_ops.h"

namespace estimator::losses {
namespace {

Tensor Weighted(const Tensor& losses, const Tensor& weights, Reduction reduction) {
  const Tensor weighted = losses * weights;
  if (reduction == Reduction::kNone) return weighted;
  const Tensor sum = ReduceSum(weighted);
  const double count = static_cast<double>(losses.shape().num_elements());
  const Tensor every = BroadcastTo(weights, losses.shape());
  switch (reduction) {
    case Reduction::kNone:
    case Reduction::kSum:
      return sum;
    case Reduction::kSumOverBatchSize:
      return DivideNoNan(sum, ConstantLike(sum, count), "value");
    case Reduction::kMean:
      return DivideNoNan(sum, ReduceSum(every), "value");
    case Reduction::kSumOverNonzeroWeights:
    case Reduction::kSumByNonzeroWeights:
      break;
  }
  const Tensor num_present = ReduceSum(Cast(NotEqual(every, 0.0), losses.dtype()),
                                       ReduceAxes::All(), {.name = "num_present"});
  return DivideNoNan(sum, num_present, "value");
}

}  // namespace

Tensor ComputeWeightedLoss(const Tensor& losses, const Options& options) {
  const NameScope scope("weighted_loss", GraphFor({losses}));
  if (!losses.valid()) return Tensor(&GraphFor({losses}), nullptr, 0);
  Tensor loss;
  if (options.weights.has_value()) {
    const Tensor matched = MatchWeights(*options.weights, losses, "weighted_loss");
    if (!matched.valid()) return Tensor(losses.graph(), nullptr, 0);
    loss = Weighted(losses, matched, options.reduction);
  } else if (options.reduction == Reduction::kNone) {
    loss = losses;
  } else if (options.reduction == Reduction::kSum) {
    loss = ReduceSum(losses, ReduceAxes::All(), {.name = "value"});
  } else {  // all weights are 1: the other reductions are the mean
    loss = ReduceMean(losses, ReduceAxes::All(), {.name = "value"});
  }
  if (options.add_to_collection) AddLoss(loss);
  return loss;
}

void AddLoss(const Tensor& loss) {
  if (loss.valid()) loss.graph()->losses().push_back(loss);
}

std::vector<Tensor> GetLosses(Graph& graph) { return graph.losses(); }

Tensor GetRegularizationLoss(Graph& graph) {
  const std::vector<Tensor>& losses = graph.regularization_losses();
  if (losses.empty()) return ConstantIn(graph, Array::Scalar(0.0f), "total_regularization_loss");
  return AddN(losses, "total_regularization_loss");
}

Tensor GetTotalLoss(bool add_regularization_losses, StringArg name, Graph& graph) {
  std::vector<Tensor> losses = graph.losses();
  if (add_regularization_losses) {
    losses.insert(losses.end(), graph.regularization_losses().begin(),
                  graph.regularization_losses().end());
  }
  if (losses.empty()) {
    return graph.Fail(InvalidArgument(
        "GetTotalLoss: the graph has no losses; call a function of losses::, or losses::AddLoss"));
  }
  return AddN(losses, name);
}

}  // namespace estimator::losses
