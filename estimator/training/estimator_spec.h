// EstimatorSpec: what a plain Estimator's model_fn returns.
#ifndef ESTIMATOR_TRAINING_ESTIMATOR_SPEC_H_
#define ESTIMATOR_TRAINING_ESTIMATOR_SPEC_H_

#include <map>
#include <string>
#include <utility>

#include "estimator/training/model/model_spec.h"

namespace estimator {

// Optional fields, for every mode. A mode ignores the fields that it does not use.
struct EstimatorSpecOptions {
  // Of an evaluation. For Train: the metrics that TrainEpochs computes over the training batches.
  MetricMap eval_metric_ops = {};
  Hooks training_chief_hooks = {}, training_hooks = {}, evaluation_hooks = {},
        prediction_hooks = {};
  Scaffold scaffold = {};
  // Outputs of the exported model, by signature key; none: the predictions.
  ExportOutputs export_outputs = {};
};

// Each mode has a factory, whose parameters are the fields that the mode requires.
//   loss: floating, one element.  predictions: by name; `{"", tensor}` for a bare tensor.
// Source: TF 2.15 tf.estimator.EstimatorSpec.
class EstimatorSpec {
 public:
  static EstimatorSpec Train(const Tensor& loss, const Operation& train_op,
                             EstimatorSpecOptions options = {}) {
    EstimatorSpec result(Mode::kTrain, std::move(options));
    result.spec_.loss = loss;
    result.spec_.train_op = train_op;
    return result;
  }
  static EstimatorSpec Eval(const Tensor& loss, MetricMap eval_metric_ops = {},
                            EstimatorSpecOptions options = {}) {
    options.eval_metric_ops.merge(eval_metric_ops);
    EstimatorSpec result(Mode::kEval, std::move(options));
    result.spec_.loss = loss;
    return result;
  }
  static EstimatorSpec Predict(std::map<std::string, Tensor> predictions,
                               EstimatorSpecOptions options = {}) {
    EstimatorSpec result(Mode::kPredict, std::move(options));
    result.spec_.predictions = std::move(predictions);
    return result;
  }

  const ModelSpec& spec() const { return spec_; }

 private:
  EstimatorSpec(Mode mode, EstimatorSpecOptions options) {
    spec_.mode = mode;
    spec_.export_outputs = std::move(options.export_outputs);
    spec_.eval_metric_ops = std::move(options.eval_metric_ops);
    spec_.training_chief_hooks = std::move(options.training_chief_hooks);
    spec_.training_hooks = std::move(options.training_hooks);
    spec_.evaluation_hooks = std::move(options.evaluation_hooks);
    spec_.prediction_hooks = std::move(options.prediction_hooks);
    spec_.scaffold_fn = [scaffold = std::move(options.scaffold)] { return scaffold; };
  }

  ModelSpec spec_;
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_ESTIMATOR_SPEC_H_
