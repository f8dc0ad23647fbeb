// AssignmentMap: which variable begins at which value of a checkpoint, by name or by scope.
#ifndef ESTIMATOR_TRAINING_WARM_START_ASSIGNMENT_MAP_H_
#define ESTIMATOR_TRAINING_WARM_START_ASSIGNMENT_MAP_H_

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/checkpoint/restore.h"
#include "estimator/graph/graph.h"

namespace estimator::train {

// A variable's name, a scope ("bert/", or "/" for all), or a variable.
class AssignmentTarget {
 public:
  AssignmentTarget(const char* name) : name_(name) {}             // NOLINT
  AssignmentTarget(std::string name) : name_(std::move(name)) {}  // NOLINT
  AssignmentTarget(const Variable& variable)
      : name_(variable.name()), variable_(variable) {}  // NOLINT

  const std::string& name() const { return name_; }
  bool is_variable() const { return variable_.valid(); }
  const Variable& variable() const { return variable_; }

 private:
  std::string name_;
  Variable variable_;
};

// What is in the checkpoint -> what is here, in TensorFlow's syntax:
//   {"old/w", "new/w"}    one variable, by name
//   {"old/w", variable}   one variable
//   {"old/", "new/"}      all variables of scope new/, from those of the same rest of the name
//   {"/", "new/"}         the same, from names without a scope there; {"/", "/"}: all variables
// One value may serve several variables.
using AssignmentMap = std::vector<std::pair<std::string, AssignmentTarget>>;

// Errors: INVALID_ARGUMENT listing every entry that names no variable or scope of the graph, with
// the nearest names, or that maps a scope to a variable.
absl::StatusOr<std::vector<WantedVariable>> ResolveAssignmentMap(const Graph& graph,
                                                                 const AssignmentMap& map);

struct AssignmentMapFromCheckpoint {
  AssignmentMap assignment_map;
  std::set<std::string> initialized_variable_names;  // each as "w" and as "w:0"
};

// The variables that the checkpoint has by name, and their map onto themselves: what BERT and the
// programs after it compute before InitFromCheckpoint. A graph's error, not a status, if the
// checkpoint cannot be read: model code goes on. Source: google-research/bert
// modeling.get_assignment_map_from_checkpoint.
AssignmentMapFromCheckpoint GetAssignmentMapFromCheckpoint(const std::vector<Variable>& variables,
                                                           absl::string_view ckpt_dir_or_file);

}  // namespace estimator::train

#endif  // ESTIMATOR_TRAINING_WARM_START_ASSIGNMENT_MAP_H_
