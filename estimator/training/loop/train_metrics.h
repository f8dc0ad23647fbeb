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
  // Errors: those of the metrics; INVALID_ARGUMENT for eval_metric_ops on several replicas.
  static absl::StatusOr<std::unique_ptr<TrainMetrics>> Create(const BuiltModel& model,
                                                              Backend& backend, int64_t num_parts);

  // What AddStep needs of each step, besides the loss, and what the step updates. `spec` is of the
  // model, or of one for batches of another shape.
  static std::vector<Tensor> TensorsOf(const ModelSpec& spec);
  static std::vector<Operation> UpdatesOf(const ModelSpec& spec);
  // Call it when the local variables of the graph have their initial values.
  absl::Status RememberInitialTotals();

  //   values: the loss, and those of TensorsOf.
  //   examples: of the step: the weight of its loss. 0: 1.
  absl::Status AddStep(const std::vector<Array>& values, int64_t examples);
  // `loss` and the metrics that are scalars. Without steps: NaN and what the metrics give.
  absl::StatusOr<Logs> Values();
  absl::Status Reset();

  // The totals, as arrays by name, for a checkpoint.
  absl::Status Save(ArrayMap& state) const;
  // Errors: INVALID_ARGUMENT if they are of other metrics.
  absl::Status Restore(const ArrayMap& state);

 private:
  TrainMetrics(const BuiltModel& model, Backend& backend) : model_(model), backend_(backend) {}

  const BuiltModel& model_;
  Backend& backend_;
  double loss_sum_ = 0, loss_weight_ = 0;
  std::unique_ptr<MetricAccumulator> host_;   // null without eval_metrics
  MetricValues host_initial_;                 // totals before the first step
  MetricValues graph_initial_;                // the same of eval_metric_ops, by variable
  std::unique_ptr<Executable> graph_values_;  // null before Values, and without eval_metric_ops
};

// Adds the scalars of `values` to `logs`, with `prefix` before their names. Leaves out global_step.
void AddScalars(const MetricValues& values, const std::string& prefix, Logs& logs);

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_LOOP_TRAIN_METRICS_H_
