// All callbacks of Keras. callback.h is the base of your own.
#ifndef ESTIMATOR_TRAINING_CALLBACKS_H_
#define ESTIMATOR_TRAINING_CALLBACKS_H_

#include "estimator/training/callbacks/callback.h"
#include "estimator/training/callbacks/csv_logger.h"
#include "estimator/training/callbacks/early_stopping.h"
#include "estimator/training/callbacks/lambda_callback.h"
#include "estimator/training/callbacks/learning_rate_scheduler.h"
#include "estimator/training/callbacks/model_checkpoint.h"
#include "estimator/training/callbacks/progbar_logger.h"
#include "estimator/training/callbacks/reduce_lr_on_plateau.h"
#include "estimator/training/callbacks/terminate_on_nan.h"

#endif  // ESTIMATOR_TRAINING_CALLBACKS_H_
