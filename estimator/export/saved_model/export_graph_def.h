// ExportGraphDef: a model's graph as TensorFlow's GraphDef, ready to be written. It takes any batch
// size if the model allows that, it parses Examples, and its signatures are protos.
#ifndef ESTIMATOR_EXPORT_SAVED_MODEL_EXPORT_GRAPH_DEF_H_
#define ESTIMATOR_EXPORT_SAVED_MODEL_EXPORT_GRAPH_DEF_H_

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
  ExportGraph built;  // the graph that `graph_def` was made from
  proto::GraphDef graph_def;
  std::map<std::string, proto::SignatureDef> signature_defs;
  // As in BatchModel.
  std::vector<std::string> obstacles;
  std::vector<RefusedBatch> refused;
};

// Finds a form of the model that takes any batch size (see FindBatchModel) and converts it.
// Errors: as FindBatchModel.
absl::StatusOr<ExportGraphDef> MakeExportGraphDef(const ExportGraphFn& build,
                                                  const BatchSearchOptions& options = {});

// Removes all nodes that the nodes named in `keep` do not need. The others are put into the order
// in which a walk from `keep` finds them.
void PruneGraphDef(const std::vector<std::string>& keep, proto::GraphDef* graph);

}  // namespace estimator

#endif  // ESTIMATOR_EXPORT_SAVED_MODEL_EXPORT_GRAPH_DEF_H_
