// Which values of a step differ between replicas.
#ifndef ESTIMATOR_RUNTIME_VARIES_BY_REPLICA_H_
#define ESTIMATOR_RUNTIME_VARIES_BY_REPLICA_H_

#include <vector>

#include "estimator/runtime/ir.h"

namespace estimator::ir {

// For each node, whether its value can differ between replicas. Variables do not differ.
std::vector<char> VariesByReplica(const Module& module, int num_replicas);

}  // namespace estimator::ir

#endif  // ESTIMATOR_RUNTIME_VARIES_BY_REPLICA_H_
