// GatheredMetrics: computes metrics::OnHost from the values of all batches of an evaluation.
#ifndef ESTIMATOR_TRAINING_METRICS_GATHERED_METRICS_H_
#define ESTIMATOR_TRAINING_METRICS_GATHERED_METRICS_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "estimator/array/array.h"
#include "estimator/nn/metrics/metric.h"

namespace estimator {

// Keeps every value in memory until Reset. Not thread-safe.
class GatheredMetrics {
 public:
  // The tensors of metrics of the host, in the order of the names.
  static std::vector<Tensor> TensorsOf(const metrics::MetricMap& host_metrics);

  void Reset() { batches_.clear(); }
  // Keeps copies of the values of TensorsOf for one batch, with the replicas joined.
  void Add(absl::Span<const Array> values);
  // Computes the metrics and adds them to `values`.
  // Errors: those of the functions, with the metric's name; INVALID_ARGUMENT if the batches of a
  // tensor differ in another axis than axis 0.
  absl::Status Compute(const metrics::MetricMap& host_metrics,
                       std::map<std::string, Array>& values) const;

 private:
  std::vector<std::vector<Array>> batches_;
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_METRICS_GATHERED_METRICS_H_
