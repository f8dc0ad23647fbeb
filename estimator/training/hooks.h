// All hooks for Train, Evaluate and Predict.
#ifndef ESTIMATOR_TRAINING_HOOKS_H_
#define ESTIMATOR_TRAINING_HOOKS_H_

#include "estimator/training/hooks/checkpoint_saver_hook.h"
#include "estimator/training/hooks/evaluate_tensors.h"
#include "estimator/training/hooks/final_ops_hook.h"
#include "estimator/training/hooks/global_step_waiter_hook.h"
#include "estimator/training/hooks/logging_tensor_hook.h"
#include "estimator/training/hooks/nan_tensor_hook.h"
#include "estimator/training/hooks/planned_work.h"
#include "estimator/training/hooks/profiler_hook.h"
#include "estimator/training/hooks/progress_hook.h"
#include "estimator/training/hooks/step_counter_hook.h"
#include "estimator/training/hooks/stop_at_step_hook.h"
#include "estimator/training/hooks/summary_saver_hook.h"

#endif  // ESTIMATOR_TRAINING_HOOKS_H_
