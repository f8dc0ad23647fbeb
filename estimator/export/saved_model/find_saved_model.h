// Finds SavedModels in the folders that ExportSavedModel and exporters write to.
#ifndef ESTIMATOR_EXPORT_SAVED_MODEL_FIND_SAVED_MODEL_H_
#define ESTIMATOR_EXPORT_SAVED_MODEL_FIND_SAVED_MODEL_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace estimator {

bool HoldsSavedModel(absl::string_view dir);

// Returns the newest export in a folder of exports. Among the subfolders that contain a SavedModel
// and whose names are numbers, it is the one with the largest number. Returns "" if there is none.
std::string NewestExport(absl::string_view dir);

// Returns a NOT_FOUND error for a path that contains no SavedModel. The message says what is there
// and what to pass instead: the newest export below the path, or MakePredictor for a model_dir.
absl::Status NoSavedModel(absl::string_view path);

}  // namespace estimator

#endif  // ESTIMATOR_EXPORT_SAVED_MODEL_FIND_SAVED_MODEL_H_
