// TPUEstimatorSpec: the return value of a TPUEstimator's model_fn.
#ifndef TPU_TPU_ESTIMATOR_SPEC_H_
#define TPU_TPU_ESTIMATOR_SPEC_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "estimator/training/estimator_spec.h"

namespace estimator::tpu {

// A function that builds metrics on the host, and its arguments, which are tensors of the replicas
// with the batch on axis 0. There are three forms:
//   {TestMetrics, {labels, logits}}
//       MetricMap TestMetrics(const Tensor& labels, const Tensor& logits);
//   {TestMetrics, {labels, logits}}
//       MetricMap TestMetrics(const std::vector<Tensor>& tensors);
//   {TestMetrics, {{"labels", labels}, {"logits", logits}}}
//       MetricMap TestMetrics(const std::map<std::string, Tensor>& tensors);
class EvalMetrics {
 public:
  using ListFn = std::function<MetricMap(const std::vector<Tensor>&)>;
  using DictFn = std::function<MetricMap(const std::map<std::string, Tensor>&)>;

  EvalMetrics() = default;  // no metrics except the loss
  // A function with one parameter for each tensor.
  template <typename... Args,
            typename = std::enable_if_t<(std::is_convertible_v<const Tensor&, Args> && ...)>>
  EvalMetrics(MetricMap (*fn)(Args...), std::vector<Tensor> tensors) {
    if (tensors.size() != sizeof...(Args)) {
      status_ = absl::InvalidArgumentError(absl::StrCat("eval_metrics: the function takes ",
                                                        sizeof...(Args), " tensors, given ",
                                                        tensors.size()));
      return;
    }
    metrics_ = {[fn](const std::vector<Tensor>& args) {
                  return Call(fn, args, std::index_sequence_for<Args...>());
                },
                std::move(tensors)};
  }
  template <typename Fn, typename = std::enable_if_t<
                             std::is_invocable_r_v<MetricMap, Fn, const std::vector<Tensor>&>>>
  EvalMetrics(Fn fn, std::vector<Tensor> tensors)
      : metrics_{ListFn(std::move(fn)), std::move(tensors)} {}
  template <typename Fn, typename = std::enable_if_t<std::is_invocable_r_v<
                             MetricMap, Fn, const std::map<std::string, Tensor>&>>>
  EvalMetrics(Fn fn, const std::map<std::string, Tensor>& tensors) {
    std::vector<std::string> names;
    for (const auto& [name, tensor] : tensors) {
      names.push_back(name);
      metrics_.tensors.push_back(tensor);
    }
    metrics_.fn = [fn = DictFn(std::move(fn)), names](const std::vector<Tensor>& args) {
      std::map<std::string, Tensor> named;
      for (size_t i = 0; i < names.size(); ++i) named[names[i]] = args[i];
      return fn(named);
    };
  }

  const absl::Status& status() const { return status_; }
  const HostMetrics& metrics() const { return metrics_; }

 private:
  template <typename... Args, size_t... I>
  static MetricMap Call(MetricMap (*fn)(Args...), [[maybe_unused]] const std::vector<Tensor>& args,
                        std::index_sequence<I...>) {
    return fn(args[I]...);
  }

  absl::Status status_;
  HostMetrics metrics_;
};

// The optional fields of every mode.
struct TPUEstimatorSpecOptions {
  // A function that runs on the host after every step, for example to write summaries. Its tensors
  // need a batch axis: reshape a scalar to [1].
  std::optional<HostCall> host_call = std::nullopt;
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
    result.status_ = eval_metrics.status();
    if (eval_metrics.metrics().fn) result.spec_.eval_metrics = eval_metrics.metrics();
    return result;
  }
  static TPUEstimatorSpec Predict(std::map<std::string, Tensor> predictions,
                                  TPUEstimatorSpecOptions options = {}) {
    TPUEstimatorSpec result(Mode::kPredict, std::move(options));
    result.spec_.predictions = std::move(predictions);
    return result;
  }

  const absl::Status& status() const { return status_; }
  const ModelSpec& spec() const { return spec_; }

 private:
  TPUEstimatorSpec(Mode mode, TPUEstimatorSpecOptions options) {
    spec_.mode = mode;
    spec_.host_call = std::move(options.host_call);
    spec_.scaffold_fn = std::move(options.scaffold_fn);
    spec_.export_outputs = std::move(options.export_outputs);
    spec_.training_hooks = std::move(options.training_hooks);
    spec_.evaluation_hooks = std::move(options.evaluation_hooks);
    spec_.prediction_hooks = std::move(options.prediction_hooks);
  }

  absl::Status status_;
  ModelSpec spec_;
};

}  // namespace estimator::tpu

#endif  // TPU_TPU_ESTIMATOR_SPEC_H_
