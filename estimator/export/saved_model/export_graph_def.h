// ExportGraphDef: a model's graph in TensorFlow's form, ready to be written: any batch size where the
// model allows it, the parsing of Examples in it, its signatures as protos.
#ifndef ESTIMATOR_EXPORT_SAVED_MODEL_EXPORT_GRAPH_DEF_H_
#define ESTIMATOR_EXPORT_SAVED_MODEL_EXPORT_GRAPH_DEF_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "estimator/export/any_batch/batch_search.h"
#include "estimator/export/signature/export_graph.h"
#include "estimator/proto/graph.pb.h"
#include "estimator/proto/meta_graph.pb.h"

namespace estimator {

struct ExportGraphDef {
  ExportGraph built;  // of the batch size that `graph_def` was made from
  proto::GraphDef graph_def;
  std::map<std::string, proto::SignatureDef> signature_defs;
  // As BatchModel's.
  std::vector<std::string> obstacles;
  std::vector<RefusedBatch> refused;
};

// Builds the model for several batch sizes, compares, and writes it down.
// Errors: as FindBatchModel.
absl::StatusOr<ExportGraphDef> MakeExportGraphDef(const ExportGraphFn& build,
                                                  const BatchSearchOptions& options = {});

// The same GraphDef, its nodes in the order of `keep`'s walk: only those that `keep` (node names)
// need.
void PruneGraphDef(const std::vector<std::string>& keep, proto::GraphDef* graph);

}  // namespace estimator

#endif  // ESTIMATOR_EXPORT_SAVED_MODEL_EXPORT_GRAPH_DEF_H_
