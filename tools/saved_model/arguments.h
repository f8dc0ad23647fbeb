// What the commands of the saved_model tool are given: a model's folder, inputs.
#ifndef TOOLS_SAVED_MODEL_ARGUMENTS_H_
#define TOOLS_SAVED_MODEL_ARGUMENTS_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/data/pipeline/element.h"

namespace estimator {

// `dir`, if it holds a SavedModel, or is a .meta file; else the newest export of the folder that
// exports stand in: of the folders below it whose names are numbers, the largest.
// Errors: NOT_FOUND saying what is there instead and what to pass.
absl::StatusOr<std::string> FindSavedModel(const std::string& dir);

// "x=x.npy;examples=in.tfrecord": file by input.
// Errors: INVALID_ARGUMENT naming the part that is not NAME=FILE, or a name that stands twice.
absl::StatusOr<std::map<std::string, std::string>> ParseInputFiles(absl::string_view text);

// The array of each file: a .npy file, or the records of a .tfrecord file as string [records].
// Errors: INVALID_ARGUMENT for another ending; of the files, naming the input.
absl::StatusOr<ArrayMap> ReadInputs(const std::map<std::string, std::string>& files);

// Where an output goes: OUTDIR/NAME.npy. Errors: INVALID_ARGUMENT for a name that leads out of the
// folder: names are the choice of whoever made the model.
absl::StatusOr<std::string> OutputPath(absl::string_view outdir, absl::string_view name);

}  // namespace estimator

#endif  // TOOLS_SAVED_MODEL_ARGUMENTS_H_
