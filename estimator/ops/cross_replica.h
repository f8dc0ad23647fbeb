// Ops that know of the other replicas of a graph.
#ifndef ESTIMATOR_OPS_CROSS_REPLICA_H_
#define ESTIMATOR_OPS_CROSS_REPLICA_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "estimator/graph/tensor.h"

namespace estimator {

// The sum of x over the replicas of a group, on each of them; in replica order, so the same bits
// everywhere. With one replica: x.
//   groups: disjoint lists of replica numbers, of one size; empty: all replicas are one group.
// Its gradient is the same sum, of the gradient.
// Errors: INVALID_ARGUMENT if groups differ in size, or if a replica is in two.
// Source: TF 2.15 tf.compat.v1.tpu.cross_replica_sum.
Tensor CrossReplicaSum(const Tensor& x, const std::vector<std::vector<int64_t>>& groups = {},
                       absl::string_view name = "");

// The number of the replica that runs this, i32 [], in the current graph.
Tensor ReplicaId(absl::string_view name = "");

}  // namespace estimator

#endif  // ESTIMATOR_OPS_CROSS_REPLICA_H_
