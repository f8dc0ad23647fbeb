// The flags of every TPUEstimator program: where it runs, and the fields of RunConfig. A program
// that links this file has all of them, and defines its own flags in its own file.
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

// Returns the RunConfig that the flags describe. A flag that was not given keeps RunConfig's
// default.
tpu::RunConfig RunConfigFromFlags();

// A requirement of a program for one of its flags, and whether the flag meets it.
struct FlagRequirement {
  std::string flag;  // "train_steps"
  bool holds = true;
  std::string requirement;  // "positive"
  // A message to show instead of the requirement, if it needs more words.
  std::string problem = "";
};
// Checks the program's requirements, and the flags of this file: model_dir must be writable, and
// the RunConfig must be valid. Call it before any work.
// Errors: a UsageError (base/usage_error.h) listing all violations, such as "--train_steps must be
// positive, given 0".
absl::Status RequireFlags(const std::vector<FlagRequirement>& requirements);

// Requires that `status`, the result of a check of this flag's value, is OK. Its message is shown.
FlagRequirement StatusRequirement(const std::string& flag, const absl::Status& status);

// Requires that a batch size is positive and, with --use_tpu, divisible by --num_shards.
FlagRequirement BatchRequirement(const std::string& flag, int64_t batch_size);

// Whether a file can be written to this path: its folder exists and is writable. True for "".
bool CanBeFile(absl::string_view path);
// Whether this path is a writable folder, or can be created as one. True for "".
bool CanBeFolder(absl::string_view path);

}  // namespace estimator

#endif  // MODELS_COMMON_RUN_FLAGS_H_
