// The flags of every TPUEstimator program: where it runs, and those of run_config_flags.h. A program
// that links this file has all of them, and defines its own flags in its own file.
#ifndef MODELS_COMMON_RUN_FLAGS_H_
#define MODELS_COMMON_RUN_FLAGS_H_

#include <gflags/gflags.h>

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "models/common/run_config_flags.h"
#include "tpu/tpu_config.h"

DECLARE_bool(use_tpu);

namespace estimator {

// Returns the RunConfig that the flags describe. A flag that was not given keeps RunConfig's
// default.
tpu::RunConfig RunConfigFromFlags();

// Checks the program's requirements and the flags of both files, as RequireRunConfigFlags does.
absl::Status RequireFlags(const std::vector<FlagRequirement>& requirements);

// Requires that a batch size is positive and, with --use_tpu, divisible by --num_shards.
FlagRequirement BatchRequirement(const std::string& flag, int64_t batch_size);

}  // namespace estimator

#endif  // MODELS_COMMON_RUN_FLAGS_H_
