#include "estimator/graphdef/import/obstacles.h"

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "estimator/proto/graph.pb.h"

namespace estimator {

void Obstacles::Add(const FlatNode& node, std::string reason) {
  const std::string& op = node.def->op();
  TrainGraphObstacle& entry = entries_[{op, reason}];
  // The first node stands for all: a loop over layers would fill the table with equal rows.
  if (entry.count == 0)
    entry = {.name = node.name, .op = op, .count = 0, .reason = std::move(reason)};
  ++entry.count;
}

std::vector<TrainGraphObstacle> Obstacles::list() const {
  std::vector<TrainGraphObstacle> all;
  for (const auto& [key, entry] : entries_) all.push_back(entry);
  return all;
}

std::string ObstacleTable(const std::vector<TrainGraphObstacle>& obstacles) {
  if (obstacles.empty()) return "";
  std::vector<std::vector<std::string>> rows = {{"op", "reason", "nodes", "first node"}};
  for (const TrainGraphObstacle& obstacle : obstacles) {
    rows.push_back({obstacle.op, obstacle.reason, absl::StrCat(obstacle.count), obstacle.name});
  }
  return FormatTable(rows);
}

absl::Status ObstacleError(const std::vector<TrainGraphObstacle>& obstacles, absl::string_view who,
                           absl::string_view cure) {
  if (obstacles.empty()) return absl::OkStatus();
  int count = 0;
  for (const TrainGraphObstacle& obstacle : obstacles) count += obstacle.count;
  return Unimplemented(who, " ", count, count == 1 ? " node" : " nodes", " that cannot be imported",
                       cure, ":\n", ObstacleTable(obstacles));
}

}  // namespace estimator
