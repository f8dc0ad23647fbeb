// The backend of this process: N replicas of one program on one set of variables, on all CPU cores.
// With several replicas it has the semantics of a TPU without a TPU. Several processes can run the
// replicas of one step together.
#ifndef ESTIMATOR_RUNTIME_CPU_BACKEND_H_
#define ESTIMATOR_RUNTIME_CPU_BACKEND_H_

#include <memory>

#include "estimator/distributed/process_group.h"
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

// The same for some of the replicas of a step: each process of `group` runs `num_replicas` of them.
// The program is the same for every number of processes, and so are the bits, if a replica has the
// same number of threads. All ranks make the same calls of the backend and its executables. Feeds
// and fetches are those of this process.
//   RunLoop: all ranks need input for the same steps, and want the same fetches. The first call for
//   an executable compares the programs. Sums are exchanged while gradients are computed
//   (passes/buckets.h), and none is pending when the outfeed is called. Updates that depend on a
//   replica's own batch, such as moving averages, take the values of replica 0 of rank 0. If an
//   outfeed stops a step, those of all ranks must.
//   group: null: this process alone.
//   accumulate_steps: num_replicas / accumulate_steps replicas run so many batches each, in turns
//   (ReplicaLayout).
// Errors of Compile and RunLoop: also those of the group, and FAILED_PRECONDITION naming a rank
// that runs another program.
// REQUIRES: num_replicas is a multiple of accumulate_steps.
std::unique_ptr<Backend> MakeCpuBackend(VariableStore& store, CompileOptions options,
                                        std::shared_ptr<const Arenas> arenas, int num_replicas,
                                        std::shared_ptr<ProcessGroup> group,
                                        int accumulate_steps = 1);

}  // namespace estimator

#endif  // ESTIMATOR_RUNTIME_CPU_BACKEND_H_
