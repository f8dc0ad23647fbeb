// Marks a status as an error of the command line. Main (main.h) exits with 2 for it, and with 1 for
// other errors.
#ifndef ESTIMATOR_BASE_USAGE_ERROR_H_
#define ESTIMATOR_BASE_USAGE_ERROR_H_

#include <absl/status/status.h>

#include "estimator/base/string_arg.h"

namespace estimator {

// An INVALID_ARGUMENT status with the mark.
absl::Status UsageError(StringArg message);

// The same status with the mark. OK stays OK.
absl::Status AsUsageError(absl::Status status);

// Whether the status has the mark. Annotate keeps the mark.
bool IsUsageError(const absl::Status& status);

}  // namespace estimator

#endif  // ESTIMATOR_BASE_USAGE_ERROR_H_
