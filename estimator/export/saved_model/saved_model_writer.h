// Writes SavedModels in the form of TensorFlow 1's Estimator, which both tf.compat.v1.saved_model
// and tf.saved_model.load of TF 2.15 read:
//
//   DIR/saved_model.pb (or .pbtxt)              the graphs, by tags, with their signatures
//   DIR/variables/variables.index, .data-00000-of-00001   a checkpoint of the variables
//   DIR/assets/, DIR/assets.extra/              files that the graphs name; files that come along
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
inline constexpr char kTpuTag[] = "tpu";

// The graph of one mode. Resource variables, unless the graph trains: optimizers' rules take
// references. Local variables get an initializer that the loader runs (`saved_model_main_op`).
proto::MetaGraphDef MakeMetaGraph(const ExportGraphDef& model,
                                  const std::vector<std::string>& tags);

struct SavedModelContents {
  std::vector<proto::MetaGraphDef> meta_graphs = {};
  const VariableStore* variables = nullptr;  // all of them are saved
  // Files that go to assets/, named by a string constant of every graph.
  std::vector<std::string> assets = {};
  // Path under assets.extra/ -> file that is copied there.
  std::map<std::string, std::string> assets_extra = {};
  bool as_text = false;
  // Of saved_model.pb. For tests.
  size_t max_bytes = kMaxMessageBytes;
};

// Writes into `dir`, which is made. Errors: of the file system; INVALID_ARGUMENT for a path under
// assets.extra that leaves it; RESOURCE_EXHAUSTED, before anything is written, if the graphs are
// larger than protobuf takes, with the largest constant and the cure.
absl::Status WriteSavedModel(const std::string& dir, const SavedModelContents& contents);

// For tests: the time and the waiting.
struct ExportClock {
  std::function<int64_t()> now_secs = nullptr;  // since 1970; none: the system's
  std::function<void()> wait_a_second = nullptr;
};

// Makes the folder BASE/temp-SECS, calls `write` with it, and renames it to BASE/SECS, which is
// returned: a server that watches BASE never sees half a model. Where one of both names is taken,
// by an export of the same second, perhaps of another process, waits for the next one, ten times.
// Errors: those of `write`, and the temporary folder is gone; ABORTED if no name was free; of the
// file system. Touches no folder that another export has made.
// Source: TF 2.15 export_utils.get_timestamped_export_dir.
absl::StatusOr<std::string> WriteTimestampedExport(
    const std::string& base, const std::function<absl::Status(const std::string& dir)>& write,
    const ExportClock& clock = {});

}  // namespace estimator

#endif  // ESTIMATOR_EXPORT_SAVED_MODEL_SAVED_MODEL_WRITER_H_
