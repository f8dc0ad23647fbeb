// Sums over replicas, as StableHLO's all_reduce.
#ifndef TPU_STABLEHLO_COLLECTIVES_H_
#define TPU_STABLEHLO_COLLECTIVES_H_

#include <vector>

#include "tpu/stablehlo/writer.h"

namespace estimator::tpu::stablehlo {

// One group of all replicas: {{0, 1, ..., num_replicas - 1}}.
std::vector<Ints> AllReplicas(int num_replicas);

// The sum over the replicas of each group. REQUIRES: the groups name every replica once and have
// one size; x is a number.
Value AllReduceSum(Writer& w, const Value& x, const std::vector<Ints>& groups);

// Replica 0's value of x, on every replica. `replica`: this replica's number.
Value FromReplica0(Writer& w, const Value& x, const Value& replica, int num_replicas);

}  // namespace estimator::tpu::stablehlo

#endif  // TPU_STABLEHLO_COLLECTIVES_H_
