// The flags of every program with an Estimator: model_dir and the fields of RunConfig; and checks
// of flags.
#ifndef MODELS_COMMON_RUN_CONFIG_FLAGS_H_
#define MODELS_COMMON_RUN_CONFIG_FLAGS_H_

#include <gflags/gflags.h>

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "estimator/training/estimator.h"

DECLARE_string(model_dir);

namespace estimator {

// Returns the RunConfig of an Estimator that the flags describe. A flag that was not given keeps
// RunConfig's default. (TPUEstimator: RunConfigFromFlags of run_flags.h.)
RunConfig EstimatorRunConfigFromFlags();

// std::cout in the chief of the processes that train together, and where there is one. What the
// others write to it is dropped. Call it after RequireRunConfigFlags.
std::ostream& ChiefOutput();

// Whether the user passed the flag. REQUIRES: there is such a flag.
bool FlagWasGiven(const char* flag);

// A requirement of a program for one of its flags, and whether the flag meets it.
struct FlagRequirement {
  std::string flag;  // "train_steps"
  bool holds = true;
  std::string requirement;  // "positive"
  // A message to show instead of the requirement, if it needs more words.
  std::string problem = "";
};
// Checks the program's requirements, and the flags of this file: model_dir must be writable, and
// the RunConfig must be valid. Then it joins the processes of the run, or starts them
// (group_flags.h). In other processes than the chief, files of results (--predict_csv,
// --result_json) become /dev/null. Call it before any work.
//   validate: checks the RunConfig; default: RunConfig::Validate.
// Errors: a UsageError (base/usage_error.h) listing all violations, such as "--train_steps must be
// positive, given 0"; those of StartOrJoinGroup.
absl::Status RequireRunConfigFlags(
    const std::vector<FlagRequirement>& requirements,
    const std::function<absl::Status(const RunConfig&)>& validate = &RunConfig::Validate);

// Requires that `status`, the result of a check of this flag's value, is OK. Its message is shown.
FlagRequirement StatusRequirement(const std::string& flag, const absl::Status& status);

// Requires that the folder `model_dir`, the value of --`flag`, has a checkpoint. For programs that
// use a trained model without training it: Estimator would evaluate and predict with initial
// values, as TensorFlow's does. True for "". A folder whose checkpoints cannot be read holds as
// well: Estimator reports that.
FlagRequirement TrainedModelRequirement(const std::string& flag, const std::string& model_dir);

// Whether a file can be written to this path: its folder exists and is writable. True for "".
bool CanBeFile(absl::string_view path);
// Whether this path is a writable folder, or can be created as one. True for "".
bool CanBeFolder(absl::string_view path);

}  // namespace estimator

#endif  // MODELS_COMMON_RUN_CONFIG_FLAGS_H_
