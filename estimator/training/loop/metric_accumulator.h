// MetricAccumulator: eval_metrics on the host: metrics of the replicas' joined tensors.
#ifndef ESTIMATOR_TRAINING_LOOP_METRIC_ACCUMULATOR_H_
#define ESTIMATOR_TRAINING_LOOP_METRIC_ACCUMULATOR_H_

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

namespace estimator {

using metrics::Metric;
using metrics::MetricMap;

// The values of metrics after the last update, by name.
using MetricValues = std::map<std::string, Array>;

// Fetches every metric's value once, from a graph whose local variables are in the backend's store.
absl::StatusOr<MetricValues> FetchMetricValues(Backend& backend, const Graph& graph,
                                               const MetricMap& metrics);

// Holds one small host program for each batch size, all over the same totals. Not thread-safe.
class MetricAccumulator {
 public:
  explicit MetricAccumulator(std::function<MetricMap(const std::vector<Tensor>&)> fn);
  ~MetricAccumulator();

  // All totals back to zero.
  absl::Status Reset();
  // Builds the metrics of such tensors, so that what is wrong with them shows before a batch is
  // computed. Errors: those of building the metrics.
  absl::Status Prepare(const std::vector<TensorSpec>& specs);
  // values: one array per tensor of eval_metrics, with the batch on axis 0.
  // Errors: those of building the metrics, the first time a shape is seen; of their kernels.
  absl::Status Update(const std::vector<Array>& values);
  absl::StatusOr<MetricValues> Values();

 private:
  struct HostProgram;
  absl::StatusOr<HostProgram*> ProgramFor(const std::vector<TensorSpec>& specs);

  const std::function<MetricMap(const std::vector<Tensor>&)> fn_;
  VariableStore totals_;
  std::unique_ptr<Backend> backend_;
  std::vector<std::unique_ptr<HostProgram>> programs_;
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_LOOP_METRIC_ACCUMULATOR_H_
