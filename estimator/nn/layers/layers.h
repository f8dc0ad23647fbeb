// All layers, with their initializers and regularizers.
#ifndef ESTIMATOR_NN_LAYERS_LAYERS_H_
#define ESTIMATOR_NN_LAYERS_LAYERS_H_

#include "estimator/nn/activation.h"
#include "estimator/nn/initializers.h"
#include "estimator/nn/layers/conv.h"
#include "estimator/nn/layers/core.h"
#include "estimator/nn/layers/dense.h"
#include "estimator/nn/layers/normalization.h"
#include "estimator/nn/layers/pooling.h"
#include "estimator/nn/regularizers.h"

#endif  // ESTIMATOR_NN_LAYERS_LAYERS_H_
