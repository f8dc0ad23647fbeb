// Finds a form of a model that takes any batch size, or the reasons why there is none.
//
// First the model is built for three sizes, which AnalyzeBatch compares. Then the result is checked
// against the model built for further sizes, up to 65537. Graphs are only built, not run, so this
// costs little. For every size that was tried, the result is then known to be the graph that the
// model builds.
//
// Not detected: a model that differs at a size that was not tried (above the largest, or one that
// it names, such as if (batch == 77)), and at 1, where sizes broadcast and ops build other nodes
// for the same values.
//
// A model may refuse sizes, for example because it needs a multiple of 4. Then multiples of 8, 120
// and 1280 are tried.
#ifndef ESTIMATOR_EXPORT_ANY_BATCH_BATCH_SEARCH_H_
#define ESTIMATOR_EXPORT_ANY_BATCH_BATCH_SEARCH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "estimator/export/any_batch/batch_analysis.h"
#include "estimator/export/signature/export_graph.h"

namespace estimator {

struct BatchSearchOptions {
  // The batch size of the exported graph if the model is tied to one size.
  int64_t static_batch_size = 1;
  // true: compare only nodes that the signatures and the variables' initial values need. false:
  // compare the whole graph.
  bool prune = true;
  // Sizes at which a constant would be larger than this are not tried.
  int64_t max_constant_bytes = int64_t{64} << 20;
};

struct RefusedBatch {
  int64_t batch_size = 0;
  std::string error;  // the model's message
};

struct BatchModel {
  ExportGraph built;
  int64_t batch_size = 0;  // that `built` was built for
  BatchAnalysis analysis;  // empty for a model that is tied to `batch_size`
  // The reasons why the model is tied to options.static_batch_size. Empty if it takes any batch
  // size, or if its receiver has a default_batch_size.
  std::vector<std::string> obstacles;
  // Sizes that the model refused to build. TensorFlow runs the exported graph at these sizes too.
  std::vector<RefusedBatch> refused;
};

// Finds the form of the model that `build` builds. Calls `build` about eight times.
// Errors: the error of `build` if it fails for all sizes, including options.static_batch_size. The
// message says how to set a size.
absl::StatusOr<BatchModel> FindBatchModel(const ExportGraphFn& build,
                                          const BatchSearchOptions& options = {});

// Returns the tensors that an exported graph must compute: inputs and outputs of its signatures,
// its variables with their initial values, and its train_op.
std::vector<BatchRoot> ExportRoots(const ExportGraph& built);

}  // namespace estimator

#endif  // ESTIMATOR_EXPORT_ANY_BATCH_BATCH_SEARCH_H_
