// The checkpoints of a Trainer.
#include <functional>
#include <string>

#include "estimator/base/status.h"
#include "estimator/training/loop/epoch_loop.h"
#include "estimator/training/loop/trainer.h"

namespace estimator {

absl::StatusOr<std::string> Trainer::SaveCheckpoint(
    TrainCheckpoints::When when, const std::function<absl::Status(const std::string&)>& committed) {
  std::string epochs;
  if (epochs_ != nullptr) {
    EST_ASSIGN_OR_RETURN(epochs, epochs_->SaveState());
  }
  EST_ASSIGN_OR_RETURN(std::string prefix, checkpoints_.Save({.model = *main_->model,
                                                              .variables = state_,
                                                              .input_position = input_position_,
                                                              .epochs = epochs},
                                                             when, committed));
  state_.set_checkpoint(prefix);
  return prefix;
}

absl::Status Trainer::FinishCheckpoint() { return CheckSaved(checkpoints_.Finish()); }

absl::Status Trainer::CheckSaved(const absl::Status& saved) {
  // The checkpoint was taken to be written. Without it, the variables have the values of none.
  if (!saved.ok()) state_.MarkChanged();
  return saved;
}

}  // namespace estimator
