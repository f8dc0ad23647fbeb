// The graph of a model for a batch size, made of the graph for another one and of what AnalyzeBatch
// found: without the user's code that built that.
#ifndef ESTIMATOR_EXPORT_ANY_BATCH_BATCH_INSTANCE_H_
#define ESTIMATOR_EXPORT_ANY_BATCH_BATCH_INSTANCE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "estimator/export/any_batch/batch_analysis.h"
#include "estimator/graph/graph.h"

namespace estimator {

struct BatchInstance {
  std::unique_ptr<Graph> graph;
  std::map<const Node*, Node*> nodes;  // of the graph that it was made of -> its own

  // What stands for a tensor of the other graph. REQUIRES: a root needs it.
  Tensor Of(const Tensor& tensor) const;
};

// The nodes that compute `roots`, for requests of `batch_size` rows. Shapes are inferred anew. An
// analysis that found nothing makes a copy.
// Errors: INVALID_ARGUMENT if a size is no whole number at this batch size (a Reshape to groups of
// 4 rows), or if the ops refuse their shapes there.
absl::StatusOr<BatchInstance> InstantiateForBatch(const BatchAnalysis& analysis,
                                                  const std::vector<Tensor>& roots,
                                                  int64_t batch_size);

// The most bytes that a constant of the instance has.
int64_t LargestConstantBytes(const BatchAnalysis& analysis, int64_t batch_size);

}  // namespace estimator

#endif  // ESTIMATOR_EXPORT_ANY_BATCH_BATCH_INSTANCE_H_
