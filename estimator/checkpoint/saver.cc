#include "estimator/checkpoint/saver.h"

#include <cstddef>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/checkpoint/bundle/bundle_format.h"
#include "estimator/checkpoint/bundle_writer.h"
#include "estimator/checkpoint/latest_checkpoint.h"
#include "estimator/checkpoint/v1/v1_checkpoint.h"
#include "glog/logging.h"

namespace estimator {
namespace {

constexpr double kSecondsPerHour = 3600;

absl::Status WriteOrRemove(const std::string& path, const std::string* contents) {
  if (contents != nullptr) return WriteFileAtomically(path, *contents);
  // An older checkpoint of the same step may have left this file.
  const absl::Status status = RemoveFile(path);
  return absl::IsNotFound(status) ? absl::OkStatus() : status;
}

// Removes files without an index. They are left if a run is killed before it renames the index, or
// while it deletes an old checkpoint.
absl::Status RemoveUnindexed(absl::string_view directory, absl::string_view basename) {
  EST_ASSIGN_OR_RETURN(const auto names, ListDirectory(directory.empty() ? "." : directory));
  for (const std::string& name : names) {
    if (!absl::StartsWith(name, absl::StrCat(basename, "-"))) continue;
    size_t end = name.find(".data-");
    if (end == std::string::npos && absl::EndsWith(name, ".input")) end = name.rfind('.');
    if (end == std::string::npos) continue;
    const std::string prefix = JoinPath(directory, name.substr(0, end));
    if (StepOfPrefix(prefix) < 0 || FileExists(IndexPath(prefix))) continue;
    LOG(INFO) << "removing " << JoinPath(directory, name) << ", which has no index";
    EST_RETURN_IF_ERROR(WriteOrRemove(JoinPath(directory, name), nullptr));
    // Searching for the other two files is enough: a graph is written after one of them, and is
    // deleted before the data.
    EST_RETURN_IF_ERROR(WriteOrRemove(InputStatePath(prefix), nullptr));
    EST_RETURN_IF_ERROR(WriteOrRemove(MetaGraphPath(prefix), nullptr));
  }
  return absl::OkStatus();
}

}  // namespace

double SystemSecs() { return absl::ToDoubleSeconds(absl::Now() - absl::UnixEpoch()); }

Saver::Saver(SaverOptions options) : options_(std::move(options)) {}

absl::Status Saver::Recover(StringArg directory) {
  const std::string folder(directory.empty() ? "." : directory);
  EST_RETURN_IF_ERROR(CreateDirectories(folder));
  EST_RETURN_IF_ERROR(RemoveTemporaryFiles(folder, options_.basename + "-"));
  EST_RETURN_IF_ERROR(RemoveTemporaryFiles(folder, "checkpoint."));
  EST_RETURN_IF_ERROR(RemoveUnindexed(directory, options_.basename));
  const double now = options_.now_secs ? options_.now_secs() : SystemSecs();
  CheckpointState recovered;
  auto state = GetCheckpointState(directory);
  if (state.ok()) {
    for (size_t i = 0; i < state->all_model_checkpoint_paths.size(); ++i) {
      const std::string& prefix = state->all_model_checkpoint_paths[i];
      const double modified = CheckpointModifiedTimeSeconds(prefix);
      if (modified == 0) continue;  // somebody deleted it
      recovered.all_model_checkpoint_paths.push_back(prefix);
      recovered.all_model_checkpoint_timestamps.push_back(
          state->all_model_checkpoint_timestamps.empty()
              ? modified
              : state->all_model_checkpoint_timestamps[i]);
    }
    recovered.last_preserved_timestamp = state->last_preserved_timestamp;
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
    InputFile file{.state = *extras.input_state};
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

absl::Status Saver::Commit(StringArg directory, const std::string& prefix) {
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
    // A failed deletion must not stop the run.
    const absl::Status status = RemoveCheckpoint(old);
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
  recovered_ = true;
  return absl::OkStatus();
}

namespace {

// Adds to an error of the file system what to do, and what the next start does.
absl::Status WithCure(const absl::Status& status, absl::string_view directory,
                      absl::string_view prefix) {
  if (absl::IsInvalidArgument(status)) return status;
  const absl::string_view folder = directory.empty() ? "." : directory;
  std::string message = absl::StrCat("cannot save ", prefix, ": ", status.message());
  if (absl::IsResourceExhausted(status)) {
    absl::StrAppend(&message, "; free space on the disk of ", folder,
                    ", or keep fewer checkpoints (keep_checkpoint_max)");
  } else {
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
  return meta_graph_ && version == meta_graph_->version &&
         FileSize(meta_graph_->path).value_or(-1) ==
             static_cast<int64_t>(meta_graph_->checksum.num_bytes);
}

absl::StatusOr<std::string> Saver::Save(StringArg directory, int64_t global_step,
                                        const std::map<std::string, Array>& variables,
                                        const SaverExtras& extras) {
  if (options_.keep_checkpoint_max < 0 || options_.keep_checkpoint_every_n_hours <= 0) {
    return InvalidArgument("keep_checkpoint_max must be >= 0, is ", options_.keep_checkpoint_max,
                           "; keep_checkpoint_every_n_hours must be > 0, is ",
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
  // The index is removed first: without it the other files are not a checkpoint, except for V1.
  EST_RETURN_IF_ERROR(WriteOrRemove(IndexPath(prefix), nullptr));
  std::vector<std::string> paths = V1Files(prefix).value_or(std::vector<std::string>());
  paths.push_back(InputStatePath(prefix));
  paths.push_back(MetaGraphPath(prefix));
  EST_ASSIGN_OR_RETURN(const auto data_files, DataFilesOf(prefix));
  for (const std::string& name : data_files) paths.push_back(JoinPath(Dirname(prefix), name));
  for (const std::string& path : paths) EST_RETURN_IF_ERROR(WriteOrRemove(path, nullptr));
  return absl::OkStatus();
}

}  // namespace estimator
