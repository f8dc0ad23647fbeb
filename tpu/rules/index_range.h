// The range of integers that a graph computes, such as the indices of a TopK.
#ifndef TPU_RULES_INDEX_RANGE_H_
#define TPU_RULES_INDEX_RANGE_H_

#include "estimator/graph/graph.h"

namespace estimator::tpu {

// Whether the indices of a GatherV2 or GatherNd are in range whatever the input is: constants,
// results of ArgMax, ArgMin and TopK, and what is computed from them by ops that move, add,
// multiply, divide or clip. False if that cannot be shown.
bool IndicesAreInRange(const Node& gather);

}  // namespace estimator::tpu

#endif  // TPU_RULES_INDEX_RANGE_H_
