// Whether a tensor hangs on the batch.
#ifndef ESTIMATOR_TRAINING_FIND_PLACEHOLDER_H_
#define ESTIMATOR_TRAINING_FIND_PLACEHOLDER_H_

#include "estimator/graph/graph.h"

namespace estimator {

// A placeholder that `tensor` is computed from; null if there is none.
const Node* FindPlaceholder(const Tensor& tensor);

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_FIND_PLACEHOLDER_H_
