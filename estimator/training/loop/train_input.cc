#include "estimator/training/loop/train_input.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/checkpoint/bundle/bundle_format.h"
#include "estimator/checkpoint/input_file.h"
#include "estimator/training/input/host_positions.h"
#include "estimator/training/input/prefetch_steps.h"
#include "glog/logging.h"

namespace estimator {

absl::StatusOr<const StepInput*> TrainInput::First(const InputFn& input_fn,
                                                   const Position& position) {
  // The open input may be read on only if the variables in memory continue too. After a restore,
  // the position of the checkpoint counts.
  bool moved = input_ != nullptr && identity_ == input_fn.identity() &&
               position.memory != MemoryState::kOther;
  if (moved) {
    gate_->Open();
  } else {
    EST_RETURN_IF_ERROR(OpenAtStart(input_fn));
    if (position.memory != MemoryState::kAhead && !position.checkpoint.empty()) {
      EST_ASSIGN_OR_RETURN(moved, Restore(position.checkpoint));
    }
  }
  EST_ASSIGN_OR_RETURN(const StepInput* first, input_->Peek());
  if (first != nullptr || !moved) return first;
  // Programs that train one epoch per call rely on this.
  LOG(INFO) << "An earlier call read the input to its end; it begins again";
  EST_RETURN_IF_ERROR(OpenAtStart(input_fn));
  return input_->Peek();
}

void TrainInput::Pause() {
  if (gate_ != nullptr) gate_->Pause();
}

void TrainInput::Close() {
  // The thread that reads ahead may wait at the gate, and the destructor of the input joins it.
  if (gate_ != nullptr) gate_->Close();
  input_ = nullptr;
  gate_ = nullptr;
}

absl::Status TrainInput::OpenAtStart(const InputFn& input_fn) {
  Close();
  const auto gate = std::make_shared<ReadGate>();
  // Shuffles without a seed take it while input_fn builds the pipeline. Other threads are not
  // affected.
  SetDefaultSeed(seed_);
  absl::StatusOr<std::unique_ptr<Feeder>> feeder = strategy_.OpenInput(
      Mode::kTrain, PrefetchSteps(input_fn, strategy_.batch_size(Mode::kTrain), gate));
  SetDefaultSeed(std::nullopt);
  if (!feeder.ok()) return feeder.status();
  gate_ = gate;
  input_ = *std::move(feeder);
  identity_ = input_fn.identity();
  return absl::OkStatus();
}

absl::Status TrainInput::RestorePart(const std::string& position) {
  EST_ASSIGN_OR_RETURN(const std::vector<std::string> parts, SplitHostPositions(position));
  if (parts.size() == static_cast<size_t>(peers_.size()))
    return input_->Restore(parts[static_cast<size_t>(peers_.rank())]);
  const absl::StatusOr<int64_t> batches =
      BatchesBefore(parts, input_->description().pipeline, peers_.size());
  if (!batches.ok()) {
    return Annotate(batches.status(),
                    absl::StrCat("the run had ", parts.size(), " processes that train, and has ",
                                 peers_.size(), " now"));
  }
  LOG(INFO) << "The input continues after the examples that " << parts.size()
            << " processes have read; this process skips " << *batches << " batches";
  return input_->Skip(*batches);
}

// Moves the input to the checkpoint's position. Returns false if the checkpoint has no position for
// this input; the input then stays at its beginning.
absl::StatusOr<bool> TrainInput::Restore(const std::string& checkpoint) {
  const std::string path = InputStatePath(checkpoint);
  EST_ASSIGN_OR_RETURN(const bool saved_input, Exists(path));
  if (!saved_input) {  // a checkpoint of TensorFlow's, or a deleted file
    LOG(INFO) << "The input starts at its beginning: there is no " << path;
    return false;
  }
  EST_ASSIGN_OR_RETURN(const InputFile saved, ReadInputFile(checkpoint));
  const absl::Status restored = RestorePart(saved.state);
  // Other data is an error by default, and another pipeline over the same data only a warning: a
  // changed batch size is common.
  const bool other_data = absl::IsFailedPrecondition(restored);
  if (other_data || absl::IsInvalidArgument(restored)) {
    using OnInputChange = RunConfig::OnInputChange;
    const OnInputChange what =
        on_change_.value_or(other_data ? OnInputChange::kFail : OnInputChange::kRestart);
    if (what == OnInputChange::kFail) {
      return FailedPrecondition(
          path, ": ", restored.message(), ". Give the same input again, or another model_dir. To ",
          "continue with the input at its beginning on purpose, set on_input_change to restart");
    }
    LOG(WARNING) << "The input starts at its beginning: " << path
                 << " is the position of another input (" << restored.message() << ")";
    return false;
  }
  if (!restored.ok()) {
    return absl::Status(
        restored.code(),
        absl::StrCat(path, ": ", restored.message(), ". The variables of ", Basename(checkpoint),
                     " are not affected: delete ", path, " to continue from step ",
                     StepOfPrefix(checkpoint), " with the input at its beginning"));
  }
  return true;
}

}  // namespace estimator
