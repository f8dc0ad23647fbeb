// Writes SavedModels in the form of TensorFlow 1's Estimator. tf.compat.v1.saved_model and
// tf.saved_model.load of TF 2.15 read them.
//
//   DIR/saved_model.pb (or .pbtxt)                   the graphs, by tags, with their signatures
//   DIR/variables/variables.index                    a checkpoint of the variables
//   DIR/variables/variables.data-00000-of-00001
//   DIR/assets/                                      files that the graphs read by name
//   DIR/assets.extra/                                other files, for users and servers
#ifndef ESTIMATOR_EXPORT_SAVED_MODEL_SAVED_MODEL_WRITER_H_
#define ESTIMATOR_EXPORT_SAVED_MODEL_SAVED_MODEL_WRITER_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/export/saved_model/export_graph_def.h"
#include "estimator/proto/serialize.h"
#include "estimator/runtime/variable_store.h"

namespace estimator {

// On disk: do not change. TensorFlow's tag_constants.
inline constexpr char kServingTag[] = "serve";
inline constexpr char kTrainingTag[] = "train";
inline constexpr char kEvalTag[] = "eval";

// Makes the MetaGraphDef of one mode. It has resource variables, except if the graph trains: the
// update rules of optimizers take references. The loader initializes local variables, by running
// `saved_model_main_op`.
proto::MetaGraphDef MakeMetaGraph(const ExportGraphDef& model,
                                  const std::vector<std::string>& tags);

struct SavedModelContents {
  std::vector<proto::MetaGraphDef> meta_graphs = {};
  const VariableStore* variables = nullptr;  // all its variables are saved
  // Files to copy to assets/. Every graph has a string constant with the path of each.
  std::vector<std::string> assets = {};
  // Path under assets.extra/ -> file to copy there.
  std::map<std::string, std::string> assets_extra = {};
  bool as_text = false;  // true: write saved_model.pbtxt
  // The limit of saved_model.pb. For tests.
  size_t max_bytes = kMaxMessageBytes;
};

// Creates `dir` and writes the SavedModel into it.
// Errors: those of the file system; INVALID_ARGUMENT for a path that is not below assets.extra;
// RESOURCE_EXHAUSTED if the graphs are larger than protobuf allows. The message then names the
// largest constant and the cure, and nothing was written.
absl::Status WriteSavedModel(const std::string& dir, const SavedModelContents& contents);

// For tests: the clock and the wait.
struct ExportClock {
  std::function<int64_t()> now_secs = nullptr;  // since 1970; none: the system's
  std::function<void()> wait_a_second = nullptr;
};

// Creates the folder BASE/temp-SECS, calls `write` with it, renames it to BASE/SECS and returns
// that path. A server that watches BASE therefore never reads an incomplete model. If one of the
// names is taken by an export of the same second, possibly in another process, waits for the next
// second; it tries ten times. Folders of other exports are never changed.
// Errors: those of `write`, after which the temporary folder is removed; ABORTED if no name was
// free; those of the file system.
// Source: TF 2.15 export_utils.get_timestamped_export_dir.
absl::StatusOr<std::string> WriteTimestampedExport(
    const std::string& base, const std::function<absl::Status(const std::string& dir)>& write,
    const ExportClock& clock = {});

}  // namespace estimator

#endif  // ESTIMATOR_EXPORT_SAVED_MODEL_SAVED_MODEL_WRITER_H_
