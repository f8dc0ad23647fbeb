// ReduceLROnPlateau: reduces the learning rate when a number has stopped improving.
#ifndef ESTIMATOR_TRAINING_CALLBACKS_REDUCE_LR_ON_PLATEAU_H_
#define ESTIMATOR_TRAINING_CALLBACKS_REDUCE_LR_ON_PLATEAU_H_

#include <cstdint>
#include <string>

#include "estimator/training/callbacks/monitor.h"
#include "estimator/training/hooks/hook.h"

namespace estimator::callbacks {

struct ReduceLROnPlateauOptions {
  std::string monitor = "val_loss";
  double factor = 0.1;    // new rate = rate * factor
  int64_t patience = 10;  // epochs without an improvement after which the rate is reduced
  int verbose = 0;        // 1: logs each reduction
  MonitorMode mode = MonitorMode::kAuto;  // kAuto: up for names with "acc", else down
  double min_delta = 1e-4;                // smaller improvements do not count
  int64_t cooldown = 0;                   // epochs after a reduction in which nothing is counted
  double min_lr = 0;                      // the rate does not become smaller
};

// Errors: Train returns INVALID_ARGUMENT for a factor >= 1; those of Session::SetLearningRate.
// Source: TF 2.15 tf.keras.callbacks.ReduceLROnPlateau.
HookPtr ReduceLROnPlateau(const ReduceLROnPlateauOptions& options = {});

}  // namespace estimator::callbacks

#endif  // ESTIMATOR_TRAINING_CALLBACKS_REDUCE_LR_ON_PLATEAU_H_
