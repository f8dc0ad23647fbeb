#include "estimator/training/open_input.h"

#include "estimator/base/status.h"

namespace estimator {

absl::StatusOr<const StepInput*> OpenInput::Peek() {
  if (!peeked_.has_value()) {
    EST_ASSIGN_OR_RETURN(std::string state, feeder_->SaveState());
    EST_ASSIGN_OR_RETURN(peeked_, feeder_->Next());
    state_before_peeked_ = std::move(state);
  }
  return peeked_.has_value() ? &*peeked_ : nullptr;
}

absl::StatusOr<std::optional<StepInput>> OpenInput::Next() {
  if (peeked_.has_value()) return std::exchange(peeked_, std::nullopt);
  return feeder_->Next();
}

absl::StatusOr<std::string> OpenInput::SaveState() {
  if (peeked_.has_value()) return state_before_peeked_;
  return feeder_->SaveState();
}

absl::Status OpenInput::RestoreState(absl::string_view state) {
  EST_RETURN_IF_ERROR(feeder_->RestoreState(state));
  peeked_.reset();
  return absl::OkStatus();
}

}  // namespace estimator
