// The folder in which an imported graph trains. TensorFlow's graph is kept in it as
// imported_graph.meta: later checkpoints replace the .meta files that TensorFlow wrote. The graphs
// of a SavedModel are kept as imported_saved_model/saved_model.pb, without the variables.
#ifndef TOOLS_TRAIN_GRAPH_MODEL_FOLDER_H_
#define TOOLS_TRAIN_GRAPH_MODEL_FOLDER_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/base/string_arg.h"

namespace estimator {

inline constexpr char kImportedGraphName[] = "imported_graph.meta";
inline constexpr char kImportedSavedModelName[] = "imported_saved_model";

// What to import: `meta` or `saved_model` if one of them is given. Else the graph that the folder
// keeps: imported_graph.meta or imported_saved_model. Else its model.ckpt-N.meta with the largest
//   N.
// Errors: NOT_FOUND if there is none; INVALID_ARGUMENT if `meta` is not a .meta file, if `meta` and
// `saved_model` are both given, or if all are empty.
absl::StatusOr<std::string> FindGraph(StringArg model_dir, StringArg meta,
                                      StringArg saved_model = "");

// Prepares a folder for training with `graph`, a .meta file or the folder of a SavedModel. It keeps
// a copy of the graph, in place of one that it kept before. If the folder has no checkpoint, it
// copies the one beside the .meta file or the SavedModel's variables. The source stays as it is.
// Errors: NOT_FOUND if neither the folder nor the source has a checkpoint; those of files.
absl::Status PrepareFolder(StringArg model_dir, StringArg graph);

}  // namespace estimator

#endif  // TOOLS_TRAIN_GRAPH_MODEL_FOLDER_H_
