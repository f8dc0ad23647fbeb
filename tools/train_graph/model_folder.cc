#include "tools/train_graph/model_folder.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/checkpoint/bundle/bundle_format.h"
#include "estimator/checkpoint/copy_checkpoint.h"
#include "estimator/checkpoint/latest_checkpoint.h"
#include "estimator/export/saved_model/find_saved_model.h"
#include "estimator/training/import_saved_model.h"
#include "glog/logging.h"

namespace estimator {
namespace {

constexpr absl::string_view kExtension = ".meta";

// The step of "model.ckpt-N.meta"; -1 for another name.
int64_t StepOf(absl::string_view name) {
  return absl::ConsumeSuffix(&name, kExtension) ? StepOfPrefix(name) : -1;
}

absl::Status RemoveIfThere(const std::string& path) {
  const absl::Status status = RemoveFile(path);
  return absl::IsNotFound(status) ? absl::OkStatus() : status;
}

// Makes the file `name` of `to` equal to that of `from`, which may not exist.
absl::Status Mirror(const std::string& from, const std::string& to, const std::string& name) {
  const std::string source = JoinPath(from, name), target = JoinPath(to, name);
  EST_ASSIGN_OR_RETURN(const bool exists, Exists(source));
  return exists ? CopyFile(source, target) : RemoveIfThere(target);
}

// Keeps the graphs of a SavedModel in the folder, and makes its variables the first checkpoint.
absl::Status KeepSavedModel(const std::string& folder, const std::string& saved_model) {
  EST_RETURN_IF_ERROR(StartFromSavedModel(saved_model, folder));
  const std::string kept = JoinPath(folder, kImportedSavedModelName);
  if (kept != saved_model) {
    EST_RETURN_IF_ERROR(CreateDirectories(kept));
    EST_RETURN_IF_ERROR(Mirror(saved_model, kept, "saved_model.pb"));
    EST_RETURN_IF_ERROR(Mirror(saved_model, kept, "saved_model.pbtxt"));
  }
  return RemoveIfThere(JoinPath(folder, kImportedGraphName));
}

}  // namespace

absl::StatusOr<std::string> FindGraph(StringArg model_dir, StringArg meta, StringArg saved_model) {
  if (!meta.empty() && !saved_model.empty()) {
    return InvalidArgument(
        "--meta and --saved_model are both given, but there can be one graph only");
  }
  if (!saved_model.empty()) {
    if (HoldsSavedModel(saved_model)) return std::string(saved_model);
    return Annotate(NoSavedModel(saved_model), "--saved_model");
  }
  if (!meta.empty()) {
    if (!absl::EndsWith(meta, kExtension)) {
      return InvalidArgument("--meta must be a file such as model.ckpt-1000.meta, given ",
                             absl::string_view(meta));
    }
    if (FileExists(meta)) return std::string(meta);
    return NotFound("--meta: there is no file ", absl::string_view(meta));
  }
  if (model_dir.empty()) {
    return InvalidArgument(
        "--model_dir=DIR must be given, a folder that TensorFlow's Estimator wrote, or "
        "--meta=FILE, a graph in it, or --saved_model=DIR, a SavedModel with its training");
  }
  if (!IsDirectory(model_dir)) {
    return NotFound("--model_dir: there is no folder ", absl::string_view(model_dir));
  }
  const std::string kept = JoinPath(model_dir, kImportedGraphName);
  if (FileExists(kept)) return kept;
  const std::string kept_model = JoinPath(model_dir, kImportedSavedModelName);
  if (HoldsSavedModel(kept_model)) return kept_model;
  EST_ASSIGN_OR_RETURN(const std::vector<std::string> names, ListDirectory(model_dir));
  std::pair<int64_t, std::string> newest = {-1, ""};
  for (const std::string& name : names) newest = std::max(newest, {StepOf(name), name});
  if (newest.first >= 0) return JoinPath(model_dir, newest.second);
  return NotFound(
      "--model_dir: ", absl::string_view(model_dir),
      " has no model.ckpt-N.meta. TensorFlow writes one with each checkpoint, unless the program "
      "set checkpoint_save_graph_def=False or write_meta_graph=False; a graph with another name "
      "is given as --meta=FILE, and a SavedModel as --saved_model=DIR");
}

absl::Status PrepareFolder(StringArg model_dir, StringArg graph_path) {
  const std::string folder(model_dir), graph(graph_path);
  EST_RETURN_IF_ERROR(CreateDirectories(folder));
  if (IsDirectory(graph)) return KeepSavedModel(folder, graph);
  EST_ASSIGN_OR_RETURN(const std::optional<std::string> newest, LatestCheckpoint(folder));
  if (!newest) {
    const std::string prefix(absl::StripSuffix(graph, kExtension));
    if (CheckpointModifiedTimeSeconds(prefix) == 0) {
      return NotFound(
          folder, " has no checkpoint, and there is none beside ", graph, " either (", prefix,
          ".index): training would begin with other values; pass --model_dir=DIR, a folder with "
          "checkpoints of this graph");
    }
    EST_RETURN_IF_ERROR(CheckCheckpoint(prefix));
    EST_RETURN_IF_ERROR(CopyCheckpoint(prefix, folder, Basename(prefix)));
    LOG(INFO) << "copied the checkpoint " << prefix << " to " << folder;
  }
  const std::string kept = JoinPath(folder, kImportedGraphName);
  if (kept != graph) EST_RETURN_IF_ERROR(CopyFile(graph, kept));
  const std::string kept_model = JoinPath(folder, kImportedSavedModelName);
  EST_RETURN_IF_ERROR(RemoveIfThere(JoinPath(kept_model, "saved_model.pb")));
  return RemoveIfThere(JoinPath(kept_model, "saved_model.pbtxt"));
}

}  // namespace estimator
