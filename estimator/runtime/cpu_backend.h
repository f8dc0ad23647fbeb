// The backend of this process: N replicas of one program on one set of variables, on all CPU cores.
// With several replicas it has the semantics of a TPU without a TPU.
#ifndef ESTIMATOR_RUNTIME_CPU_BACKEND_H_
#define ESTIMATOR_RUNTIME_CPU_BACKEND_H_

#include <memory>

#include "estimator/runtime/arena.h"
#include "estimator/runtime/backend.h"
#include "estimator/runtime/program.h"

namespace estimator {

// Replicas run one after another, each on all cores, from one collective to the next. Sums are
// added along a fixed tree over the replicas (array/tree_sum.h), so the bits do not depend on
// timing. Only replica 0's updates take effect.
//   store: must outlive the backend. Backends of one model can share it (training and evaluation).
//   arenas: the memory of its steps, for num_replicas replicas or more, which backends that never
//   run at the same time can share. Null: the backend has its own.
// REQUIRES: num_replicas >= 1.
std::unique_ptr<Backend> MakeCpuBackend(VariableStore& store, CompileOptions options = {},
                                        std::shared_ptr<const Arenas> arenas = nullptr,
                                        int num_replicas = 1);

}  // namespace estimator

#endif  // ESTIMATOR_RUNTIME_CPU_BACKEND_H_
