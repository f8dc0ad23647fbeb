// ModelSpec: what a model_fn returned. EstimatorSpec and TPUEstimatorSpec are converted to it; the
// loops know only this one.
#ifndef ESTIMATOR_TRAINING_MODEL_MODEL_SPEC_H_
#define ESTIMATOR_TRAINING_MODEL_MODEL_SPEC_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "estimator/array/array.h"
#include "estimator/export/signature/export_output.h"
#include "estimator/graph/graph.h"
#include "estimator/nn/metrics/metric.h"
#include "estimator/training/hooks/hook.h"
#include "estimator/training/input/mode.h"
#include "estimator/training/model/scaffold.h"

namespace estimator {

using metrics::Metric;
using metrics::MetricMap;

// Metrics that are computed on the host from the replicas' tensors, concatenated on axis 0.
struct HostMetrics {
  // Builds the metrics from placeholders for `tensors`, in order.
  std::function<MetricMap(const std::vector<Tensor>&)> fn;
  std::vector<Tensor> tensors = {};
};

// A function that is called on the host after every step, with the replicas' tensors concatenated
// on axis 0.
struct HostCall {
  std::function<absl::Status(const std::vector<Array>&)> fn;
  std::vector<Tensor> tensors = {};
};

struct ModelSpec {
  Mode mode = Mode::kTrain;
  Tensor loss;                                // train, eval: one element
  Operation train_op;                         // train
  std::map<std::string, Tensor> predictions;  // predict; a bare tensor has the name ""
  ExportOutputs export_outputs;               // predict; ValidateModelSpec adds the default one
  MetricMap eval_metric_ops;                  // eval, in the model's own graph
  std::optional<HostMetrics> eval_metrics;    // eval, on the host
  std::optional<HostCall> host_call;
  Hooks training_chief_hooks, training_hooks, evaluation_hooks, prediction_hooks;
  std::function<Scaffold()> scaffold_fn;
};

// Checks that the spec has what its mode requires. Reshapes a loss of shape [1] to a scalar.
// Errors: INVALID_ARGUMENT listing everything that is missing or wrong, in TensorFlow's words.
// Source: TF 2.15 EstimatorSpec.__new__.
absl::Status ValidateModelSpec(const Graph& graph, ModelSpec& spec);

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_MODEL_MODEL_SPEC_H_
