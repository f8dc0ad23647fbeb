// A model outside of the loops: model_fn's graph, its variables and its compiled step. For tools
// that run a model step by step.
#ifndef ESTIMATOR_TRAINING_COMPILED_MODEL_H_
#define ESTIMATOR_TRAINING_COMPILED_MODEL_H_

#include "estimator/training/model/built_model.h"
#include "estimator/training/model/compiled_step.h"
#include "estimator/training/model/first_non_finite.h"
#include "estimator/training/model/model_state.h"
#include "estimator/training/model/replica_reduce.h"
#include "estimator/training/warm_start/checkpoint_initializer.h"
#include "estimator/training/warm_start/warm_start.h"

#endif  // ESTIMATOR_TRAINING_COMPILED_MODEL_H_
