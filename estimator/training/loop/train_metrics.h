// TrainMetrics: the means of the loss and of a spec's metrics over training batches. The values
// come from the steps that train, so there is no second pass.
#ifndef ESTIMATOR_TRAINING_LOOP_TRAIN_METRICS_H_
#define ESTIMATOR_TRAINING_LOOP_TRAIN_METRICS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/array/array.h"
#include "estimator/data/pipeline/element.h"
#include "estimator/graph/graph.h"
#include "estimator/runtime/backend.h"
#include "estimator/training/epochs/history.h"
#include "estimator/training/loop/eval_result.h"
#include "estimator/training/metrics/metric_accumulator.h"
#include "estimator/training/model/built_model.h"

namespace estimator {

// Not thread-safe.
class TrainMetrics {
 public:
  // eval_metrics are computed on the host from the tensors of each step, and eval_metric_ops are
  // updated by the step itself. The model and the backend outlive the metrics.
  //   num_parts: of the batch, whose tensors are joined: the replicas, or 1 if all compute the
  //     same.
  //   examples: of a step: the weight of its loss. 0: 1.
  // Errors: those of the metrics; INVALID_ARGUMENT for eval_metric_ops on several replicas.
  static absl::StatusOr<std::unique_ptr<TrainMetrics>> Create(const BuiltModel& model,
                                                              Backend& backend, int64_t num_parts,
                                                              int64_t examples);

  // What AddStep needs of each step, besides the loss, and what the step updates.
  const std::vector<Tensor>& tensors() const { return tensors_; }
  const std::vector<Operation>& updates() const { return updates_; }
  // Call it when the local variables of the graph have their initial values.
  absl::Status RememberInitialTotals();

  //   values: the loss, and those of tensors().
  absl::Status AddStep(const std::vector<Array>& values);
  // `loss` and the metrics that are scalars. Without steps: NaN and what the metrics give.
  absl::StatusOr<Logs> Values();
  absl::Status Reset();

  // The totals, as arrays by name, for a checkpoint.
  absl::Status Save(ArrayMap& state) const;
  // Errors: INVALID_ARGUMENT if they are of other metrics.
  absl::Status Restore(const ArrayMap& state);

 private:
  TrainMetrics(const BuiltModel& model, Backend& backend, int64_t examples)
      : model_(model),
        backend_(backend),
        weight_(examples > 0 ? static_cast<double>(examples) : 1) {}

  const BuiltModel& model_;
  Backend& backend_;
  const double weight_;
  double loss_sum_ = 0, loss_weight_ = 0;
  std::vector<Tensor> tensors_;
  std::vector<Operation> updates_;
  std::unique_ptr<MetricAccumulator> host_;   // null without eval_metrics
  MetricValues host_initial_;                 // totals before the first step
  MetricValues graph_initial_;                // the same of eval_metric_ops, by variable
  std::unique_ptr<Executable> graph_values_;  // null before Values, and without eval_metric_ops
};

// Adds the scalars of `values` to `logs`, with `prefix` before their names. Leaves out global_step.
void AddScalars(const MetricValues& values, const std::string& prefix, Logs& logs);

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_LOOP_TRAIN_METRICS_H_
