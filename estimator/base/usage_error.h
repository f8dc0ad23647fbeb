// The error of a command line: what the user typed cannot be done, so a program exits with 2 for it
// (main.h), where it exits with 1 for what went wrong while it ran.
#ifndef ESTIMATOR_BASE_USAGE_ERROR_H_
#define ESTIMATOR_BASE_USAGE_ERROR_H_

#include <absl/status/status.h>
#include <absl/strings/string_view.h>

namespace estimator {

// INVALID_ARGUMENT, marked.
absl::Status UsageError(absl::string_view message);

// The same status, marked; OK stays OK.
absl::Status AsUsageError(absl::Status status);

// Whether it is marked; with another message (Annotate) it still is.
bool IsUsageError(const absl::Status& status);

}  // namespace estimator

#endif  // ESTIMATOR_BASE_USAGE_ERROR_H_
