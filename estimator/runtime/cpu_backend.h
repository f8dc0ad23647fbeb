// The backend for one replica on all CPU cores.
#ifndef ESTIMATOR_RUNTIME_CPU_BACKEND_H_
#define ESTIMATOR_RUNTIME_CPU_BACKEND_H_

#include <memory>

#include "estimator/runtime/arena.h"
#include "estimator/runtime/backend.h"
#include "estimator/runtime/program.h"

namespace estimator {

//   store: must outlive the backend. Backends of one model can share it (training and evaluation).
//   arenas: the memory of its steps, which backends that never run at the same time can share; it
//   has at least one arena. Null: the backend has its own.
std::unique_ptr<Backend> MakeCpuBackend(VariableStore& store, CompileOptions options = {},
                                        std::shared_ptr<const Arenas> arenas = nullptr);

}  // namespace estimator

#endif  // ESTIMATOR_RUNTIME_CPU_BACKEND_H_
