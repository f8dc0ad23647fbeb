#include "estimator/training/loop/event_session.h"

#include "absl/strings/match.h"
#include "estimator/base/file_system.h"
#include "estimator/base/path.h"
#include "estimator/base/status.h"
#include "estimator/summary/event_file_writer.h"

namespace estimator {

absl::Status StartTrainingEvents(const std::string& model_dir, int64_t global_step) {
  StartEventSession(model_dir, global_step);
  EST_ASSIGN_OR_RETURN(const auto names, ListDirectory(model_dir));
  for (const std::string& name : names) {
    const std::string path = JoinPath(model_dir, name);
    if (name != "eval" && !absl::StartsWith(name, "eval_")) continue;
    EST_ASSIGN_OR_RETURN(const bool is_directory, DirectoryExists(path));
    if (is_directory) StartEventSession(path, global_step);
  }
  return absl::OkStatus();
}

}  // namespace estimator
