// A Backend that also writes the StableHLO of each step that it compiles
// (TPUConfig.dump_stablehlo).
#ifndef TPU_STABLEHLO_DUMP_BACKEND_H_
#define TPU_STABLEHLO_DUMP_BACKEND_H_

#include <cstdint>
#include <memory>
#include <string>

#include "estimator/array/dtype.h"
#include "estimator/runtime/backend.h"

namespace estimator::tpu::stablehlo {

struct DumpOptions {
  std::string path;  // of the file; a later step replaces it
  int64_t iterations = 1;
  DType compute_dtype = DType::kFloat32;
  bool only_with_updates = false;  // true: writes only steps that change variables
};

// Compiles and runs with `backend`, and writes the module of the same step for
// backend->num_replicas() replicas. The guard of the loop is the first fetch, if the step has
// updates and the fetch is a floating scalar: the loops fetch the loss first. Errors of Compile:
// those of LowerStep and of the file, with the name of the option.
std::unique_ptr<Backend> MakeDumpBackend(std::unique_ptr<Backend> backend, DumpOptions options);

// "step.mlir" and "eval" -> "step_eval.mlir"; without an extension, "step" -> "step_eval".
std::string PathWithSuffix(const std::string& path, const std::string& suffix);

}  // namespace estimator::tpu::stablehlo

#endif  // TPU_STABLEHLO_DUMP_BACKEND_H_
