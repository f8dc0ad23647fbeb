#include "estimator/training/loop/train_metrics.h"

#include <limits>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/graph/needed_nodes.h"
#include "estimator/runtime/variable_store.h"
#include "estimator/training/model/model_spec.h"

namespace estimator {
namespace {

// Names of the arrays in a checkpoint. On disk: do not change.
constexpr char kLossSum[] = "loss_sum", kLossWeight[] = "loss_weight";
constexpr absl::string_view kHostTotal = "host_total/", kGraphTotal = "graph_total/";

// The local variables that the values of metrics are computed from.
std::vector<std::string> TotalsOf(const Graph& graph, const MetricMap& metrics) {
  std::vector<Tensor> values;
  for (const auto& [name, metric] : metrics) values.push_back(metric.value);
  const std::vector<const Node*> needed = NeededNodes(graph, values);
  const std::set<const Node*> nodes(needed.begin(), needed.end());
  std::vector<std::string> totals;
  for (const Variable& variable : graph.variables()) {
    if (variable.local() && nodes.count(variable.node()) > 0) totals.push_back(variable.name());
  }
  return totals;
}

// The totals in `state` under `prefix`. Errors: INVALID_ARGUMENT if they are not those of `like`.
absl::StatusOr<MetricValues> TakeTotals(const ArrayMap& state, absl::string_view prefix,
                                        const MetricValues& like) {
  MetricValues totals;
  for (const auto& [name, value] : state) {
    if (!absl::StartsWith(name, std::string(prefix))) continue;
    const std::string total = name.substr(prefix.size());
    const auto found = like.find(total);
    if (found == like.end() || found->second.dtype() != value.dtype() ||
        found->second.shape() != value.shape())
      return InvalidArgument("the checkpoint has a total '", total, "' (", value.TypeString(),
                             ") that the metrics do not have");
    totals[total] = value;
  }
  if (totals.size() != like.size()) {
    return InvalidArgument("the metrics have ", like.size(), " totals, the checkpoint has ",
                           totals.size());
  }
  return totals;
}

}  // namespace

void AddScalars(const MetricValues& values, const std::string& prefix, Logs& logs) {
  for (const auto& [name, value] : values) {
    if (name == "global_step" || value.num_elements() != 1 || value.dtype() == DType::kString)
      continue;
    logs[absl::StrCat(prefix, name)] = value.AsDouble();
  }
}

absl::StatusOr<std::unique_ptr<TrainMetrics>> TrainMetrics::Create(const BuiltModel& model,
                                                                   Backend& backend,
                                                                   int64_t num_parts) {
  EST_RETURN_IF_ERROR(ValidateTrainMetrics(*model.graph, model.spec));
  std::unique_ptr<TrainMetrics> metrics(new TrainMetrics(model, backend));
  // The replicas share the totals, and only the updates of replica 0 take effect.
  if (!model.spec.eval_metric_ops.empty() && model.num_replicas > 1) {
    return InvalidArgument("the metric '", model.spec.eval_metric_ops.begin()->first,
                           "' is one of eval_metric_ops, which see the rows of one replica only, "
                           "but a step of training has those of ",
                           model.num_replicas,
                           " (replicas, or batches of accumulate_steps); return eval_metrics, as "
                           "a TPUEstimatorSpec has them, also with use_tpu = false");
  }
  if (model.spec.eval_metrics.has_value()) {
    metrics->host_ = std::make_unique<MetricAccumulator>(model.spec.eval_metrics->fn);
    std::vector<TensorSpec> specs;
    for (const Tensor& tensor : model.spec.eval_metrics->tensors) {
      specs.push_back(tensor.spec());
      specs.back().shape.set_dim(0, num_parts * tensor.dim(0));
    }
    // The function is called before the first step, so that its errors come early.
    EST_RETURN_IF_ERROR(metrics->host_->Prepare(specs));
    EST_ASSIGN_OR_RETURN(metrics->host_initial_, metrics->host_->Totals());
  }
  return metrics;
}

absl::Status TrainMetrics::RememberInitialTotals() {
  for (const std::string& name : TotalsOf(*model_.graph, model_.spec.eval_metric_ops)) {
    EST_ASSIGN_OR_RETURN(graph_initial_[name], backend_.variables().Get(name));
  }
  return absl::OkStatus();
}

std::vector<Tensor> TrainMetrics::TensorsOf(const ModelSpec& spec) {
  return spec.eval_metrics.has_value() ? spec.eval_metrics->tensors : std::vector<Tensor>();
}

std::vector<Operation> TrainMetrics::UpdatesOf(const ModelSpec& spec) {
  std::vector<Operation> updates;
  for (const auto& [name, metric] : spec.eval_metric_ops) updates.push_back(metric.update);
  return updates;
}

absl::Status TrainMetrics::AddStep(const std::vector<Array>& values, int64_t examples) {
  const double weight = examples > 0 ? static_cast<double>(examples) : 1;
  loss_sum_ += weight * values[0].AsDouble();
  loss_weight_ += weight;
  if (host_ == nullptr) return absl::OkStatus();
  return host_->Update(std::vector<Array>(values.begin() + 1, values.end()));
}

absl::StatusOr<Logs> TrainMetrics::Values() {
  Logs logs;
  if (host_ != nullptr) {
    EST_ASSIGN_OR_RETURN(const MetricValues values, host_->Values());
    AddScalars(values, "", logs);
  }
  if (!model_.spec.eval_metric_ops.empty()) {
    MetricValues values;
    if (graph_values_ == nullptr) {
      ProgramSpec program;
      for (const auto& [name, metric] : model_.spec.eval_metric_ops)
        program.fetches.push_back(metric.value);
      EST_ASSIGN_OR_RETURN(graph_values_, backend_.Compile(*model_.graph, program));
    }
    const auto take = [&](int64_t, const StepFetches& fetched) {
      size_t i = 0;
      for (const auto& [name, metric] : model_.spec.eval_metric_ops)
        values[name] = fetched[0][i++].Clone();
      return absl::OkStatus();
    };
    EST_RETURN_IF_ERROR(graph_values_->RunLoop(1, SameFeeds(StepFeeds(1)), take).status());
    AddScalars(values, "", logs);
  }
  logs["loss"] =
      loss_weight_ > 0 ? loss_sum_ / loss_weight_ : std::numeric_limits<double>::quiet_NaN();
  return logs;
}

absl::Status TrainMetrics::Reset() {
  loss_sum_ = loss_weight_ = 0;
  if (host_ != nullptr) EST_RETURN_IF_ERROR(host_->SetTotals(host_initial_));
  for (const auto& [name, value] : graph_initial_)
    EST_RETURN_IF_ERROR(backend_.variables().Set(name, value));
  return absl::OkStatus();
}

absl::Status TrainMetrics::Save(ArrayMap& state) const {
  state[kLossSum] = Array::Scalar(loss_sum_);
  state[kLossWeight] = Array::Scalar(loss_weight_);
  if (host_ != nullptr) {
    EST_ASSIGN_OR_RETURN(const MetricValues totals, host_->Totals());
    for (const auto& [name, value] : totals) state[absl::StrCat(kHostTotal, name)] = value;
  }
  for (const auto& [name, value] : graph_initial_) {
    EST_ASSIGN_OR_RETURN(state[absl::StrCat(kGraphTotal, name)], backend_.variables().Get(name));
  }
  return absl::OkStatus();
}

absl::Status TrainMetrics::Restore(const ArrayMap& state) {
  EST_ASSIGN_OR_RETURN(const MetricValues host, TakeTotals(state, kHostTotal, host_initial_));
  EST_ASSIGN_OR_RETURN(const MetricValues graph, TakeTotals(state, kGraphTotal, graph_initial_));
  EST_ASSIGN_OR_RETURN(const Array sum, state.Get(kLossSum));
  EST_ASSIGN_OR_RETURN(const Array weight, state.Get(kLossWeight));
  loss_sum_ = sum.AsDouble();
  loss_weight_ = weight.AsDouble();
  if (host_ != nullptr) EST_RETURN_IF_ERROR(host_->SetTotals(host));
  for (const auto& [name, value] : graph)
    EST_RETURN_IF_ERROR(backend_.variables().Set(name, value));
  return absl::OkStatus();
}

}  // namespace estimator
