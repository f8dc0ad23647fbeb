#include "estimator/checkpoint/load.h"

#include <algorithm>

#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "estimator/base/file_system.h"
#include "estimator/base/path.h"
#include "estimator/base/status.h"
#include "estimator/checkpoint/bundle/bundle_format.h"
#include "estimator/checkpoint/latest_checkpoint.h"
#include "glog/logging.h"

namespace estimator {

absl::StatusOr<std::string> CheckpointPrefix(StringArg directory_or_prefix) {
  EST_ASSIGN_OR_RETURN(const bool is_directory, DirectoryExists(directory_or_prefix));
  if (!is_directory) {
    return std::string(absl::StripSuffix(directory_or_prefix, ".index"));
  }
  // A SavedModel has its checkpoint at this prefix.
  std::string variables = JoinPath(directory_or_prefix, "variables", "variables");
  EST_ASSIGN_OR_RETURN(const bool is_saved_model, Exists(IndexPath(variables)));
  if (is_saved_model) return variables;
  std::vector<std::string> warnings;
  EST_ASSIGN_OR_RETURN(const auto latest, LatestCheckpoint(directory_or_prefix, &warnings));
  const std::string warning = absl::StrJoin(warnings, "; ");
  if (latest) {
    LOG_IF(WARNING, !warning.empty()) << warning;
    return *latest;
  }
  return NotFound("there is no checkpoint in ", directory_or_prefix, warning.empty() ? "" : ": ",
                  warning);
}

absl::StatusOr<std::unique_ptr<BundleReader>> LoadCheckpoint(StringArg directory_or_prefix) {
  constexpr int kMaxAttempts = 100;
  for (int attempt = 1;; ++attempt) {
    EST_ASSIGN_OR_RETURN(const std::string prefix, CheckpointPrefix(directory_or_prefix));
    auto reader = BundleReader::Open(prefix);
    // A run that keeps few checkpoints may have deleted this one and written a newer one.
    const bool deleted = !reader.ok() && CheckpointModifiedTimeSeconds(prefix) == 0;
    if (!deleted || !IsDirectory(directory_or_prefix) || attempt == kMaxAttempts) return reader;
  }
}

StatusOrRange<std::vector<std::pair<std::string, TensorSpec>>> ListVariables(
    StringArg directory_or_prefix) {
  EST_ASSIGN_OR_RETURN(const auto reader, LoadCheckpoint(directory_or_prefix));
  return std::vector<std::pair<std::string, TensorSpec>>(reader->specs().begin(),
                                                         reader->specs().end());
}

absl::StatusOr<Array> LoadVariable(StringArg directory_or_prefix, StringArg name) {
  EST_ASSIGN_OR_RETURN(const auto reader, LoadCheckpoint(directory_or_prefix));
  return reader->Read(name);
}

absl::StatusOr<int64_t> LoadGlobalStep(StringArg directory_or_prefix) {
  const auto reader = LoadCheckpoint(directory_or_prefix);
  if (absl::IsNotFound(reader.status())) return 0;
  EST_RETURN_IF_ERROR(reader.status());
  const auto found = (*reader)->specs().find("global_step");
  // A Session program need not have it, or has something else by this name.
  if (found == (*reader)->specs().end() || found->second.shape.num_elements() != 1 ||
      !IsInteger(found->second.dtype))
    return std::max<int64_t>(0, StepOfPrefix((*reader)->prefix()));
  EST_ASSIGN_OR_RETURN(const Array step, (*reader)->Read("global_step"));
  return step.Cast(DType::kInt64).Reshaped({}).scalar<int64_t>();
}

}  // namespace estimator
