// What a program does with checkpoints: finds the newest one, waits for the next one, reads
// variables, and writes variables of its own, also for Keras.
#ifndef ESTIMATOR_CHECKPOINT_CHECKPOINT_H_
#define ESTIMATOR_CHECKPOINT_CHECKPOINT_H_

#include "estimator/checkpoint/checkpoint_state.h"
#include "estimator/checkpoint/checkpoints_iterator.h"
#include "estimator/checkpoint/keras/write_keras_weights.h"
#include "estimator/checkpoint/latest_checkpoint.h"
#include "estimator/checkpoint/load.h"
#include "estimator/checkpoint/save.h"

#endif  // ESTIMATOR_CHECKPOINT_CHECKPOINT_H_
