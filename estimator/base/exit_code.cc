#include "estimator/base/exit_code.h"

#include <absl/strings/cord.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>

#include <string>

namespace estimator {
namespace {

constexpr absl::string_view kExitCode = "estimator/exit_code";

}  // namespace

absl::Status WithExitCode(absl::Status status, int exit_code) {
  status.SetPayload(kExitCode, absl::Cord(absl::StrCat(exit_code)));
  return status;
}

std::optional<int> ExitCodeOf(const absl::Status& status) {
  const auto payload = status.GetPayload(kExitCode);
  int exit_code = 0;
  if (!payload.has_value() || !absl::SimpleAtoi(std::string(*payload), &exit_code)) {
    return std::nullopt;
  }
  return exit_code;
}

absl::Status FinishedEarly(StringArg message) {
  return WithExitCode(absl::CancelledError(message), 0);
}

bool IsFinishedEarly(const absl::Status& status) { return ExitCodeOf(status) == 0; }

}  // namespace estimator
