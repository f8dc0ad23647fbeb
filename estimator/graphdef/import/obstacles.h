// Everything that prevents an import, in one table.
#ifndef ESTIMATOR_GRAPHDEF_IMPORT_OBSTACLES_H_
#define ESTIMATOR_GRAPHDEF_IMPORT_OBSTACLES_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "estimator/graphdef/import/flat_graph.h"
#include "estimator/graphdef/import_train_graph.h"

namespace estimator {

// Counts nodes with the same op and the same reason together.
class Obstacles {
 public:
  void Add(const FlatNode& node, std::string reason);
  bool empty() const { return entries_.empty(); }
  std::vector<TrainGraphObstacle> list() const;  // sorted by op and reason

 private:
  std::map<std::pair<std::string, std::string>, TrainGraphObstacle> entries_;
};

// OK if there are none, else UNIMPLEMENTED with their table: "<who> 3 nodes that cannot be
// imported<cure>:".
absl::Status ObstacleError(const std::vector<TrainGraphObstacle>& obstacles, absl::string_view who,
                           absl::string_view cure);

}  // namespace estimator

#endif  // ESTIMATOR_GRAPHDEF_IMPORT_OBSTACLES_H_
