// Where a model's first values come from: the settings of warm_start_from, and
// train::InitFromCheckpoint.
#ifndef ESTIMATOR_TRAINING_WARM_START_H_
#define ESTIMATOR_TRAINING_WARM_START_H_

#include "estimator/training/warm_start/init_from_checkpoint.h"
#include "estimator/training/warm_start/warm_start_settings.h"

#endif  // ESTIMATOR_TRAINING_WARM_START_H_
