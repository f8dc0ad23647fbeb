#include "estimator/base/usage_error.h"

#include <absl/strings/cord.h>

#include "estimator/base/status.h"

namespace estimator {
namespace {

constexpr absl::string_view kUsageError = "estimator/usage_error";

}  // namespace

absl::Status UsageError(StringArg message) { return AsUsageError(InvalidArgument(message)); }

absl::Status AsUsageError(absl::Status status) {
  status.SetPayload(kUsageError, absl::Cord());
  return status;
}

bool IsUsageError(const absl::Status& status) { return status.GetPayload(kUsageError).has_value(); }

}  // namespace estimator
