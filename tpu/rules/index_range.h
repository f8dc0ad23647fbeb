// The range of integers that a graph computes, such as the indices of a TopK.
#ifndef TPU_RULES_INDEX_RANGE_H_
#define TPU_RULES_INDEX_RANGE_H_

#include <functional>

#include "estimator/graph/graph.h"

namespace estimator::tpu {

// Whether the indices of a GatherV2 or GatherNd are in range whatever the input is: constants,
// results of ArgMax, ArgMin and TopK, and what is computed from them by ops that move, add,
// multiply, divide or clip. False if that cannot be shown.
//   sources: what a placeholder in the body of a loop or a branch stands for; empty: anything.
bool IndicesAreInRange(const Node& gather,
                       const std::function<Tensors(const Node& placeholder)>& sources);

}  // namespace estimator::tpu

#endif  // TPU_RULES_INDEX_RANGE_H_
