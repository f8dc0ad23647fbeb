// OpenInput: the open input of a run, of which the first step may be looked at before it is used.
#ifndef ESTIMATOR_TRAINING_INPUT_OPEN_INPUT_H_
#define ESTIMATOR_TRAINING_INPUT_OPEN_INPUT_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/training/input/step_input.h"

namespace estimator {

// Used by one thread at a time.
class OpenInput {
 public:
  explicit OpenInput(std::unique_ptr<Feeder> feeder) : feeder_(std::move(feeder)) {}

  // The next step, without using it up; null at the end. Valid until the next call of anything
  // here. An error comes again with every call of Peek and Next, until RestoreState.
  absl::StatusOr<const StepInput*> Peek();
  absl::StatusOr<std::optional<StepInput>> Next();
  // The step that Next gave last was not used after all: SaveState tells its position, until the
  // next call of Next. (Next itself goes on behind it.)
  void MarkLastUnused() { use_last_position_ = true; }
  // The position of the next step that Next will give, whether or not it was looked at. After an
  // error of the input: the position of the step that could not be read.
  absl::StatusOr<std::string> SaveState();
  absl::Status RestoreState(absl::string_view state);
  std::string Describe() const { return feeder_->Describe(); }

 private:
  absl::StatusOr<std::optional<StepInput>> Read();

  const std::unique_ptr<Feeder> feeder_;
  std::optional<StepInput> peeked_;
  absl::Status error_;  // of the step that failed; no other one comes in its place
  std::string
      last_position_;  // of the step that Next gave last, or that Peek looked at, or that failed
  bool use_last_position_ = false;
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_INPUT_OPEN_INPUT_H_
