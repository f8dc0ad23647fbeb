// Scaffold: those parts of a run that a model may replace.
#ifndef ESTIMATOR_TRAINING_SCAFFOLD_H_
#define ESTIMATOR_TRAINING_SCAFFOLD_H_

#include <functional>
#include <map>
#include <string>

#include "absl/status/status.h"

namespace estimator {

class VariableStore;

struct Scaffold {
  // Runs after the variables' initial values, on a fresh start only (not after a restore).
  std::function<absl::Status(VariableStore&)> init_fn = nullptr;
  // Names to restore from, by variable name, where they differ: {"w", "w/ExponentialMovingAverage"}
  // restores averages in place of weights. What is not listed keeps its own name.
  std::map<std::string, std::string> restore_names = {};
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_SCAFFOLD_H_
