// What a strategy is made of: how model_fn and input_fn are called, on which backend, and how a
// batch is split. For folders above training that bring a strategy of their own (tpu/).
#ifndef ESTIMATOR_TRAINING_STRATEGIES_H_
#define ESTIMATOR_TRAINING_STRATEGIES_H_

#include "estimator/training/input/batch_axis.h"
#include "estimator/training/input/features.h"
#include "estimator/training/input/mode.h"
#include "estimator/training/loop/run_config.h"
#include "estimator/training/model/local_strategy.h"
#include "estimator/training/model/model_spec.h"
#include "estimator/training/model/strategy.h"

#endif  // ESTIMATOR_TRAINING_STRATEGIES_H_
