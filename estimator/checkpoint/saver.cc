#include "estimator/checkpoint/saver.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "estimator/base/file.h"
#include "estimator/base/out_of_resources.h"
#include "estimator/base/remote/remote_file_system.h"
#include "estimator/base/status.h"
#include "estimator/checkpoint/bundle/bundle_format.h"
#include "estimator/checkpoint/bundle/bundle_index.h"
#include "estimator/checkpoint/bundle_writer.h"
#include "estimator/checkpoint/latest_checkpoint.h"
#include "estimator/checkpoint/v1/v1_checkpoint.h"
#include "glog/logging.h"

namespace estimator {
namespace {

constexpr double kSecondsPerHour = 3600;

absl::Status WriteOrRemove(const std::string& path, const std::string* contents) {
  if (contents != nullptr) return WriteDerivedFile(path, *contents);
  // An older checkpoint of the same step may have left this file.
  const absl::Status status = RemoveFile(path);
  return absl::IsNotFound(status) ? absl::OkStatus() : status;
}

// Removes what belongs to a checkpoint but its index.
absl::Status RemoveAllButIndex(const std::string& prefix) {
  std::vector<std::string> paths = {InputStatePath(prefix), MetaGraphPath(prefix)};
  EST_ASSIGN_OR_RETURN(const auto data_files, DataFilesOf(prefix));
  for (const std::string& name : data_files) paths.push_back(JoinPath(Dirname(prefix), name));
  absl::Status status;  // a file that stays keeps no other from being removed
  for (const std::string& path : paths) status.Update(WriteOrRemove(path, nullptr));
  return status;
}

// Removes what a killed run left: the temporary files, and the files without index of a checkpoint
// that it was writing or deleting, which such a file names. Other files without index may be a copy
// that lacks it, so they stay.
absl::Status RemoveInterrupted(const std::string& directory, const std::string& basename) {
  EST_ASSIGN_OR_RETURN(const auto interrupted, TemporaryFilesOf(directory, basename + "-"));
  for (const auto& [name, files] : interrupted) {
    const std::string prefix = JoinPath(directory, name);
    if (StepOfPrefix(prefix) < 0) continue;
    EST_ASSIGN_OR_RETURN(const bool whole, Exists(IndexPath(prefix)));
    if (whole) continue;
    LOG(INFO) << "removing the files of " << prefix << ", which an interrupted run left";
    EST_RETURN_IF_ERROR(RemoveAllButIndex(prefix));
  }
  EST_RETURN_IF_ERROR(RemoveTemporaryFiles(directory, basename + "-"));
  EST_ASSIGN_OR_RETURN(const auto names, ListDirectory(directory));
  std::set<std::string> unindexed;
  for (const std::string& name : names) {
    const size_t end = name.find(".data-");
    if (!absl::StartsWith(name, basename + "-") || end == std::string::npos) continue;
    const std::string prefix = JoinPath(directory, name.substr(0, end));
    EST_ASSIGN_OR_RETURN(const bool whole, Exists(IndexPath(prefix)));
    if (!whole) unindexed.insert(prefix);
  }
  LOG_IF(WARNING, !unindexed.empty())
      << absl::StrJoin(unindexed, ", ") << ": there is data without an index. To continue from it, "
      << "copy " << IndexPath(*unindexed.begin()) << " as well; remove what is not needed";
  return absl::OkStatus();
}

// Whether a path of the state file is a checkpoint of this saver in its directory.
//   begin: "<directory>/model.ckpt-"
bool IsOwn(absl::string_view prefix, absl::string_view begin) {
  if (!absl::ConsumePrefix(&prefix, begin)) return false;
  // Of the V1 format, TensorFlow lists "model.ckpt-1-?????-of-00002".
  const size_t end = prefix.find("-\?\?\?\?\?-of-");
  const auto is_number = [](absl::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == absl::string_view::npos;
  };
  return is_number(prefix.substr(0, end)) &&
         (end == absl::string_view::npos || is_number(prefix.substr(end + 10)));
}

}  // namespace

double SystemSecs() { return absl::ToDoubleSeconds(absl::Now() - absl::UnixEpoch()); }

Saver::Saver(SaverOptions options) : options_(std::move(options)) {}

absl::Status Saver::Recover(StringArg directory) {
  const std::string folder(directory.empty() ? "." : directory);
  EST_RETURN_IF_ERROR(CreateDirectories(folder));
  absl::Status cleaned = RemoveInterrupted(folder, options_.basename);
  cleaned.Update(RemoveTemporaryFiles(folder, "checkpoint."));
  // It takes space, but no save needs it to be gone, so a file that stays must not stop the run.
  deletion_failed_ |= !cleaned.ok();
  LOG_IF(WARNING, !cleaned.ok()) << "cannot remove what an interrupted run left: " << cleaned;
  const double now = options_.now_secs ? options_.now_secs() : SystemSecs();
  CheckpointState recovered;
  std::vector<std::string> foreign;
  auto state = GetCheckpointState(directory);
  if (state.ok()) {
    for (size_t i = 0; i < state->all_model_checkpoint_paths.size(); ++i) {
      const std::string& prefix = state->all_model_checkpoint_paths[i];
      // What is not counted is not deleted: the file may be a stranger's, and name any file.
      if (!IsOwn(prefix, JoinPath(directory, options_.basename + "-"))) {
        foreign.push_back(prefix);
        continue;
      }
      const double modified = CheckpointModifiedTimeSeconds(prefix);
      if (modified == 0) continue;  // somebody deleted it
      // A path that stands twice counts at its last place, or the newest could be deleted.
      const auto later =
          state->all_model_checkpoint_paths.begin() + static_cast<std::ptrdiff_t>(i) + 1;
      if (std::find(later, state->all_model_checkpoint_paths.end(), prefix) !=
          state->all_model_checkpoint_paths.end()) {
        continue;
      }
      recovered.all_model_checkpoint_paths.push_back(prefix);
      recovered.all_model_checkpoint_timestamps.push_back(
          state->all_model_checkpoint_timestamps.empty()
              ? modified
              : state->all_model_checkpoint_timestamps[i]);
    }
    recovered.last_preserved_timestamp = state->last_preserved_timestamp;
    LOG_IF(WARNING, !state->copied_from.empty())
        << CheckpointStatePath(directory) << " lists checkpoints in " << state->copied_from
        << "; those of the same names in " << folder << " are used, and the others are left alone";
    if (foreign.size() > 5) foreign.resize(5);  // enough to find the rest
    LOG_IF(WARNING, !foreign.empty())
        << CheckpointStatePath(directory) << " lists what is no checkpoint of this run; it is not "
        << "counted, and never deleted: " << absl::StrJoin(foreign, ", ");
  } else if (!absl::IsNotFound(state.status())) {
    LOG(WARNING) << state.status().message() << "; older checkpoints are kept and are not counted";
  }
  const double from =
      recovered.last_preserved_timestamp > 0 ? recovered.last_preserved_timestamp : now;
  next_preserved_secs_ = from + options_.keep_checkpoint_every_n_hours * kSecondsPerHour;
  state_ = std::move(recovered);
  directory_ = std::string(directory);
  return absl::OkStatus();
}

// Removes the checkpoints over the limit from the list, and returns those to delete.
// Source: TF 2.15 Saver._MaybeDeleteOldCheckpoints, which deletes at most one.
std::vector<std::string> Saver::TakeOverLimit() {
  std::vector<std::string> removed;
  auto& paths = state_.all_model_checkpoint_paths;
  auto& times = state_.all_model_checkpoint_timestamps;
  const auto limit = static_cast<size_t>(options_.keep_checkpoint_max);
  while (limit > 0 && paths.size() > limit) {
    if (times.front() > next_preserved_secs_) {
      state_.last_preserved_timestamp = times.front();
      next_preserved_secs_ =
          times.front() + options_.keep_checkpoint_every_n_hours * kSecondsPerHour;
    } else {
      removed.push_back(paths.front());
    }
    paths.erase(paths.begin());
    times.erase(times.begin());
  }
  return removed;
}

// Writes the file of the input, which has the checksum of the graph, and then the graph.
absl::Status Saver::WriteInputAndGraph(const std::string& prefix, const SaverExtras& extras) {
  const std::string path = MetaGraphPath(prefix);
  const MetaGraphSource& source = extras.meta_graph;
  const bool same = HasMetaGraph(source.version);
  // After an error the last graph is not known to be whole.
  const std::optional<WrittenMetaGraph> last = std::exchange(meta_graph_, std::nullopt);
  std::optional<WrittenMetaGraph> written;
  std::optional<std::string> graph;  // the bytes to write; nullopt to link them
  if (source.version > 0) {
    if (!same && source.make != nullptr) graph = source.make();
    if (same || graph) {
      written = {.version = source.version,
                 .path = path,
                 .checksum = same ? last->checksum : FileChecksum::Of(*graph)};
    } else {
      LOG(WARNING) << path << " is not written, because the file of the checkpoint before it has "
                   << "disappeared; the next save writes one";
    }
  }
  std::optional<std::string> input;
  if (extras.input_state) {
    InputFile file{.state = *extras.input_state, .epochs = extras.epochs};
    if (written) file.meta_graph = written->checksum;
    input = EncodeInputFile(file);
  }
  EST_RETURN_IF_ERROR(WriteOrRemove(InputStatePath(prefix), input ? &*input : nullptr));
  if (same && path != last->path) {
    // An older checkpoint of the same step may have left a file of this name.
    EST_RETURN_IF_ERROR(WriteOrRemove(path, nullptr));
    if (!LinkFile(last->path, path).ok()) {  // this file system may have no links
      EST_ASSIGN_OR_RETURN(graph, ReadFile(last->path));
      EST_RETURN_IF_ERROR(Annotate(CheckMetaGraphBytes(*graph, last->checksum), last->path));
    }
  }
  if (!written || graph) EST_RETURN_IF_ERROR(WriteOrRemove(path, graph ? &*graph : nullptr));
  meta_graph_ = std::move(written);
  return absl::OkStatus();
}

// On a local disk, a lock keeps other runs away.
void Saver::WarnOfOtherRun(StringArg directory) const {
  if (!IsRemotePath(directory) || state_.model_checkpoint_path.empty()) return;
  const auto now = GetCheckpointState(directory);
  // The times tell apart two runs that save the same steps.
  const bool same =
      !now.ok() || (now->model_checkpoint_path == state_.model_checkpoint_path &&
                    now->all_model_checkpoint_timestamps == state_.all_model_checkpoint_timestamps);
  LOG_IF(WARNING, !same) << CheckpointStatePath(directory)
                         << " has changed since this run wrote it: another run saves "
                         << "to the same directory, and the two replace each other's checkpoints. "
                            "Stop one of them, or "
                         << "give it another directory";
}

absl::Status Saver::Commit(StringArg directory, const std::string& prefix) {
  WarnOfOtherRun(directory);
  auto& paths = state_.all_model_checkpoint_paths;
  auto& times = state_.all_model_checkpoint_timestamps;
  // A step that is saved again counts once, as the newest.
  for (size_t i = paths.size(); i-- > 0;) {
    if (paths[i] != prefix) continue;
    paths.erase(paths.begin() + static_cast<std::ptrdiff_t>(i));
    times.erase(times.begin() + static_cast<std::ptrdiff_t>(i));
  }
  paths.push_back(prefix);
  times.push_back(options_.now_secs ? options_.now_secs() : SystemSecs());
  state_.model_checkpoint_path = prefix;
  // The first state still lists the checkpoints that are deleted next. If the run is killed during
  // the deletions, the next run deletes the rest.
  EST_RETURN_IF_ERROR(WriteCheckpointState(directory, state_));
  const std::vector<std::string> removed = TakeOverLimit();
  for (const std::string& old : removed) {
    // Only what reads as a checkpoint is one: a damaged file may be another program's.
    absl::Status status = ReadBundleIndex(old).status();
    // A V1 checkpoint has no index, and a deletion that was interrupted neither.
    if (absl::IsNotFound(status)) status = absl::OkStatus();
    if (status.ok()) status = RemoveCheckpoint(old);
    // A failed deletion must not stop the run.
    deletion_failed_ |= !status.ok();
    LOG_IF(WARNING, !status.ok()) << "cannot delete an old checkpoint: " << status;
  }
  return removed.empty() ? absl::OkStatus() : WriteCheckpointState(directory, state_);
}

absl::Status Saver::Write(StringArg directory, const std::string& prefix,
                          const std::map<std::string, Array>& variables,
                          const SaverExtras& extras) {
  if (!recovered_ || directory != directory_) EST_RETURN_IF_ERROR(Recover(directory));
  recovered_ = false;  // until everything below has succeeded
  EST_ASSIGN_OR_RETURN(const auto writer, BundleWriter::Open(prefix));
  for (const auto& [name, value] : variables) EST_RETURN_IF_ERROR(writer->Add(name, value));
  // Before the index, which makes it a checkpoint: a run that continues needs the input's position.
  EST_RETURN_IF_ERROR(WriteInputAndGraph(prefix, extras));
  EST_RETURN_IF_ERROR(writer->Finish());
  EST_RETURN_IF_ERROR(Commit(directory, prefix));
  // What a failed deletion left is removed by the next save, as that of a killed run.
  recovered_ = !std::exchange(deletion_failed_, false);
  return absl::OkStatus();
}

namespace {

// Adds to an error of the file system what to do, and what the next start does.
absl::Status WithCure(const absl::Status& status, absl::string_view directory,
                      absl::string_view prefix) {
  if (absl::IsInvalidArgument(status)) return status;
  const absl::string_view folder = directory.empty() ? "." : directory;
  std::string message = absl::StrCat("cannot save ", prefix, ": ", status.message());
  const bool limit = IsProcessLimit(status);  // its cure is in the message, and not on the disk
  if (absl::IsResourceExhausted(status) && !limit) {
    absl::StrAppend(&message, "; free space on the disk of ", folder,
                    ", or keep fewer checkpoints (keep_checkpoint_max)");
  } else if (!limit) {
    absl::StrAppend(&message, "; check the disk of ", folder, " and its permissions");
  }
  const auto latest = LatestCheckpoint(directory);
  if (latest.ok() && *latest) {
    absl::StrAppend(&message, "; the next start continues from ", **latest);
  }
  return absl::Status(status.code(), message);
}

}  // namespace

std::string Saver::Prefix(StringArg directory, int64_t global_step) const {
  return JoinPath(directory, absl::StrCat(options_.basename, "-", global_step));
}

bool Saver::HasMetaGraph(int64_t version) const {
  if (!meta_graph_ || version != meta_graph_->version) return false;
  const absl::StatusOr<int64_t> size = FileSize(meta_graph_->path);
  // If nobody can say, it counts as there: linking it then gives the error.
  return size.ok() ? *size == static_cast<int64_t>(meta_graph_->checksum.num_bytes)
                   : !absl::IsNotFound(size.status());
}

absl::StatusOr<std::string> Saver::Save(StringArg directory, int64_t global_step,
                                        const std::map<std::string, Array>& variables,
                                        const SaverExtras& extras) {
  if (options_.keep_checkpoint_max < 0) {
    return InvalidArgument("keep_checkpoint_max must be >= 0, is ", options_.keep_checkpoint_max);
  }
  // Written so that it also refuses NaN.
  if (!(options_.keep_checkpoint_every_n_hours > 0)) {
    return InvalidArgument("keep_checkpoint_every_n_hours must be > 0, is ",
                           options_.keep_checkpoint_every_n_hours);
  }
  if (global_step < 0) {
    return InvalidArgument("global_step must be >= 0, is ", global_step);
  }
  const std::string prefix = Prefix(directory, global_step);
  const absl::Status written = Write(directory, prefix, variables, extras);
  if (written.ok()) return prefix;
  meta_graph_ = std::nullopt;  // the next save may remove the file
  return WithCure(written, directory, prefix);
}

absl::Status RemoveCheckpoint(StringArg prefix) {
  // Without its index it is no checkpoint, except for V1. The index gets a temporary name first, by
  // which the next run sees what was being deleted if this one is killed.
  const std::string index = IndexPath(prefix), renamed = IndexPath(TemporaryName(prefix));
  const absl::Status status = RenameFile(index, renamed);
  if (!absl::IsNotFound(status)) EST_RETURN_IF_ERROR(status);
  for (const std::string& path : V1Files(prefix).value_or(std::vector<std::string>())) {
    EST_RETURN_IF_ERROR(WriteOrRemove(path, nullptr));
  }
  EST_RETURN_IF_ERROR(RemoveAllButIndex(std::string(prefix)));
  return status.ok() ? RemoveFile(renamed) : absl::OkStatus();
}

}  // namespace estimator
