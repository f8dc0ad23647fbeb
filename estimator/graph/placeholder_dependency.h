// Whether a tensor hangs on the batch.
#ifndef ESTIMATOR_GRAPH_PLACEHOLDER_DEPENDENCY_H_
#define ESTIMATOR_GRAPH_PLACEHOLDER_DEPENDENCY_H_

#include "estimator/graph/graph.h"

namespace estimator {

// A placeholder that `tensor` is computed from; null if there is none.
const Node* FindPlaceholder(const Tensor& tensor);

}  // namespace estimator

#endif  // ESTIMATOR_GRAPH_PLACEHOLDER_DEPENDENCY_H_
