// What an import of a training graph has to build, in which order, and what prevents it.
#ifndef ESTIMATOR_GRAPHDEF_TRAIN_PLAN_H_
#define ESTIMATOR_GRAPHDEF_TRAIN_PLAN_H_

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/graphdef/train/branches.h"
#include "estimator/graphdef/train/order.h"
#include "estimator/graphdef/train/source.h"
#include "estimator/graphdef/train/unique_rows.h"

namespace estimator {

class TrainObstacles {
 public:
  void Add(const TrainNodes& nodes, int node, std::string reason);
  bool empty() const { return entries_.empty(); }
  std::vector<TrainGraphObstacle> list() const;  // sorted by op and reason

 private:
  std::map<std::pair<std::string, std::string>, TrainGraphObstacle> entries_;
};

struct TrainPlan {
  std::vector<TrainGraphObstacle> obstacles;  // if there are any, the rest is incomplete
  std::optional<TrainOrder> order;
  std::optional<TrainBranches> branches;
  UniqueRows unique_rows;
  std::vector<bool> needed;              // nodes whose values are needed, by number
  std::vector<int> writes;               // the nodes that change variables
  std::vector<SourceSummary> summaries;  // those that can be imported
  std::vector<std::string> warnings;
};

struct PlanOptions {
  bool training = true;             // with train_op and summaries
  bool with_metrics = false;        // with the values and updates of the metrics
  std::vector<FlatTensor> fetches;  // the loss, if it is wanted, and others
};

// Errors: INVALID_ARGUMENT if a node depends on itself.
absl::StatusOr<TrainPlan> MakeTrainPlan(const TrainSource& source, const PlanOptions& options);

// UNIMPLEMENTED with the table of the obstacles; OK if there are none.
absl::Status ObstacleError(const std::vector<TrainGraphObstacle>& obstacles);

// The tensors that the needed nodes, the fetches and the summaries read.
std::set<FlatTensor> UsedTensors(const TrainSource& source, const TrainPlan& plan,
                                 const std::vector<FlatTensor>& fetches);

}  // namespace estimator

#endif  // ESTIMATOR_GRAPHDEF_TRAIN_PLAN_H_
