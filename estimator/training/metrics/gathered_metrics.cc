#include "estimator/training/metrics/gathered_metrics.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"

namespace estimator {
namespace {

// Whether the arrays are equal in dtype and in all axes but axis 0.
bool SameRows(const Array& a, const Array& b) {
  Shape shape = a.shape();
  if (shape.rank() == 0 || b.shape().rank() == 0) return false;
  shape.set_dim(0, b.shape().dim(0));
  return a.dtype() == b.dtype() && shape == b.shape();
}

}  // namespace

std::vector<Tensor> GatheredMetrics::TensorsOf(const metrics::MetricMap& host_metrics) {
  std::vector<Tensor> tensors;
  for (const auto& [name, metric] : host_metrics)
    tensors.insert(tensors.end(), metric.host->tensors.begin(), metric.host->tensors.end());
  return tensors;
}

void GatheredMetrics::Add(absl::Span<const Array> values) {
  if (values.empty()) return;
  std::vector<Array>& batch = batches_.emplace_back();
  // The next batch overwrites the values.
  for (const Array& value : values) batch.push_back(value.Clone());
}

absl::Status GatheredMetrics::Compute(const metrics::MetricMap& host_metrics,
                                      std::map<std::string, Array>& values) const {
  size_t next = 0;  // tensor
  for (const auto& [name, metric] : host_metrics) {
    std::vector<Array> all;
    for (size_t i = 0; i < metric.host->tensors.size(); ++i, ++next) {
      std::vector<Array> parts;
      for (const std::vector<Array>& batch : batches_) {
        parts.push_back(batch[next]);
        if (SameRows(parts[0], batch[next])) continue;
        return InvalidArgument("metric '", name, "': tensor ", i, " is ", parts[0].TypeString(),
                               " in the first batch and ", batch[next].TypeString(),
                               " in a later one; only axis 0 may differ: pad it to one length");
      }
      if (!parts.empty()) all.push_back(Concatenate(parts));
    }
    if (all.empty()) continue;
    absl::StatusOr<metrics::HostValue> value = metric.host->fn(all);
    if (!value.ok()) return Annotate(value.status(), absl::StrCat("metric '", name, "'"));
    values[name] = std::move(value->array);
  }
  return absl::OkStatus();
}

}  // namespace estimator
