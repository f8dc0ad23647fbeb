#include "estimator/training/model/start_checkpoint.h"

#include "estimator/base/path.h"
#include "estimator/base/status.h"

namespace estimator {

absl::StatusOr<CheckpointChoice> CheckpointOfChief(Peers& peers, const std::string& model_dir,
                                                   absl::StatusOr<CheckpointChoice> mine) {
  absl::StatusOr<std::string> sent = "";
  if (!mine.ok()) {
    sent = mine.status();
  } else {
    sent = Dirname(mine->prefix) == model_dir ? std::string(Basename(mine->prefix)) : mine->prefix;
  }
  EST_ASSIGN_OR_RETURN(const std::string name, peers.FromChief("the checkpoint", sent));
  const bool is_in_model_dir = !name.empty() && name.find('/') == std::string::npos;
  mine->prefix = is_in_model_dir ? JoinPath(model_dir, name) : name;
  return mine;
}

absl::StatusOr<CheckpointChoice> StartCheckpoint::Choose(
    const std::optional<std::string>& checkpoint_path) {
  if (checkpoint_path.has_value()) {
    EST_RETURN_IF_ERROR(Annotate(CheckCheckpoint(*checkpoint_path), "checkpoint_path"));
    return CheckpointChoice{.by = CheckpointChoice::By::kCaller, .prefix = *checkpoint_path};
  }
  EST_ASSIGN_OR_RETURN(const std::optional<std::string> newest, newest_.Find());
  return CheckpointChoice{.by = CheckpointChoice::By::kNewest, .prefix = newest.value_or("")};
}

absl::StatusOr<std::string> StartCheckpoint::Start(
    CheckpointChoice choice, const std::function<absl::Status(CheckpointAttempt&)>& start) {
  while (true) {
    CheckpointAttempt attempt(choice.prefix);
    const absl::Status status = start(attempt);
    if (status.ok()) return choice.prefix;
    if (choice.by == CheckpointChoice::By::kCaller ||
        !newest_.PassOver(choice.prefix, attempt.read()))
      return status;
    EST_ASSIGN_OR_RETURN(choice, Choose());
    // Somebody deletes the checkpoints: first values would take the place of trained ones.
    if (choice.prefix.empty()) return status;
  }
}

}  // namespace estimator
