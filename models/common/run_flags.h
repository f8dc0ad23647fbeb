// The flags that every TPUEstimator program has: where it runs, and RunConfig's. A program that
// links this file has them all; its own flags stand in its own file.
#ifndef MODELS_COMMON_RUN_FLAGS_H_
#define MODELS_COMMON_RUN_FLAGS_H_

#include <gflags/gflags.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "tpu/tpu_config.h"

DECLARE_string(model_dir);
DECLARE_bool(use_tpu);

namespace estimator {

// What the flags say. A flag of RunConfig that was not given keeps RunConfig's own default.
tpu::RunConfig RunConfigFromFlags();

// What a program requires of one of its flags, and whether it is so.
struct FlagRequirement {
  std::string flag;  // "train_steps"
  bool holds = true;
  std::string requirement;  // "positive"
  // Instead of the requirement: what is wrong, where there is more to say.
  std::string problem = "";
};
// Looks at what the program requires and at the flags of this file: a model_dir that can be
// written, what RunConfig requires. To be called before any work.
// Errors: a UsageError (base/usage_error.h) naming all that does not hold: "--train_steps must be
// positive, given 0".
absl::Status RequireFlags(const std::vector<FlagRequirement>& requirements);

// That a check of this flag's value came out OK; otherwise its message says what is wrong.
FlagRequirement StatusRequirement(const std::string& flag, const absl::Status& status);

// That a batch of this flag is positive and, with --use_tpu, can be split over the shards.
FlagRequirement BatchRequirement(const std::string& flag, int64_t batch_size);

// Whether it is, or can become, a file: its folder is there and can be written. An empty path can.
bool CanBeFile(absl::string_view path);
// Whether it is a folder that can be written, or can be made. An empty path can.
bool CanBeFolder(absl::string_view path);

}  // namespace estimator

#endif  // MODELS_COMMON_RUN_FLAGS_H_
