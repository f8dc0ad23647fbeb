// TerminateOnNaN: ends training without an error when a loss is NaN or infinite.
#ifndef ESTIMATOR_TRAINING_CALLBACKS_TERMINATE_ON_NAN_H_
#define ESTIMATOR_TRAINING_CALLBACKS_TERMINATE_ON_NAN_H_

#include "estimator/training/hooks/hook.h"

namespace estimator::callbacks {

// The step changes no variable and is not counted. Its epoch is not ended, so the history does not
// have it. Source: TF 2.15 tf.keras.callbacks.TerminateOnNaN, which applies the step and ends the
// epoch.
HookPtr TerminateOnNaN();

}  // namespace estimator::callbacks

#endif  // ESTIMATOR_TRAINING_CALLBACKS_TERMINATE_ON_NAN_H_
