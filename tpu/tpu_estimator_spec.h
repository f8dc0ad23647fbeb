// TPUEstimatorSpec: the return value of a TPUEstimator's model_fn.
#ifndef TPU_TPU_ESTIMATOR_SPEC_H_
#define TPU_TPU_ESTIMATOR_SPEC_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "estimator/training/estimator_spec.h"

namespace estimator::tpu {

// A function that builds metrics on the host, and its arguments, which are tensors of the replicas
// with the batch on axis 0. The function, here TestMetrics, may be a lambda. There are three forms:
//   {TestMetrics, {labels, logits}}
//       MetricMap TestMetrics(const Tensor& labels, const Tensor& logits);
//   {TestMetrics, {labels, logits}}
//       MetricMap TestMetrics(const std::vector<Tensor>& tensors);
//   {TestMetrics, {{"labels", labels}, {"logits", logits}}}
//       MetricMap TestMetrics(const std::map<std::string, Tensor>& tensors);
using EvalMetrics = HostMetrics;

// The optional fields of every mode.
struct TPUEstimatorSpecOptions {
  // A function that runs on the host in every step, before the updates of the step take effect, and
  // its tensors, in the forms of EvalMetrics with Arrays for Tensors:
  //   HostCall{[](const Array& step, const Array& loss) { ... }, {step, loss}}
  // It returns an absl::Status, or nothing. Its tensors need a batch axis: reshape a scalar to [1].
  // Summaries need no host_call: summary::Scalar works on replicas.
  std::optional<HostCall> host_call = std::nullopt;
  // For Train: the metrics that TrainEpochs computes over the training batches. Other calls do not
  // use them. Eval has its own parameter.
  EvalMetrics eval_metrics = {};
  // Metrics in the model's own graph, as in EstimatorSpec. They need evaluation on one replica:
  // use_tpu = false, or eval_on_tpu = false.
  MetricMap eval_metric_ops = {};
  std::function<Scaffold()> scaffold_fn = nullptr;
  Hooks training_hooks = {}, evaluation_hooks = {}, prediction_hooks = {};
  // The outputs of an exported model by signature key. None: the predictions.
  ExportOutputs export_outputs = {};
};

// There is one factory for each mode. Its parameters are the fields that the mode requires.
// Source: TF 2.15 tf.compat.v1.estimator.tpu.TPUEstimatorSpec.
class TPUEstimatorSpec {
 public:
  static TPUEstimatorSpec Train(const Tensor& loss, const Operation& train_op,
                                TPUEstimatorSpecOptions options = {}) {
    TPUEstimatorSpec result(Mode::kTrain, std::move(options));
    result.spec_.loss = loss;
    result.spec_.train_op = train_op;
    return result;
  }
  static TPUEstimatorSpec Eval(const Tensor& loss, const EvalMetrics& eval_metrics = {},
                               TPUEstimatorSpecOptions options = {}) {
    TPUEstimatorSpec result(Mode::kEval, std::move(options));
    result.spec_.loss = loss;
    result.SetEvalMetrics(eval_metrics);
    return result;
  }
  static TPUEstimatorSpec Predict(std::map<std::string, Tensor> predictions,
                                  TPUEstimatorSpecOptions options = {}) {
    TPUEstimatorSpec result(Mode::kPredict, std::move(options));
    result.spec_.predictions = std::move(predictions);
    return result;
  }

  const ModelSpec& spec() const { return spec_; }

 private:
  TPUEstimatorSpec(Mode mode, TPUEstimatorSpecOptions options) {
    spec_.mode = mode;
    SetEvalMetrics(options.eval_metrics);
    spec_.host_call = std::move(options.host_call);
    spec_.eval_metric_ops = std::move(options.eval_metric_ops);
    spec_.scaffold_fn = std::move(options.scaffold_fn);
    spec_.export_outputs = std::move(options.export_outputs);
    spec_.training_hooks = std::move(options.training_hooks);
    spec_.evaluation_hooks = std::move(options.evaluation_hooks);
    spec_.prediction_hooks = std::move(options.prediction_hooks);
  }

  void SetEvalMetrics(const EvalMetrics& eval_metrics) {
    if (eval_metrics.fn || !eval_metrics.status.ok()) spec_.eval_metrics = eval_metrics;
  }

  ModelSpec spec_;
};

}  // namespace estimator::tpu

#endif  // TPU_TPU_ESTIMATOR_SPEC_H_
