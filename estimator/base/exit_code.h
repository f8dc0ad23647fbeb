// Gives a status the exit code of the program that returns it from Main (main.h).
#ifndef ESTIMATOR_BASE_EXIT_CODE_H_
#define ESTIMATOR_BASE_EXIT_CODE_H_

#include <absl/status/status.h>

#include <optional>

#include "estimator/base/string_arg.h"

namespace estimator {

// Another process of a run was lost, so this one ended too. It can be started again.
inline constexpr int kLostPeerExitCode = 3;

// The same status with the exit code. OK stays OK.
absl::Status WithExitCode(absl::Status status, int exit_code);

// The exit code of the status, if it has one. Annotate keeps it.
std::optional<int> ExitCodeOf(const absl::Status& status);

// A CANCELLED status with the exit code 0: it ends a program before its usual work, because
// everything that was asked for is done, such as a report. It is not OK, so a program returns it
// and skips what follows.
absl::Status FinishedEarly(StringArg message);
bool IsFinishedEarly(const absl::Status& status);

}  // namespace estimator

#endif  // ESTIMATOR_BASE_EXIT_CODE_H_
