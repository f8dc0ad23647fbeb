// NumPy's archive of several arrays, .npz: numpy.savez and numpy.savez_compressed write it. It is a
// ZIP file with a member NAME.npy for each array.
//
//   member:     "PK\3\4", 30 bytes, the name, extra fields, the data (stored or deflated)
//   directory:  for each member "PK\1\2", 46 bytes, the name, extra fields, a comment
//   end:        "PK\5\6", 22 bytes with the place of the directory, a comment
// Source: PKWARE's APPNOTE.TXT, sections 4.3.7, 4.3.12 and 4.3.16. Sizes from 4 GiB on (ZIP64) and
// encrypted members are not read.
#ifndef TOOLS_SAVED_MODEL_NPZ_H_
#define TOOLS_SAVED_MODEL_NPZ_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/array/array.h"

namespace estimator {

// Reads the array `name` of a file; "": the only array.
// Errors: NOT_FOUND with the names that are there; INVALID_ARGUMENT if the file is no archive, or
// if no name chooses among several arrays; DATA_LOSS if it is damaged; UNIMPLEMENTED for what is
// not read.
absl::StatusOr<Array> LoadNpz(const std::string& path, absl::string_view name);

}  // namespace estimator

#endif  // TOOLS_SAVED_MODEL_NPZ_H_
