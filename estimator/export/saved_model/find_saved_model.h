// Where SavedModels stand: the folders that ExportSavedModel and exporters write to.
#ifndef ESTIMATOR_EXPORT_SAVED_MODEL_FIND_SAVED_MODEL_H_
#define ESTIMATOR_EXPORT_SAVED_MODEL_FIND_SAVED_MODEL_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace estimator {

bool HoldsSavedModel(absl::string_view dir);

// The newest export in the folder that exports stand in: of the folders below it whose names are
// numbers and that hold a SavedModel, the largest. "" if there is none.
std::string NewestExport(absl::string_view dir);

// NOT_FOUND for a path that holds no SavedModel: what is there instead, and what to pass: the
// newest export in it or below it; MakePredictor for a model_dir.
absl::Status NoSavedModel(absl::string_view path);

}  // namespace estimator

#endif  // ESTIMATOR_EXPORT_SAVED_MODEL_FIND_SAVED_MODEL_H_
