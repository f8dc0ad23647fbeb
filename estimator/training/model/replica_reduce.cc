#include "estimator/training/model/replica_reduce.h"

namespace estimator {

Array ReduceReplicas(const std::vector<Array>& values) {
  const Array& first = values[0];
  if (values.size() == 1) return first;
  if (first.shape().rank() > 0) return Concatenate(values);
  if (!IsFloating(first.dtype())) return first;
  double sum = 0;
  for (const Array& value : values) sum += value.AsDouble();
  return Array::Scalar(sum / static_cast<double>(values.size())).Cast(first.dtype());
}

Array ReduceReplicasToCopy(const std::vector<Array>& values) {
  const Array value = ReduceReplicas(values);
  return value.raw() == values[0].raw() ? value.Clone() : value;
}

std::vector<Array> FetchOfReplicas(const StepFetches& fetches, size_t index, bool broadcast) {
  std::vector<Array> values;
  values.reserve(fetches.size());
  for (const std::vector<Array>& replica : fetches) {
    values.push_back(replica[index]);
    if (broadcast) break;
  }
  return values;
}

}  // namespace estimator
