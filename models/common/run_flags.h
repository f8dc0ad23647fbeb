// The flags of every TPUEstimator program: where it runs, and those of run_config_flags.h. A
// program that links this file has all of them, and defines its own flags in its own file.
#ifndef MODELS_COMMON_RUN_FLAGS_H_
#define MODELS_COMMON_RUN_FLAGS_H_

#include <gflags/gflags.h>

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "models/common/run_config_flags.h"
#include "tpu/tpu_config.h"

// With --use_tpu=auto the first call of a function below sets it to what was found.
DECLARE_bool(use_tpu);

namespace estimator {

// Returns the RunConfig that the flags describe. A flag that was not given keeps RunConfig's
// default. With --use_tpu=auto, master and num_shards are those of the accelerator that is found;
// with --use_tpu=false, num_shards is 1. With --tpu_check as NumReplicasFromFlags says.
tpu::RunConfig RunConfigFromFlags();

// The number of replicas that the program will run on, for batch sizes and learning rates:
// --num_shards; with --use_tpu=auto the number of devices; with --use_tpu=false 1. With --tpu_check
// it is --num_shards in any case, unless --use_tpu=auto finds a TPU.
int64_t NumReplicasFromFlags();

// Whether the first call of Train, Evaluate or Predict prints a report and ends the program
// (--tpu_check). Such a program writes nothing: neither to the model_dir nor an export.
bool OnlyChecks();

// Checks the program's requirements and the flags of both files, as RequireRunConfigFlags does.
// With --use_tpu=auto also looks for accelerators.
// Errors: also those of tpu::DetectAccelerator.
absl::Status RequireFlags(const std::vector<FlagRequirement>& requirements);

// Requires that a batch size is positive and, on replicas, divisible by their number.
FlagRequirement BatchRequirement(const std::string& flag, int64_t batch_size);

}  // namespace estimator

#endif  // MODELS_COMMON_RUN_FLAGS_H_
