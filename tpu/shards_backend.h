// ShardsBackend: N replicas of one program over one set of variables, in this process: a TPU's
// semantics without a TPU.
#ifndef TPU_SHARDS_BACKEND_H_
#define TPU_SHARDS_BACKEND_H_

#include <memory>

#include "estimator/runtime/backend.h"
#include "estimator/runtime/program.h"

namespace estimator::tpu {

// Replicas take turns, each on all cores, from one collective to the next; sums are taken in
// replica order, so the bits do not depend on timing. Replica 0's updates are the ones that count.
// `store` outlives the backend. REQUIRES: num_replicas >= 1.
std::unique_ptr<Backend> MakeShardsBackend(VariableStore& store, int num_replicas,
                                           CompileOptions options = {});

}  // namespace estimator::tpu

#endif  // TPU_SHARDS_BACKEND_H_
