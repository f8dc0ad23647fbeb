// EarlyStopping: ends training when a number has stopped improving. training/early_stopping.h has
// TensorFlow's hooks, which read the event files of evaluations.
#ifndef ESTIMATOR_TRAINING_CALLBACKS_EARLY_STOPPING_H_
#define ESTIMATOR_TRAINING_CALLBACKS_EARLY_STOPPING_H_

#include <cstdint>
#include <optional>
#include <string>

#include "estimator/training/callbacks/monitor.h"
#include "estimator/training/hooks/hook.h"

namespace estimator::callbacks {

struct EarlyStoppingOptions {
  std::string monitor = "val_loss";
  double min_delta = 0;  // smaller improvements do not count
  int64_t patience = 0;  // epochs without an improvement after which training stops
  int verbose = 0;       // 1: logs the stop
  // kAuto: up for names that end with "acc", "accuracy" or "auc", else down.
  MonitorMode mode = MonitorMode::kAuto;
  // An epoch counts as an improvement only if it is better than this too.
  std::optional<double> baseline = std::nullopt;
  // At a stop, gives the model the weights of the best epoch: all variables but the optimizer's and
  // global_step. They are kept in model_dir/early_stopping, for a training that is continued too.
  bool restore_best_weights = false;
  int64_t start_from_epoch = 0;  // epochs before it are not looked at
};

// A training that it has stopped stops again at the start, unless the patience is greater now.
// Source: TF 2.15 tf.keras.callbacks.EarlyStopping.
HookPtr EarlyStopping(const EarlyStoppingOptions& options = {});

}  // namespace estimator::callbacks

#endif  // ESTIMATOR_TRAINING_CALLBACKS_EARLY_STOPPING_H_
