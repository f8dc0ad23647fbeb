#include "estimator/training/input/open_input.h"

#include "estimator/base/status.h"

namespace estimator {

// The position is saved before every step because an iterator that has failed cannot give it. It is
// small, so this costs little.
absl::StatusOr<std::optional<StepInput>> OpenInput::Read() {
  EST_RETURN_IF_ERROR(error_);
  absl::StatusOr<std::string> position = feeder_->SaveState();
  if (position.ok()) last_position_ = *std::move(position);
  absl::StatusOr<std::optional<StepInput>> next = feeder_->Next();
  use_last_position_ = !next.ok();
  error_ = next.status();
  return next;
}

absl::StatusOr<const StepInput*> OpenInput::Peek() {
  if (!peeked_.has_value()) {
    EST_ASSIGN_OR_RETURN(peeked_, Read());
  }
  return peeked_.has_value() ? &*peeked_ : nullptr;
}

absl::StatusOr<std::optional<StepInput>> OpenInput::Next() {
  unused_from_.reset();
  if (!peeked_.has_value()) return Read();
  use_last_position_ = false;
  return std::exchange(peeked_, std::nullopt);
}

absl::StatusOr<std::string> OpenInput::SaveState() {
  if (unused_from_.has_value()) return *unused_from_;
  if (peeked_.has_value() || use_last_position_) return last_position_;
  return feeder_->SaveState();
}

absl::Status OpenInput::RestoreState(absl::string_view state) {
  EST_RETURN_IF_ERROR(feeder_->RestoreState(state));
  peeked_.reset();
  unused_from_.reset();
  error_ = absl::OkStatus();
  use_last_position_ = false;
  return absl::OkStatus();
}

}  // namespace estimator
