// All optimizers, learning rate schedules, gradient clipping and moving averages.
#ifndef ESTIMATOR_NN_TRAIN_TRAIN_H_
#define ESTIMATOR_NN_TRAIN_TRAIN_H_

#include "estimator/nn/moving_average.h"
#include "estimator/nn/train/adabelief.h"
#include "estimator/nn/train/adadelta.h"
#include "estimator/nn/train/adafactor.h"
#include "estimator/nn/train/adagrad.h"
#include "estimator/nn/train/adam.h"
#include "estimator/nn/train/adam_weight_decay.h"
#include "estimator/nn/train/clip.h"
#include "estimator/nn/train/clipping_optimizer.h"
#include "estimator/nn/train/exponential_moving_average.h"
#include "estimator/nn/train/ftrl.h"
#include "estimator/nn/train/gradient_descent.h"
#include "estimator/nn/train/lamb.h"
#include "estimator/nn/train/lars.h"
#include "estimator/nn/train/momentum.h"
#include "estimator/nn/train/optimizer.h"
#include "estimator/nn/train/proximal_adagrad.h"
#include "estimator/nn/train/rate_by_name.h"
#include "estimator/nn/train/rms_prop.h"
#include "estimator/nn/train/schedule.h"
#include "estimator/nn/train/settable_rate.h"
#include "estimator/nn/train/stochastic_weight_averaging.h"

#endif  // ESTIMATOR_NN_TRAIN_TRAIN_H_
