// The history of a training by epochs, for programs that only read it.
#ifndef ESTIMATOR_TRAINING_HISTORY_H_
#define ESTIMATOR_TRAINING_HISTORY_H_

#include "estimator/training/epochs/history.h"  // IWYU pragma: export

#endif  // ESTIMATOR_TRAINING_HISTORY_H_
