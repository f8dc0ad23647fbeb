#include "estimator/checkpoint/copy_checkpoint.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/checkpoint/checkpoint_state.h"

namespace estimator {

absl::Status CopyCheckpoint(StringArg prefix, StringArg model_dir, StringArg name) {
  const absl::string_view directory = Dirname(prefix);
  const std::string from(directory.empty() ? "." : directory);
  EST_ASSIGN_OR_RETURN(std::vector<std::string> files, ListDirectory(from));
  // The index is last: without it a killed copy is no checkpoint.
  std::stable_partition(files.begin(), files.end(),
                        [](const std::string& file) { return !absl::EndsWith(file, ".index"); });
  const std::string copied = JoinPath(model_dir, name);
  for (const std::string& file : files) {
    absl::string_view end = file;
    if (!absl::ConsumePrefix(&end, Basename(prefix))) continue;
    // A file of the older format is the prefix itself, or prefix-00000-of-00001.
    const bool is_part = end.size() > 10 && end[0] == '-' && end.substr(6, 4) == "-of-";
    if (!end.empty() && end[0] != '.' && !is_part) continue;
    EST_RETURN_IF_ERROR(CopyFile(JoinPath(from, file), absl::StrCat(copied, end)));
  }
  return WriteCheckpointState(
      model_dir, {.model_checkpoint_path = copied, .all_model_checkpoint_paths = {copied}});
}

}  // namespace estimator
