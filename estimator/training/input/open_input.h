// OpenInput: the open input of a run. The next step can be looked at before it is used.
#ifndef ESTIMATOR_TRAINING_INPUT_OPEN_INPUT_H_
#define ESTIMATOR_TRAINING_INPUT_OPEN_INPUT_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/training/input/step_input.h"

namespace estimator {

// Used by one thread at a time.
class OpenInput {
 public:
  explicit OpenInput(std::unique_ptr<Feeder> feeder) : feeder_(std::move(feeder)) {}

  // The next step, which the following Next returns; null at the end. Valid until the next call of
  // a method of this class. After an error, Peek and Next return it again until RestoreState.
  absl::StatusOr<const StepInput*> Peek();
  absl::StatusOr<std::optional<StepInput>> Next();
  // Tells that the step that Next returned last was not used. SaveState then returns the position
  // of that step, until the next call of Next. Next still returns the step after it.
  void MarkLastUnused() { use_last_position_ = true; }
  // The position of the step that Next returned last. Valid until the next call of a method.
  const std::string& last_position() const { return last_position_; }
  // The same as MarkLastUnused for several steps: the steps from `position` on, which
  // last_position() told, were not used.
  void MarkUnusedFrom(std::string position) { unused_from_ = std::move(position); }
  // The position of the step that Next will return, whether or not Peek has read it. After an error
  // of the input, the position of the step that could not be read.
  absl::StatusOr<std::string> SaveState();
  absl::Status RestoreState(absl::string_view state);
  const InputDescription& description() const { return feeder_->description(); }
  std::vector<StageTime> StageTimes() const { return feeder_->StageTimes(); }

 private:
  absl::StatusOr<std::optional<StepInput>> Read();

  const std::unique_ptr<Feeder> feeder_;
  std::optional<StepInput> peeked_;
  absl::Status error_;  // of the step that failed; it is not skipped
  // The position of the step that Next returned last, that Peek read, or that failed.
  std::string last_position_;
  bool use_last_position_ = false;
  std::optional<std::string> unused_from_;
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_INPUT_OPEN_INPUT_H_
