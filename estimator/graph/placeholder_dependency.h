// Tells whether a tensor depends on what is fed.
#ifndef ESTIMATOR_GRAPH_PLACEHOLDER_DEPENDENCY_H_
#define ESTIMATOR_GRAPH_PLACEHOLDER_DEPENDENCY_H_

#include "estimator/graph/graph.h"

namespace estimator {

// A placeholder that `tensor` depends on; null if there is none.
const Node* FindPlaceholder(const Tensor& tensor);

}  // namespace estimator

#endif  // ESTIMATOR_GRAPH_PLACEHOLDER_DEPENDENCY_H_
