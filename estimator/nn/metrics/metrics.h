// All metrics.
#ifndef ESTIMATOR_NN_METRICS_METRICS_H_
#define ESTIMATOR_NN_METRICS_METRICS_H_

#include "estimator/nn/metrics/accuracy.h"
#include "estimator/nn/metrics/at_k.h"
#include "estimator/nn/metrics/auc.h"
#include "estimator/nn/metrics/confusion.h"
#include "estimator/nn/metrics/correlation.h"
#include "estimator/nn/metrics/f_score.h"
#include "estimator/nn/metrics/mean.h"
#include "estimator/nn/metrics/text.h"

#endif  // ESTIMATOR_NN_METRICS_METRICS_H_
