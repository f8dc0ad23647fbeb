#include "estimator/training/model/model_spec.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/base/status.h"
#include "estimator/graph/placeholder_dependency.h"
#include "estimator/ops/shape_ops.h"

namespace estimator {
namespace {

constexpr char kMetricCure[] =
    "take metrics::Mean of a value of each example, f32 [N] (of a loss: .reduction = "
    "Reduction::kNone); the mean loss itself is always reported as 'loss'";

class Violations {
 public:
  template <typename... Parts>
  void Add(const Parts&... parts) {
    messages_.push_back(absl::StrCat(parts...));
  }
  absl::Status ToStatus(Mode mode) const {
    if (messages_.empty()) return absl::OkStatus();
    return InvalidArgument("the spec that model_fn returned for mode ", ModeName(mode),
                           " is not usable: ", absl::StrJoin(messages_, "; "));
  }

 private:
  std::vector<std::string> messages_;
};

void CheckGraph(const Graph& graph, absl::string_view what, const Tensor& tensor,
                Violations& violations) {
  if (tensor.valid() && tensor.graph() != &graph) {
    violations.Add(what, " ('", tensor.name(),
                   "') must be from the graph that model_fn was called in");
  }
}

void CheckLoss(const Graph& graph, ModelSpec& spec, Violations& violations) {
  if (!spec.loss.valid()) {
    violations.Add("Missing loss.");
    return;
  }
  CheckGraph(graph, "loss", spec.loss, violations);
  if (!IsFloating(spec.loss.dtype())) {
    violations.Add("Loss must be a floating scalar, given ", spec.loss.spec().ToString());
  } else if (spec.loss.shape().num_elements() != 1) {
    violations.Add("Loss must be scalar, given ", spec.loss.spec().ToString(),
                   "; reduce it over the batch (ReduceMean, or a function of estimator::losses)");
  } else if (spec.loss.rank() > 0) {
    // TensorFlow also accepts a loss of shape [1]; the loops read a scalar.
    spec.loss = Reshape(spec.loss, Shape{});
  }
}

void CheckMetric(const std::string& name, const Metric& metric, Violations& violations) {
  if (name == "loss" || name == "global_step") {
    violations.Add("a metric may not be called '", name, "': evaluation adds that one itself");
  }
  if (!metric.value.valid() || !metric.update.valid()) {
    violations.Add(
        "metric '", name, "' has no ", metric.value.valid() ? "update" : "value",
        "; a metric is a (value, update) pair as metrics::Mean returns it, not a tensor");
  } else if (const Node* input = FindPlaceholder(metric.value); input != nullptr) {
    // The value is computed after the last batch, when there is no input.
    violations.Add("the value of metric '", name, "' (", metric.value.spec().ToString(), " '",
                   metric.value.name(), "') is one of a batch: it is computed from '",
                   input->name(), "'; ", kMetricCure);
  }
}

// Moves the metrics of the host out of eval_metric_ops, whose metrics have values in the graph.
void MoveHostMetrics(const Graph& graph, ModelSpec& spec, Violations& violations) {
  for (auto it = spec.eval_metric_ops.begin(); it != spec.eval_metric_ops.end();) {
    const auto metric = it++;
    if (metric->second.host == nullptr) continue;
    if (metric->first == "loss" || metric->first == "global_step") {
      violations.Add("a metric may not be called '", metric->first,
                     "': evaluation adds that one itself");
    }
    for (const Tensor& tensor : metric->second.host->tensors)
      CheckGraph(graph, absl::StrCat("metric '", metric->first, "'"), tensor, violations);
    spec.host_metrics.insert(spec.eval_metric_ops.extract(metric));
  }
}

template <typename Result, typename Value>
void CheckFunction(absl::string_view name, const HostFunction<Result, Value>& function,
                   Violations& violations) {
  if (!function.status.ok()) {
    violations.Add(name, ": ", function.status.message());
  } else if (!function.fn) {
    violations.Add(name, " has no function");
  }
}

void CheckMetrics(const Graph& graph, const ModelSpec& spec, Violations& violations) {
  for (const auto& [name, metric] : spec.eval_metric_ops) CheckMetric(name, metric, violations);
  if (spec.eval_metrics.has_value()) {
    CheckFunction("eval_metrics", *spec.eval_metrics, violations);
    for (size_t i = 0; i < spec.eval_metrics->tensors.size(); ++i) {
      const Tensor& tensor = spec.eval_metrics->tensors[i];
      if (!tensor.valid()) {
        violations.Add("tensor ", i, " of eval_metrics is not a tensor");
      } else if (tensor.rank() == 0) {
        violations.Add(
            "tensor ", i, " of eval_metrics ('", tensor.name(), "', ", tensor.spec().ToString(),
            ") is a scalar; it must keep the batch axis, on which batches and replicas are "
            "joined: ",
            kMetricCure);
      }
      CheckGraph(graph, "a tensor of eval_metrics", tensor, violations);
    }
  }
}

}  // namespace

absl::Status ValidateTrainMetrics(const Graph& graph, const ModelSpec& spec) {
  Violations violations;
  CheckMetrics(graph, spec, violations);
  return violations.ToStatus(spec.mode);
}

absl::Status ValidateModelSpec(const Graph& graph, ModelSpec& spec) {
  Violations violations;
  MoveHostMetrics(graph, spec, violations);
  if (spec.mode != Mode::kPredict) CheckLoss(graph, spec, violations);
  if (spec.mode == Mode::kTrain && !spec.train_op.valid()) violations.Add("Missing train_op.");
  if (spec.mode == Mode::kPredict) {
    // Before ResolveExportOutputs, which takes the outputs.
    for (const auto& [key, output] : spec.export_outputs) {
      for (const auto& [name, tensor] : output.outputs())
        CheckGraph(graph, absl::StrCat("export_outputs['", key, "']"), tensor, violations);
    }
    if (spec.predictions.empty()) violations.Add("Missing predictions.");
    for (const auto& [name, tensor] : spec.predictions) {
      if (!tensor.valid()) violations.Add("prediction '", name, "' is not a tensor");
      CheckGraph(graph, absl::StrCat("prediction '", name, "'"), tensor, violations);
    }
    // Without predictions there is no default output; that violation is already in the list.
    absl::StatusOr<ExportOutputs> outputs =
        ResolveExportOutputs(std::move(spec.export_outputs), spec.predictions);
    if (!outputs.ok() && !spec.predictions.empty()) violations.Add(outputs.status().message());
    if (outputs.ok()) spec.export_outputs = *std::move(outputs);
  }
  if (spec.mode == Mode::kEval) CheckMetrics(graph, spec, violations);
  if (spec.host_call.has_value()) {
    CheckFunction("host_call", *spec.host_call, violations);
    for (const Tensor& tensor : spec.host_call->tensors) {
      if (!tensor.valid()) {
        violations.Add("a tensor of host_call is not a tensor");
      } else if (tensor.rank() == 0) {
        violations.Add(
            "tensor '", tensor.name(),
            "' of host_call is a scalar; reshape it to [1]: replicas are joined on axis 0");
      }
      CheckGraph(graph, "a tensor of host_call", tensor, violations);
    }
  }
  // The Reshape of the loss may have failed.
  if (!graph.status().ok()) return graph.status();
  return violations.ToStatus(spec.mode);
}

}  // namespace estimator
