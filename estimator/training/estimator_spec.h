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
    ModelSpec spec = Common(Mode::kTrain, std::move(options));
    spec.loss = loss;
    spec.train_op = train_op;
    return EstimatorSpec(std::move(spec));
  }
  static EstimatorSpec Eval(const Tensor& loss, MetricMap eval_metric_ops = {},
                            EstimatorSpecOptions options = {}) {
    options.eval_metric_ops.merge(eval_metric_ops);
    ModelSpec spec = Common(Mode::kEval, std::move(options));
    spec.loss = loss;
    return EstimatorSpec(std::move(spec));
  }
  static EstimatorSpec Predict(std::map<std::string, Tensor> predictions,
                               EstimatorSpecOptions options = {}) {
    ModelSpec spec = Common(Mode::kPredict, std::move(options));
    spec.predictions = std::move(predictions);
    return EstimatorSpec(std::move(spec));
  }

  const ModelSpec& spec() const { return spec_; }

 private:
  explicit EstimatorSpec(ModelSpec spec) : spec_(std::move(spec)) {}
  static ModelSpec Common(Mode mode, EstimatorSpecOptions options) {
    ModelSpec spec;
    spec.mode = mode;
    spec.export_outputs = std::move(options.export_outputs);
    spec.eval_metric_ops = std::move(options.eval_metric_ops);
    spec.training_chief_hooks = std::move(options.training_chief_hooks);
    spec.training_hooks = std::move(options.training_hooks);
    spec.evaluation_hooks = std::move(options.evaluation_hooks);
    spec.prediction_hooks = std::move(options.prediction_hooks);
    spec.scaffold_fn = [scaffold = std::move(options.scaffold)] { return scaffold; };
    return spec;
  }

  ModelSpec spec_;
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_ESTIMATOR_SPEC_H_
