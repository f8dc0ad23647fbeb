#include "estimator/training/metrics/metric_accumulator.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/graph/placeholder_dependency.h"
#include "estimator/ops/constant.h"
#include "estimator/runtime/cpu_backend.h"
#include "estimator/runtime/evaluate.h"
#include "estimator/runtime/initialize_variables.h"

namespace estimator {
namespace {

constexpr size_t kMaxPrograms = 64;  // for batches of many shapes

}  // namespace

absl::StatusOr<MetricValues> FetchMetricValues(Backend& backend, const Graph& graph,
                                               const MetricMap& metrics) {
  std::vector<Tensor> fetches;
  for (const auto& [name, metric] : metrics) fetches.push_back(metric.value);
  if (fetches.empty()) return MetricValues();
  // Nothing is fed: a value is that of all batches, and the last one is over.
  absl::StatusOr<std::vector<Array>> fetched =
      RunOnce(backend, graph, {.feeds = {}, .fetches = fetches, .updates = {}});
  if (!fetched.ok()) {
    return Annotate(fetched.status(),
                    "a metric's value may depend on its own totals only, and not on the batch");
  }
  MetricValues values;
  size_t i = 0;
  for (const auto& [name, metric] : metrics) values[name] = std::move((*fetched)[i++]);
  return values;
}

struct MetricAccumulator::HostProgram {
  Graph graph;
  std::vector<TensorSpec> specs;
  MetricMap metrics;
  MetricMap host_metrics;  // those of metrics::OnHost
  std::unique_ptr<Executable> update;
  std::unique_ptr<Executable> values;  // null before the first call of Values
};

MetricAccumulator::MetricAccumulator(std::function<MetricMap(const std::vector<Tensor>&)> fn,
                                     bool gather_host_metrics)
    : fn_(std::move(fn)),
      gather_host_metrics_(gather_host_metrics),
      backend_(MakeCpuBackend(totals_)) {}

MetricAccumulator::~MetricAccumulator() = default;

absl::Status MetricAccumulator::Reset() {
  gathered_.Reset();
  for (const auto& program : programs_) {
    EST_RETURN_IF_ERROR(InitializeVariables(program->graph, totals_, /*only_local=*/true));
  }
  return absl::OkStatus();
}

absl::StatusOr<MetricAccumulator::HostProgram*> MetricAccumulator::ProgramFor(
    const std::vector<TensorSpec>& specs) {
  for (const auto& program : programs_) {
    // Compiling costs more than a batch, so each shape is compiled once.
    if (program->specs == specs) return program.get();
  }
  auto program = std::make_unique<HostProgram>();
  program->specs = specs;
  const GraphScope scope(program->graph);
  std::vector<Tensor> placeholders;
  for (size_t i = 0; i < specs.size(); ++i) {
    placeholders.push_back(
        Placeholder(specs[i].dtype, specs[i].shape, absl::StrCat("eval_metrics_", i)));
  }
  program->metrics = fn_(placeholders);
  EST_RETURN_IF_ERROR(Annotate(program->graph.status(), "eval_metrics"));
  std::vector<Operation> updates;
  for (const auto& [name, metric] : program->metrics) {
    const bool on_host = metric.host != nullptr;
    if (name == "loss" || name == "global_step" ||
        (!on_host && (!metric.value.valid() || !metric.update.valid()))) {
      return InvalidArgument(
          "eval_metrics: '", name, "' ",
          name == "loss" || name == "global_step"
              ? "is a name that evaluation uses itself; choose another"
              : "is not a metric; return (value, update) pairs, as metrics::Mean "
                "does");
    }
    if (on_host) {
      for (const Tensor& tensor : metric.host->tensors) {
        if (tensor.graph() == &program->graph) continue;
        return InvalidArgument("eval_metrics: '", name, "' is computed from '", tensor.name(),
                               "', a tensor of the model; it can take the function's arguments "
                               "only: add the tensor to the list of eval_metrics");
      }
      program->host_metrics[name] = metric;
      continue;
    }
    // The value is computed after the last batch, when there is no argument to feed.
    if (const Node* input = FindPlaceholder(metric.value); input != nullptr) {
      return InvalidArgument(
          "eval_metrics: the value of '", name, "' (", metric.value.spec().ToString(),
          ") is one of a batch: it is computed from the function's argument ", input->name(),
          "; a value must be computed from the metric's own totals: return what metrics::Mean "
          "returns");
    }
    updates.push_back(metric.update);
  }
  for (const auto& [name, metric] : program->host_metrics) program->metrics.erase(name);
  std::vector<Tensor> gathered;
  if (gather_host_metrics_) gathered = GatheredMetrics::TensorsOf(program->host_metrics);
  // Totals that the program of another batch size has initialized keep their values.
  EST_RETURN_IF_ERROR(
      InitializeVariables(program->graph, totals_, /*only_local=*/programs_.empty()));
  EST_ASSIGN_OR_RETURN(program->update, backend_->Compile(program->graph, {.feeds = placeholders,
                                                                           .fetches = gathered,
                                                                           .updates = updates}));
  programs_.push_back(std::move(program));
  // The first one gives the values.
  if (programs_.size() > kMaxPrograms) programs_.erase(programs_.begin() + 1);
  return programs_.back().get();
}

absl::Status MetricAccumulator::Prepare(const std::vector<TensorSpec>& specs) {
  return ProgramFor(specs).status();
}

absl::Status MetricAccumulator::Update(const std::vector<Array>& values) {
  std::vector<TensorSpec> specs;
  for (const Array& value : values) specs.push_back({value.dtype(), value.shape()});
  EST_ASSIGN_OR_RETURN(HostProgram * program, ProgramFor(specs));
  const Outfeed gather = [&](int64_t, const StepFetches& fetched) {
    gathered_.Add(fetched[0]);
    return absl::OkStatus();
  };
  return program->update->RunLoop(1, SameFeeds(StepFeeds{values}), gather).status();
}

absl::Status MetricAccumulator::HostValues(MetricValues& values) {
  if (programs_.empty()) return absl::OkStatus();
  EST_RETURN_IF_ERROR(gathered_.Compute(programs_[0]->host_metrics, values));
  gathered_.Reset();
  return absl::OkStatus();
}

absl::StatusOr<MetricValues> MetricAccumulator::Values() {
  MetricValues values;
  if (programs_.empty()) return values;
  // All programs share the totals, so any of them gives the values.
  HostProgram& program = *programs_[0];
  std::vector<Tensor> fetches;
  for (const auto& [name, metric] : program.metrics) fetches.push_back(metric.value);
  if (fetches.empty()) return values;
  // A training asks after every epoch, so this is compiled once.
  if (program.values == nullptr) {
    EST_ASSIGN_OR_RETURN(
        program.values,
        backend_->Compile(program.graph, {.feeds = {}, .fetches = fetches, .updates = {}}));
  }
  const auto take = [&](int64_t, const StepFetches& fetched) {
    size_t i = 0;
    for (const auto& [name, metric] : program.metrics) values[name] = fetched[0][i++].Clone();
    return absl::OkStatus();
  };
  EST_RETURN_IF_ERROR(program.values->RunLoop(1, SameFeeds(StepFeeds(1)), take).status());
  return values;
}

absl::StatusOr<MetricValues> MetricAccumulator::Totals() const {
  MetricValues totals;
  for (const std::string& name : totals_.Names()) {
    EST_ASSIGN_OR_RETURN(totals[name], totals_.Get(name));
  }
  return totals;
}

absl::Status MetricAccumulator::SetTotals(const MetricValues& totals) {
  for (const auto& [name, value] : totals) EST_RETURN_IF_ERROR(totals_.Set(name, value));
  return absl::OkStatus();
}

}  // namespace estimator
