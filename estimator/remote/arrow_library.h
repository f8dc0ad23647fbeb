// Loads Apache Arrow, which tools/get_arrow.sh installs. Programs are built without it.
#ifndef ESTIMATOR_REMOTE_ARROW_LIBRARY_H_
#define ESTIMATOR_REMOTE_ARROW_LIBRARY_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <string>

#include "estimator/base/string_arg.h"
#include "estimator/remote/shim/arrow_shim.h"

namespace estimator {

// Where the library is: $ESTIMATOR_ARROW_LIBRARY, else where tools/get_arrow.sh installs it, in the
// user's cache.
std::string ArrowLibraryPath();

// The functions of the library, which is loaded by the first call and stays loaded.
// Errors: FAILED_PRECONDITION with the command that installs it; if it was made for another version
// of this code.
absl::StatusOr<const EstArrowShim*> LoadArrow();

// The same for a library that is not installed, for tests.
absl::StatusOr<const EstArrowShim*> LoadArrowFrom(const std::string& library);

// The error with its code: "cannot <verb> <path>: <the store's message>". OK for null. Frees it.
absl::Status FromArrow(const EstArrowShim& shim, EstArrowError* error, StringArg verb,
                       StringArg path);

}  // namespace estimator

#endif  // ESTIMATOR_REMOTE_ARROW_LIBRARY_H_
