// Builds an imported training graph after its plan: variables, nodes, updates and summaries.
#ifndef ESTIMATOR_GRAPHDEF_IMPORT_TRAIN_IMPORTER_H_
#define ESTIMATOR_GRAPHDEF_IMPORT_TRAIN_IMPORTER_H_

#include <map>
#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "estimator/graph/graph.h"
#include "estimator/graphdef/import/import_source.h"
#include "estimator/graphdef/import/plan.h"
#include "estimator/graphdef/import_train_graph.h"

namespace estimator {

inline constexpr char kImporter[] = "the training graph has";  // begins errors of obstacles

// Adds what the plan needs to `graph`. REQUIRES: the plan has no obstacles.
//   leave_out: nodes that are not built, and neither is what reads them. The result then only tells
//     whether the others can be built.
//   failed_node: if not null, receives the node that ended the build; -1 for another error or none.
// Errors: as TrainGraph::Import.
absl::StatusOr<ImportedTrainGraph> BuildTrainGraph(
    const ImportSource& source, const ImportPlan& plan, const ImportTrainGraphOptions& options,
    const std::map<std::string, FlatTensor>& fetches, Graph& graph,
    const std::set<int>& leave_out = {}, int* failed_node = nullptr);

}  // namespace estimator

#endif  // ESTIMATOR_GRAPHDEF_IMPORT_TRAIN_IMPORTER_H_
