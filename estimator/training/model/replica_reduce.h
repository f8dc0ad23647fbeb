// One value out of the replicas' values of a tensor.
#ifndef ESTIMATOR_TRAINING_MODEL_REPLICA_REDUCE_H_
#define ESTIMATOR_TRAINING_MODEL_REPLICA_REDUCE_H_

#include <vector>

#include "estimator/array/array.h"
#include "estimator/runtime/backend.h"

namespace estimator {

// One value of the replicas' values. For floating scalars it is the mean, summed in float64 in
// replica order; for other scalars it is replica 0's. Other arrays are concatenated on axis 0, in
// replica order. The result may share the bytes of values[0]. So the value of a step is only valid
// as long as its fetches are.
Array ReduceReplicas(const std::vector<Array>& values);
// The same as an array with bytes of its own, which stay valid after the step.
Array ReduceReplicasToCopy(const std::vector<Array>& values);

// Fetch `index` of every replica. With `broadcast`, all replicas compute the same, and only replica
// 0's is returned.
std::vector<Array> FetchOfReplicas(const StepFetches& fetches, size_t index,
                                   bool broadcast = false);

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_MODEL_REPLICA_REDUCE_H_
