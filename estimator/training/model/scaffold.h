// Scaffold: those parts of a run that a model may replace.
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
  // Runs after the variables' first values, InitFromCheckpoint's and warm_start_from's among them,
  // on a fresh start only (not after a restore).
  std::function<absl::Status(VariableStore&)> init_fn = nullptr;
  // Names to restore from, by variable name, where they differ: {"w", "w/ExponentialMovingAverage"}
  // restores averages in place of weights. What is not listed keeps its own name.
  std::map<std::string, std::string> restore_names = {};
  // Regular expressions (Python's, over the whole name) of variables that a checkpoint may lack:
  // those begin at their first values (InitFromCheckpoint's, else their initializers'), and the log
  // names them. Without a rule here restoring is strict.
  // A variable that is there must have its shape and dtype in any case.
  std::vector<std::string> partial_restore = {};
};

// What tf.train.Saver(var_list) restores, as Scaffold::restore_names:
//   scaffold.restore_names = RestoreNames(ema.VariablesToRestore());
std::map<std::string, std::string> RestoreNames(
    const std::map<std::string, Variable>& variables_to_restore);

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_MODEL_SCAFFOLD_H_
