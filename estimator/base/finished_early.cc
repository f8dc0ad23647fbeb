#include "estimator/base/finished_early.h"

#include <absl/strings/cord.h>

namespace estimator {
namespace {

constexpr absl::string_view kFinishedEarly = "estimator/finished_early";

}  // namespace

absl::Status FinishedEarly(StringArg message) {
  absl::Status status = absl::CancelledError(message);
  status.SetPayload(kFinishedEarly, absl::Cord());
  return status;
}

bool IsFinishedEarly(const absl::Status& status) {
  return status.GetPayload(kFinishedEarly).has_value();
}

}  // namespace estimator
