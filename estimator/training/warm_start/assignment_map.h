// AssignmentMap: which variable starts at which value of a checkpoint, by name or by scope.
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

// Pairs of a name in the checkpoint and a variable of this model, in TensorFlow's syntax:
//   {"old/w", "new/w"}    the variable new/w starts at the value old/w
//   {"old/w", variable}   `variable` starts at the value old/w
//   {"old/", "new/"}      each variable new/NAME starts at the value old/NAME
//   {"/", "new/"}         each variable new/NAME starts at the value NAME
//   {"/", "/"}            each variable starts at the value of its own name
// Several variables may start at one value. Scopes do not include global_step.
using AssignmentMap = std::vector<std::pair<std::string, AssignmentTarget>>;

// Finds the variables of the map's entries.
// Errors: INVALID_ARGUMENT listing every entry that maps a scope to a variable, whose variable is
// global_step, or whose variable or scope the graph does not have. The message suggests the nearest
// names.
absl::StatusOr<std::vector<WantedVariable>> ResolveAssignmentMap(const Graph& graph,
                                                                 const AssignmentMap& map);

struct AssignmentMapFromCheckpoint {
  AssignmentMap assignment_map;
  std::set<std::string> initialized_variable_names;  // each as "w" and as "w:0"
};

// Returns a map from name to the same name for those variables whose name the checkpoint has. BERT
// and programs derived from it call this before InitFromCheckpoint.
//   variables: Graph::ModelVariables(). TensorFlow's programs take the trainable ones, and so lose
//     the moving averages of batch normalization.
// Errors (kept by the graph, so that model code needs no error handling): those of the checkpoint.
// Source: google-research/bert modeling.get_assignment_map_from_checkpoint.
AssignmentMapFromCheckpoint GetAssignmentMapFromCheckpoint(const std::vector<Variable>& variables,
                                                           absl::string_view ckpt_dir_or_file);

}  // namespace estimator::train

#endif  // ESTIMATOR_TRAINING_WARM_START_ASSIGNMENT_MAP_H_
