// One value out of the replicas' values of a tensor.
#ifndef ESTIMATOR_TRAINING_MODEL_REPLICA_REDUCE_H_
#define ESTIMATOR_TRAINING_MODEL_REPLICA_REDUCE_H_

#include <vector>

#include "estimator/array/array.h"
#include "estimator/runtime/backend.h"

namespace estimator {

// A floating scalar: the mean, summed in float64 in replica order. Any other scalar: replica 0's.
// Anything else: joined on axis 0 in replica order. The result is a copy.
Array ReduceReplicas(const std::vector<Array>& values);

// Fetch `index` of every replica; of replica 0 alone where all replicas compute the same.
std::vector<Array> FetchOfReplicas(const StepFetches& fetches, size_t index,
                                   bool broadcast = false);

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_MODEL_REPLICA_REDUCE_H_
