// ModelSpec: what a model_fn returned. EstimatorSpec and TPUEstimatorSpec are converted to it; the
// loops know only this one.
#ifndef ESTIMATOR_TRAINING_MODEL_MODEL_SPEC_H_
#define ESTIMATOR_TRAINING_MODEL_MODEL_SPEC_H_

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "estimator/array/array.h"
#include "estimator/export/signature/export_output.h"
#include "estimator/graph/graph.h"
#include "estimator/nn/metrics/metric.h"
#include "estimator/training/hooks/hook.h"
#include "estimator/training/input/mode.h"
#include "estimator/training/model/host_function.h"
#include "estimator/training/model/scaffold.h"

namespace estimator {

using metrics::Metric;
using metrics::MetricMap;

// A function that builds metrics on the host from placeholders for the replicas' tensors, which are
// concatenated on axis 0.
using HostMetrics = HostFunction<MetricMap, Tensor>;
// A function that is called on the host in every step, or in every n-th step of a loop
// (TPUConfig::experimental_host_call_every_n_steps), with the replicas' tensors concatenated on
// axis 0: a tensor [1] is an array [num_replicas]. The updates of the step take effect after the
// call, so global_step has the value from before the step. An error ends Train, Evaluate or
// Predict, which return it, and its step is not applied.
using HostCall = HostFunction<absl::Status, Array>;

struct ModelSpec {
  Mode mode = Mode::kTrain;
  Tensor loss;                                // train, eval: one element
  Operation train_op;                         // train
  std::map<std::string, Tensor> predictions;  // predict; a bare tensor has the name ""
  ExportOutputs export_outputs;               // predict; ValidateModelSpec adds the default one
  // Of an evaluation, and of a training by epochs: in the model's own graph, and on the host.
  MetricMap eval_metric_ops;
  MetricMap host_metrics;  // those that metrics::OnHost made
  std::optional<HostMetrics> eval_metrics;
  std::optional<HostCall> host_call;
  Hooks training_chief_hooks, training_hooks, evaluation_hooks, prediction_hooks;
  std::function<Scaffold()> scaffold_fn;
};

// Checks that the spec has what its mode requires. Reshapes a loss of shape [1] to a scalar, and
// moves metrics of the host from eval_metric_ops to host_metrics.
// Errors: INVALID_ARGUMENT listing everything that is missing or wrong, in TensorFlow's words.
// Source: TF 2.15 EstimatorSpec.__new__.
absl::Status ValidateModelSpec(const Graph& graph, ModelSpec& spec);
// Checks the metrics of a spec for training, which only a training by epochs computes.
// Errors: as above.
absl::Status ValidateTrainMetrics(const Graph& graph, const ModelSpec& spec);

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_MODEL_MODEL_SPEC_H_
