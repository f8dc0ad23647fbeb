// Ops that communicate between the replicas of a graph.
#ifndef ESTIMATOR_OPS_CROSS_REPLICA_H_
#define ESTIMATOR_OPS_CROSS_REPLICA_H_

#include <cstdint>
#include <vector>

#include "estimator/base/string_arg.h"
#include "estimator/graph/tensor.h"

namespace estimator {

// The sum of x over the replicas of a group; every replica of the group gets it. Replicas are
// summed in order of their numbers, so all get the same bits. With one replica the result is x.
//   groups: disjoint lists of replica numbers, all of one size; empty: one group of all replicas.
// The gradient is the same sum, applied to the gradient.
// Errors: INVALID_ARGUMENT if groups differ in size, or if a replica is in two groups.
// Source: TF 2.15 tf.compat.v1.tpu.cross_replica_sum.
Tensor CrossReplicaSum(const Tensor& x, const std::vector<std::vector<int64_t>>& groups = {},
                       StringArg name = "");

// The number of the replica that runs the graph, i32 [], added to the current graph.
Tensor ReplicaId(StringArg name = "");

}  // namespace estimator

#endif  // ESTIMATOR_OPS_CROSS_REPLICA_H_
