// NumPy's archive of several arrays, .npz: numpy.savez and numpy.savez_compressed write it. It is a
// ZIP file with a member NAME.npy for each array.
#ifndef TOOLS_SAVED_MODEL_NPZ_H_
#define TOOLS_SAVED_MODEL_NPZ_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/array/array.h"

namespace estimator {

// Reads the array `name` of a file; "": the only array.
// Errors: NOT_FOUND with the names that are there; INVALID_ARGUMENT if there is no array, or if no
// name chooses among several; those of ReadZipFile (checkpoint/keras/zip_file.h) and ParseNpy.
absl::StatusOr<Array> LoadNpz(const std::string& path, absl::string_view name);

}  // namespace estimator

#endif  // TOOLS_SAVED_MODEL_NPZ_H_
