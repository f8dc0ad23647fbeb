// Finds a form of a model that takes any batch size, or what ties it to one.
//
// The model is built for three sizes, which AnalyzeBatch compares; then the result is held against
// the model as it is built for further sizes, up to tens of thousands: graphs are only built, so
// they cost little. So it is known of every size that was tried that the batch-free graph is the
// one that the model builds there. Not known: a model that does something else at a size that was
// not tried (more than the largest, or one that it names: if (batch == 77)), and at 1, where sizes
// broadcast and ops build other nodes for the same values.
//
// A model may refuse sizes (it needs a multiple of 4): then multiples of 8, 120, 1280 are tried.
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
  // The rows of a request where the model is tied to one size.
  int64_t static_batch_size = 1;
  // Only what the signatures and the variables' initial values need counts; else the whole graph.
  bool prune = true;
  // A size is not tried where a constant would be larger than this.
  int64_t max_constant_bytes = int64_t{64} << 20;
};

struct RefusedBatch {
  int64_t batch_size = 0;
  std::string error;  // in the model's words
};

struct BatchModel {
  ExportGraph built;
  int64_t batch_size = 0;  // that it was built for
  BatchAnalysis analysis;  // empty for a model that is tied to `batch_size`
  // What ties the model to options.static_batch_size; empty: it takes any batch size, or its
  // receiver itself asked for one.
  std::vector<std::string> obstacles;
  // Sizes that the model refused. The batch-free graph does not: TensorFlow runs it with any.
  std::vector<RefusedBatch> refused;
};

// Calls `build` about eight times.
// Errors: those of `build`, if it fails for all sizes, options.static_batch_size among them; the
// message says how to name a size.
absl::StatusOr<BatchModel> FindBatchModel(const ExportGraphFn& build,
                                          const BatchSearchOptions& options = {});

// What a graph is asked for: the inputs and outputs of its signatures, its variables, its train_op.
std::vector<BatchRoot> ExportRoots(const ExportGraph& built);

}  // namespace estimator

#endif  // ESTIMATOR_EXPORT_ANY_BATCH_BATCH_SEARCH_H_
