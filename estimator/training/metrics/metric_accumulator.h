// MetricAccumulator: computes eval_metrics on the host, from the replicas' concatenated tensors.
#ifndef ESTIMATOR_TRAINING_METRICS_METRIC_ACCUMULATOR_H_
#define ESTIMATOR_TRAINING_METRICS_METRIC_ACCUMULATOR_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/graph/graph.h"
#include "estimator/nn/metrics/metric.h"
#include "estimator/runtime/backend.h"
#include "estimator/runtime/variable_store.h"
#include "estimator/training/metrics/gathered_metrics.h"

namespace estimator {

using metrics::Metric;
using metrics::MetricMap;

// The values of metrics after the last update, by name.
using MetricValues = std::map<std::string, Array>;

// Fetches every metric's value once. The local variables of `graph` are in the backend's store.
absl::StatusOr<MetricValues> FetchMetricValues(Backend& backend, const Graph& graph,
                                               const MetricMap& metrics);

// Has one host program for each batch size. All of them share the totals. Not thread-safe.
class MetricAccumulator {
 public:
  // gather_host_metrics: keeps the tensors of metrics::OnHost, which HostValues then computes. An
  // epoch of training does not, since it would have to keep all of its examples.
  explicit MetricAccumulator(std::function<MetricMap(const std::vector<Tensor>&)> fn,
                             bool gather_host_metrics = false);
  ~MetricAccumulator();

  // Sets all totals to their initial values.
  absl::Status Reset();
  // Builds the metrics for tensors of these specs, so that their errors are reported before a batch
  // is computed. Errors: those of building the metrics.
  absl::Status Prepare(const std::vector<TensorSpec>& specs);
  //   values: one array for each tensor of eval_metrics, with the batch on axis 0.
  // Errors: those of building the metrics, the first time a shape is seen; of their kernels.
  absl::Status Update(const std::vector<Array>& values);
  absl::StatusOr<MetricValues> Values();
  // Copies of all totals by name, and back: those of a training are saved with its checkpoints.
  // Errors of SetTotals: INVALID_ARGUMENT if a total has another shape or dtype.
  absl::StatusOr<MetricValues> Totals() const;
  absl::Status SetTotals(const MetricValues& totals);
  // Adds the metrics of the host to `values`, and forgets what was gathered for them.
  // Errors: GatheredMetrics::Compute.
  absl::Status HostValues(MetricValues& values);

 private:
  struct HostProgram;
  absl::StatusOr<HostProgram*> ProgramFor(const std::vector<TensorSpec>& specs);

  const std::function<MetricMap(const std::vector<Tensor>&)> fn_;
  const bool gather_host_metrics_;
  GatheredMetrics gathered_;
  VariableStore totals_;
  std::unique_ptr<Backend> backend_;
  std::vector<std::unique_ptr<HostProgram>> programs_;
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_METRICS_METRIC_ACCUMULATOR_H_
