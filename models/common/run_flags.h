// The flags that every TPUEstimator program has: where it runs, and RunConfig's. A program that
// links this file has them all; its own flags stand in its own file.
#ifndef MODELS_COMMON_RUN_FLAGS_H_
#define MODELS_COMMON_RUN_FLAGS_H_

#include <gflags/gflags.h>

#include "tpu/tpu_config.h"

DECLARE_string(model_dir);
DECLARE_bool(use_tpu);

namespace estimator {

// What the flags say. A flag of RunConfig that was not given keeps RunConfig's own default.
tpu::RunConfig RunConfigFromFlags();

}  // namespace estimator

#endif  // MODELS_COMMON_RUN_FLAGS_H_
