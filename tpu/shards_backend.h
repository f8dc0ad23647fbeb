// ShardsBackend: runs N replicas of one program on one set of variables in this process. It has the
// semantics of a TPU without a TPU.
#ifndef TPU_SHARDS_BACKEND_H_
#define TPU_SHARDS_BACKEND_H_

#include <memory>

#include "estimator/runtime/arena.h"
#include "estimator/runtime/backend.h"
#include "estimator/runtime/program.h"

namespace estimator::tpu {

// Replicas run one after another, each on all cores, from one collective to the next. Sums are
// added in the order of replicas, so the bits do not depend on timing. Only replica 0's updates
// take effect.
//   arenas: the memory of the steps, for num_replicas replicas or more. Backends that never run at
//   the same time can share it. Null: the backend has its own.
// REQUIRES: num_replicas >= 1, and `store` outlives the backend.
std::unique_ptr<Backend> MakeShardsBackend(VariableStore& store, int num_replicas,
                                           CompileOptions options = {},
                                           std::shared_ptr<const Arenas> arenas = nullptr);

}  // namespace estimator::tpu

#endif  // TPU_SHARDS_BACKEND_H_
