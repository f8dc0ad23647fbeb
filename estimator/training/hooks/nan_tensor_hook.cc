#include "estimator/training/hooks/nan_tensor_hook.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "glog/logging.h"

namespace estimator {

namespace {

// The payload of a status marks the error.
constexpr char kNotFinite[] = "estimator/not_finite";

}  // namespace

bool IsNotFinite(const absl::Status& status) { return status.GetPayload(kNotFinite).has_value(); }

absl::Status NanTensorHook::AfterRun(RunContext& context, const RunValues& values) {
  const double loss = values.results[0].AsDouble();
  if (std::isfinite(loss)) return absl::OkStatus();
  const std::string message =
      absl::StrCat(std::isnan(loss) ? "NaN" : "Inf", " loss during training, at step ",
                   values.global_step + 1, ": ", context.session().FirstNonFiniteTensor(),
                   ", the first tensor that is not finite. The variables have their values from "
                   "before this step. Usual cures are a smaller learning rate, gradient clipping, "
                   "or a correction of this batch's input");
  if (fail_on_nan_loss_) {
    absl::Status status = InvalidArgument(message);
    status.SetPayload(kNotFinite, absl::Cord());
    return status;
  }
  LOG(WARNING) << message << ". Training stops.";
  context.RequestStop();
  return absl::OkStatus();
}

}  // namespace estimator
