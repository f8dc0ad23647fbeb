// The arguments of the saved_model tool's commands: a model's folder, inputs, outputs.
#ifndef TOOLS_SAVED_MODEL_ARGUMENTS_H_
#define TOOLS_SAVED_MODEL_ARGUMENTS_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/data/pipeline/element.h"
#include "estimator/export/signature/saved_signature.h"

namespace estimator {

// Returns `dir` if it contains a SavedModel or is a .meta file. Else `dir` is a folder of exports;
// returns the newest, which is the subfolder whose name is the largest number.
// Errors: NOT_FOUND; the message says what is there and what to pass instead.
absl::StatusOr<std::string> FindSavedModel(const std::string& dir);

// Parses "x=x.npy;examples=in.tfrecord" to a map from input to file.
// Errors: INVALID_ARGUMENT naming the part that is not NAME=FILE, or a name that occurs twice.
absl::StatusOr<std::map<std::string, std::string>> ParseInputFiles(absl::string_view text);

// Reads each file: the array of a .npy file, the array NAME of FILE.npz[NAME], the only array of a
// .npz file, or the records of a .tfrecord file as string [records].
// Errors: INVALID_ARGUMENT for another file extension; those of the files, naming the input.
absl::StatusOr<ArrayMap> ReadInputs(const std::map<std::string, std::string>& files);

// Converts inputs to the dtypes of a signature where that is meant: between kinds of float, because
// NumPy makes float64 by default, and between other numbers if no value changes. Other inputs stay,
// and Predict refuses them. saved_model_cli converts all.
void ConvertInputs(const std::map<std::string, SavedTensor>& wanted, ArrayMap& inputs);

// Returns the file of an output: OUTDIR/NAME.npy.
// Errors: INVALID_ARGUMENT for a path outside of the folder, because the names come from the model,
// which may be malicious.
absl::StatusOr<std::string> OutputPath(absl::string_view outdir, absl::string_view name);

}  // namespace estimator

#endif  // TOOLS_SAVED_MODEL_ARGUMENTS_H_
