// Scaffold: the parts of a run that a model can replace.
#ifndef ESTIMATOR_TRAINING_MODEL_SCAFFOLD_H_
#define ESTIMATOR_TRAINING_MODEL_SCAFFOLD_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "estimator/graph/variable.h"

namespace estimator {

class VariableStore;

struct Scaffold {
  // Called after the variables have their first values, including those of InitFromCheckpoint and
  // warm_start_from. Not called after a restore.
  std::function<absl::Status(VariableStore&)> init_fn = nullptr;
  // Variable name -> name in the checkpoint, for variables that are restored under another name.
  // {"w", "w/ExponentialMovingAverage"} restores the average instead of the weight.
  std::map<std::string, std::string> restore_names = {};
  // Python's regular expressions that match the whole names of variables which may be missing
  // in a checkpoint. Such a variable starts at its first value, from InitFromCheckpoint or else
  // from its initializer, and the log names it. Empty: every variable must be there.
  // A variable that is there must have the right shape and dtype in any case.
  std::vector<std::string> partial_restore = {};
};

// Scaffold::restore_names for what tf.train.Saver(var_list) restores:
//   scaffold.restore_names = RestoreNames(ema.VariablesToRestore());
std::map<std::string, std::string> RestoreNames(
    const std::map<std::string, Variable>& variables_to_restore);

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_MODEL_SCAFFOLD_H_
