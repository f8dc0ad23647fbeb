// Regularizers: penalties on weights. A layer's `.kernel_regularizer` adds its value to
// graph.regularization_losses(); losses::GetTotalLoss adds those to the loss.
#ifndef ESTIMATOR_NN_REGULARIZERS_H_
#define ESTIMATOR_NN_REGULARIZERS_H_

#include "estimator/graph/variable.h"

namespace estimator::regularizers {

// scale * sum(|w|).
Regularizer L1(double scale);
// scale * sum(w^2) / 2. (tf.keras.regularizers.l2 has no half: pass twice its number.)
// Source: tf.contrib.layers.l2_regularizer.
Regularizer L2(double scale);
Regularizer L1L2(double scale_l1, double scale_l2);

}  // namespace estimator::regularizers

#endif  // ESTIMATOR_NN_REGULARIZERS_H_
