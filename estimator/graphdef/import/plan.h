// What an import has to build, in which order, and what prevents it.
#ifndef ESTIMATOR_GRAPHDEF_IMPORT_PLAN_H_
#define ESTIMATOR_GRAPHDEF_IMPORT_PLAN_H_

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "estimator/graphdef/import/branches.h"
#include "estimator/graphdef/import/branches/branch_bodies.h"
#include "estimator/graphdef/import/import_source.h"
#include "estimator/graphdef/import/rows/branch_rows.h"
#include "estimator/graphdef/import/rows/where_rows.h"
#include "estimator/graphdef/import/unique_rows.h"
#include "estimator/graphdef/import/variable_order.h"

namespace estimator {

struct ImportPlan {
  std::vector<TrainGraphObstacle> obstacles;  // if there are any, the rest is incomplete
  std::optional<VariableOrder> order;
  std::optional<Branches> branches;
  UniqueRows unique_rows;
  WhereRows where_rows;
  BranchRows branch_rows;
  BranchBodies bodies;
  std::vector<bool> needed;              // nodes whose values are needed, by number
  std::vector<bool> essential;           // of these, the ones that not only summaries need
  std::vector<int> writes;               // the nodes that change variables
  std::vector<SourceSummary> summaries;  // those that can be imported
  std::vector<std::string> warnings;

  bool Needs(int node) const { return needed[static_cast<size_t>(node)]; }
};

struct PlanOptions {
  bool training = true;             // with train_op and summaries
  bool with_metrics = false;        // with the values and updates of the metrics
  bool average_gradients = false;   // over replicas
  std::vector<FlatTensor> fetches;  // the loss, if it is wanted, and others
  // Only the values of the fetches: control inputs are dropped, updates are refused, and nodes that
  // parse Examples are kept. REQUIRES: neither training nor with_metrics.
  bool values_only = false;
  // Nodes that sizes of the batch prevent, with the reasons. Summaries that need one are left out.
  std::map<int, std::string> unbuildable = {};
};

// REQUIRES: what the options need is resolved.
// Errors: INVALID_ARGUMENT if a node depends on itself.
absl::StatusOr<ImportPlan> MakeImportPlan(const ImportSource& source, const PlanOptions& options);

// The tensors that the needed nodes, the fetches and the summaries read.
std::set<FlatTensor> UsedTensors(const ImportSource& source, const ImportPlan& plan,
                                 const std::vector<FlatTensor>& fetches);

}  // namespace estimator

#endif  // ESTIMATOR_GRAPHDEF_IMPORT_PLAN_H_
