// Makes the graph of a model for a batch size from the graph for another size and the result of
// AnalyzeBatch. It does not call the user's code.
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
  std::map<const Node*, Node*> nodes;  // node of the original graph -> node of `graph`

  // Returns the counterpart of a tensor of the original graph. REQUIRES: a root needs the tensor.
  Tensor Of(const Tensor& tensor) const;
};

// Makes the nodes that compute `roots`, for requests of `batch_size` rows. All shapes are inferred
// again. If nothing in `analysis` depends on the batch, the result is a copy.
// Errors: INVALID_ARGUMENT if a size is not an integer at this batch size (for example in a Reshape
// to groups of 4 rows), or if an op does not accept its shapes.
absl::StatusOr<BatchInstance> InstantiateForBatch(const BatchAnalysis& analysis,
                                                  const std::vector<Tensor>& roots,
                                                  int64_t batch_size);

// Returns the size in bytes of the instance's largest constant.
int64_t LargestConstantBytes(const BatchAnalysis& analysis, int64_t batch_size);

}  // namespace estimator

#endif  // ESTIMATOR_EXPORT_ANY_BATCH_BATCH_INSTANCE_H_
