// Weights and reductions that all losses share, and the graph's collection of losses.
#ifndef ESTIMATOR_NN_LOSSES_COMPUTE_WEIGHTED_LOSS_H_
#define ESTIMATOR_NN_LOSSES_COMPUTE_WEIGHTED_LOSS_H_

#include <optional>
#include <vector>

#include "absl/strings/string_view.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/tensor.h"
#include "estimator/nn/reduction.h"
#include "estimator/ops/operand.h"

namespace estimator::losses {

// What every loss takes. With designated initializers:
//   losses::MeanSquaredError(labels, predictions, {.weights = mask, .reduction = Reduction::kSum})
struct Options {
  // A number, or a tensor that broadcasts to the losses: of the same rank, each size 1 or equal; a
  // missing or surplus last axis of size 1 is mended. None: 1.
  std::optional<Operand> weights = std::nullopt;
  Reduction reduction = Reduction::kSumByNonzeroWeights;
  bool add_to_collection = true;  // graph.losses(), which GetTotalLoss adds up
};

// `losses` weighted and reduced; zero where the divisor is zero.
//   losses: floating, any shape.  Returns a scalar of its dtype (kNone: its shape).
// Errors: INVALID_ARGUMENT naming both shapes if the weights do not broadcast.
// Source: TF 2.15 tf.compat.v1.losses.compute_weighted_loss.
Tensor ComputeWeightedLoss(const Tensor& losses, const Options& options = {});

// Adds a loss of the model's own to graph.losses().
void AddLoss(const Tensor& loss);
std::vector<Tensor> GetLosses(Graph& graph = Graph::Current());
// The sum of the regularizers' penalties; 0 (f32) without any.
Tensor GetRegularizationLoss(Graph& graph = Graph::Current());
// The sum of all losses and, unless told otherwise, of the penalties.
// Errors: INVALID_ARGUMENT if there is none.
Tensor GetTotalLoss(bool add_regularization_losses = true, absl::string_view name = "total_loss",
                    Graph& graph = Graph::Current());

}  // namespace estimator::losses

#endif  // ESTIMATOR_NN_LOSSES_COMPUTE_WEIGHTED_LOSS_H_
