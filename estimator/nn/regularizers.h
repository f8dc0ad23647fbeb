// Regularizers: penalties on weights. A layer adds the penalty of its `.kernel_regularizer` to
// graph.regularization_losses(). losses::GetTotalLoss adds these to the loss; a model_fn that does
// not call it has to add GetRegularizationLoss itself.
#ifndef ESTIMATOR_NN_REGULARIZERS_H_
#define ESTIMATOR_NN_REGULARIZERS_H_

#include "estimator/graph/variable.h"

namespace estimator::regularizers {

// scale * sum(|w|).
Regularizer L1(double scale);
// scale * sum(w^2) / 2. To port tf.keras.regularizers.l2, which has no half, pass twice its number.
// Source: tf.contrib.layers.l2_regularizer.
Regularizer L2(double scale);
// L1(scale_l1) + L2(scale_l2).
Regularizer L1L2(double scale_l1, double scale_l2);

}  // namespace estimator::regularizers

#endif  // ESTIMATOR_NN_REGULARIZERS_H_
