// LearningRateScheduler: sets the learning rate at the beginning of each epoch.
#ifndef ESTIMATOR_TRAINING_CALLBACKS_LEARNING_RATE_SCHEDULER_H_
#define ESTIMATOR_TRAINING_CALLBACKS_LEARNING_RATE_SCHEDULER_H_

#include <cstdint>
#include <functional>

#include "estimator/training/hooks/hook.h"

namespace estimator::callbacks {

struct LearningRateSchedulerOptions {
  int verbose = 0;  // 1: logs each rate
};

//   schedule: takes the epoch, from 0, and the current rate, and returns the new one.
// Errors: those of Session::SetLearningRate.
// Source: TF 2.15 tf.keras.callbacks.LearningRateScheduler.
HookPtr LearningRateScheduler(std::function<double(int64_t epoch, double rate)> schedule,
                              const LearningRateSchedulerOptions& options = {});

}  // namespace estimator::callbacks

#endif  // ESTIMATOR_TRAINING_CALLBACKS_LEARNING_RATE_SCHEDULER_H_
