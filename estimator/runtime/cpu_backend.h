// CpuBackend: one replica on all cores.
#ifndef ESTIMATOR_RUNTIME_CPU_BACKEND_H_
#define ESTIMATOR_RUNTIME_CPU_BACKEND_H_

#include <memory>

#include "estimator/runtime/backend.h"
#include "estimator/runtime/program.h"

namespace estimator {

// `store` is shared with other backends of the same model (training and evaluation); it outlives
// the backend.
std::unique_ptr<Backend> MakeCpuBackend(VariableStore& store, CompileOptions options = {});

}  // namespace estimator

#endif  // ESTIMATOR_RUNTIME_CPU_BACKEND_H_
