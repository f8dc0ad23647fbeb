// TaskConfig: the role of this process as TF_CONFIG says. For folders above training.
#ifndef ESTIMATOR_TRAINING_TASK_CONFIG_H_
#define ESTIMATOR_TRAINING_TASK_CONFIG_H_

#include "estimator/training/loop/tf_config.h"

#endif  // ESTIMATOR_TRAINING_TASK_CONFIG_H_
