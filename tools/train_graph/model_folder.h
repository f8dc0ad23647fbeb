// The folder in which an imported graph trains. TensorFlow's graph is kept in it as
// imported_graph.meta: later checkpoints replace the .meta files that TensorFlow wrote.
#ifndef TOOLS_TRAIN_GRAPH_MODEL_FOLDER_H_
#define TOOLS_TRAIN_GRAPH_MODEL_FOLDER_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/base/string_arg.h"

namespace estimator {

inline constexpr char kImportedGraphName[] = "imported_graph.meta";

// The .meta file to import: `meta`, or if that is empty imported_graph.meta of the folder, or the
// folder's model.ckpt-N.meta with the largest N.
// Errors: NOT_FOUND if there is none; INVALID_ARGUMENT if `meta` is not a .meta file, or if both
// are empty.
absl::StatusOr<std::string> FindGraph(StringArg model_dir, StringArg meta);

// Prepares a folder for training with the graph of `meta`. It copies the file to
// imported_graph.meta. If the folder has no checkpoint, it copies the one beside `meta` too, and
// the folder of `meta` stays as it is.
// Errors: NOT_FOUND if neither the folder nor that of `meta` has a checkpoint; those of files.
absl::Status PrepareFolder(StringArg model_dir, StringArg meta);

}  // namespace estimator

#endif  // TOOLS_TRAIN_GRAPH_MODEL_FOLDER_H_
