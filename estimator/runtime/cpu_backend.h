// The backend for one replica on all CPU cores.
#ifndef ESTIMATOR_RUNTIME_CPU_BACKEND_H_
#define ESTIMATOR_RUNTIME_CPU_BACKEND_H_

#include <memory>

#include "estimator/runtime/backend.h"
#include "estimator/runtime/program.h"

namespace estimator {

//   store: must outlive the backend. Backends of one model can share it (training and evaluation).
std::unique_ptr<Backend> MakeCpuBackend(VariableStore& store, CompileOptions options = {});

}  // namespace estimator

#endif  // ESTIMATOR_RUNTIME_CPU_BACKEND_H_
