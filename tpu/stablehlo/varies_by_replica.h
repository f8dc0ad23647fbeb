// Which values of a step differ between replicas.
#ifndef TPU_STABLEHLO_VARIES_BY_REPLICA_H_
#define TPU_STABLEHLO_VARIES_BY_REPLICA_H_

#include <vector>

#include "estimator/runtime/ir.h"

namespace estimator::tpu::stablehlo {

// For each node, whether its value can differ between replicas. Variables do not differ.
std::vector<char> VariesByReplica(const ir::Module& module, int num_replicas);

}  // namespace estimator::tpu::stablehlo

#endif  // TPU_STABLEHLO_VARIES_BY_REPLICA_H_
