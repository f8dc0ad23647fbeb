#include "estimator/checkpoint/latest_checkpoint.h"

#include <algorithm>
#include <functional>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/checkpoint/bundle/bundle_format.h"
#include "estimator/checkpoint/bundle_reader.h"
#include "estimator/checkpoint/checkpoint_state.h"
#include "estimator/checkpoint/v1/v1_checkpoint.h"
#include "glog/logging.h"

namespace estimator {
namespace {

using Prefixes = std::vector<std::string>;
using CheckFn = std::function<absl::Status(const std::string& prefix)>;

// The prefixes in a directory that end in a step, the newest step first.
absl::StatusOr<Prefixes> PrefixesByStep(absl::string_view directory) {
  EST_ASSIGN_OR_RETURN(const auto names, ListDirectory(directory));
  std::set<std::pair<int64_t, std::string>> found;  // a set, as a checkpoint may have many files
  for (absl::string_view name : names) {
    // The temporary files of a save begin with a dot.
    if (name[0] == '.') continue;
    std::string prefix;
    if (absl::ConsumeSuffix(&name, ".index")) {
      prefix = JoinPath(directory, name);
    } else {
      prefix = V1PrefixOfFile(JoinPath(directory, name)).value_or("");
    }
    if (StepOfPrefix(prefix) >= 0) found.emplace(StepOfPrefix(prefix), prefix);
  }
  Prefixes prefixes;
  for (auto one = found.rbegin(); one != found.rend(); ++one) prefixes.push_back(one->second);
  return prefixes;
}

void Add(const std::string& prefix, Prefixes* prefixes) {
  if (std::find(prefixes->begin(), prefixes->end(), prefix) == prefixes->end()) {
    prefixes->push_back(prefix);
  }
}

void Warn(std::string text, std::vector<std::string>* warnings) {
  if (warnings == nullptr) {
    LOG(WARNING) << text;
  } else {
    warnings->push_back(std::move(text));
  }
}

// Whether an error of opening a checkpoint says that it is damaged or gone. After any other error,
// such as a missing permission, the checkpoint may be whole. A run that fell back to an older one
// would overwrite it.
bool IsDamage(const absl::Status& status) {
  return absl::IsDataLoss(status) || absl::IsNotFound(status);
}

absl::Status AccessError(absl::string_view what, const absl::Status& status) {
  return absl::Status(status.code(),
                      absl::StrCat(what, " cannot be read: ", status.message(),
                                   ". It may be whole, so no other checkpoint is used; make it "
                                   "readable, or move it away"));
}

// The first candidate that passes `check`. The errors of those before it are added to `problems`.
// Errors: those of `check` that are not damage.
absl::StatusOr<std::optional<std::string>> FirstWhole(const Prefixes& candidates,
                                                      const CheckFn& check, Prefixes* problems,
                                                      bool* some_exist) {
  for (const std::string& prefix : candidates) {
    const absl::Status status = check(prefix);
    if (status.ok()) return prefix;
    if (!IsDamage(status)) return AccessError(absl::StrCat("checkpoint ", prefix), status);
    *some_exist |= !absl::IsNotFound(status);
    problems->emplace_back(status.message());
  }
  return std::nullopt;
}

// The newest checkpoint that passes `check`.
absl::StatusOr<std::optional<std::string>> NewestThatIsWhole(absl::string_view directory,
                                                             const CheckFn& check,
                                                             std::vector<std::string>* warnings) {
  // A directory that may not be read is an error. It does not count as an empty one.
  const absl::Status found = FileSize(directory).status();
  if (absl::IsNotFound(found)) return std::nullopt;
  EST_RETURN_IF_ERROR(found);
  EST_ASSIGN_OR_RETURN(const bool is_directory, DirectoryExists(directory));
  if (!is_directory) {
    return FailedPrecondition(directory, " is a file, not a directory of checkpoints");
  }
  Prefixes candidates;
  Prefixes problems;
  auto state = GetCheckpointState(directory);
  // A writer may commit a new checkpoint and delete the old one between the two reads. Read again
  // while the state changes.
  for (int attempt = 0; state.ok() && attempt < 10; ++attempt) {
    if (check(state->model_checkpoint_path).ok()) return state->model_checkpoint_path;
    const std::string before =
        std::exchange(state, GetCheckpointState(directory))->model_checkpoint_path;
    if (state.ok() && state->model_checkpoint_path == before) break;
  }
  if (!state.ok() && !IsDamage(state.status())) {
    return AccessError("the list of checkpoints", state.status());
  }
  EST_ASSIGN_OR_RETURN(const Prefixes in_directory, PrefixesByStep(directory));
  if (state.ok()) {
    // TensorFlow reads only the state file, so its order counts more than the steps in names.
    Add(state->model_checkpoint_path, &candidates);
    const Prefixes& all = state->all_model_checkpoint_paths;
    for (auto path = all.rbegin(); path != all.rend(); ++path) Add(*path, &candidates);
  } else if (absl::IsNotFound(state.status()) && in_directory.empty()) {
    return std::nullopt;  // no checkpoint was written yet
  }
  for (const std::string& prefix : in_directory) Add(prefix, &candidates);
  bool some_exist = false;
  EST_ASSIGN_OR_RETURN(std::optional<std::string> whole,
                       FirstWhole(candidates, check, &problems, &some_exist));
  const bool newest = problems.empty();  // no newer checkpoint was skipped
  if (!state.ok()) problems.insert(problems.begin(), std::string(state.status().message()));
  const std::string why = absl::StrJoin(problems, "; ");
  if (whole && !state.ok() && newest) {
    Warn(absl::StrCat("using the newest checkpoint, ", *whole,
                      ", because the state file cannot be read: ", why,
                      "; the next checkpoint replaces that file. To start a new run, use another "
                      "directory"),
         warnings);
  } else if (whole) {
    // The newest may have failed above, and be whole now.
    if (!newest) Warn(absl::StrCat("falling back to checkpoint ", *whole, ": ", why), warnings);
  } else if (some_exist) {
    return DataLoss("no checkpoint in ", directory,
                    " is whole; use another directory, or move them away: ", why);
  } else {
    Warn(absl::StrCat("there is no checkpoint in ", directory, " to continue from: ", why),
         warnings);
  }
  return whole;
}

}  // namespace

absl::Status CheckCheckpoint(StringArg prefix) {
  const absl::Status opened = BundleReader::Open(prefix).status();
  if (absl::IsNotFound(opened) && IsDirectory(prefix) && FileExists(CheckpointStatePath(prefix))) {
    const absl::StatusOr<CheckpointState> state = GetCheckpointState(prefix);
    return NotFound(prefix,
                    " is a directory of checkpoints, not one of them; give one, for example ",
                    state.ok() ? state->model_checkpoint_path : JoinPath(prefix, "model.ckpt-100"));
  }
  return opened;
}

absl::Status CheckModelDir(StringArg given) {
  absl::string_view model_dir = given;
  while (model_dir.size() > 1 && absl::ConsumeSuffix(&model_dir, "/")) {
  }
  if (model_dir.empty() || IsDirectory(model_dir)) return absl::OkStatus();
  std::string prefix(model_dir);
  if (FileExists(model_dir)) {
    prefix = V1PrefixOfFile(model_dir).value_or(prefix);
    for (const char* const end : {".index", ".data-", ".meta", ".input"}) {
      const size_t place = prefix.rfind(end);
      if (place != std::string::npos) prefix.resize(place);
    }
    if (prefix == model_dir && StepOfPrefix(prefix) < 0) return absl::OkStatus();  // another file
  }
  if (CheckpointModifiedTimeSeconds(prefix) == 0) return absl::OkStatus();
  const absl::string_view directory = Dirname(prefix);
  return InvalidArgument(
      model_dir, " is a checkpoint, not a model directory. Give its directory ",
      directory.empty() ? "." : directory,
      " to continue from its newest checkpoint. To start a new run with the values of this one, "
      "give another directory, and set warm_start_from to ",
      prefix);
}

double CheckpointModifiedTimeSeconds(StringArg prefix) {
  const absl::StatusOr<double> index = FileModifiedTimeSeconds(IndexPath(prefix));
  if (index.ok()) return *index;
  double last = 0;
  for (const std::string& path : V1Files(prefix).value_or(std::vector<std::string>()))
    last = std::max(last, FileModifiedTimeSeconds(path).value_or(0));
  return last;
}

absl::StatusOr<std::optional<std::string>> LatestCheckpoint(StringArg directory,
                                                            std::vector<std::string>* warnings) {
  return NewestThatIsWhole(directory, CheckCheckpoint, warnings);
}

absl::Status NewestCheckpoint::Check(const std::string& prefix) const {
  // A checkpoint stays damaged until it is written again, so it is not read at every poll.
  const auto known = damaged_.find(prefix);
  if (known != damaged_.end() && CheckpointModifiedTimeSeconds(prefix) == known->second.written) {
    return known->second.status;
  }
  return CheckCheckpoint(prefix);
}

absl::StatusOr<std::optional<std::string>> NewestCheckpoint::Find() {
  std::vector<std::string> warnings;
  const auto found = NewestThatIsWhole(
      directory_, [this](const std::string& prefix) { return Check(prefix); }, &warnings);
  const std::string warning = absl::StrJoin(warnings, "; ");
  LOG_IF(WARNING, !warning.empty() && warning != last_warning_) << warning;
  last_warning_ = warning;
  if (found.ok() && *found) found_ = {**found, CheckpointModifiedTimeSeconds(**found)};
  return found;
}

bool NewestCheckpoint::PassOver(const std::string& prefix, const absl::Status& status) {
  if (prefix.empty() || !IsDamage(status)) return false;
  const double written = CheckpointModifiedTimeSeconds(prefix);
  if (written == 0 || (prefix == found_.first && written != found_.second)) {
    LOG(INFO) << "checkpoint " << prefix << " was " << (written == 0 ? "deleted" : "replaced")
              << " while it was being read; taking the newest again";
    return true;
  }
  // The checkpoint is there, so NOT_FOUND is about its contents, such as a variable that it lacks.
  if (!absl::IsDataLoss(status)) return false;
  damaged_[prefix] = {.written = written, .status = status};
  return true;
}

}  // namespace estimator
