// OpenInput: the open input of a run, of which the first step may be looked at before it is used.
#ifndef ESTIMATOR_TRAINING_OPEN_INPUT_H_
#define ESTIMATOR_TRAINING_OPEN_INPUT_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/training/strategy.h"

namespace estimator {

// Used by one thread at a time.
class OpenInput {
 public:
  explicit OpenInput(std::unique_ptr<Feeder> feeder) : feeder_(std::move(feeder)) {}

  // The next step, without using it up; null at the end. Valid until the next call of anything here.
  absl::StatusOr<const StepInput*> Peek();
  absl::StatusOr<std::optional<StepInput>> Next();
  // The position of the next step that Next will give, whether or not it was looked at.
  absl::StatusOr<std::string> SaveState();
  absl::Status RestoreState(absl::string_view state);
  std::string Describe() const { return feeder_->Describe(); }

 private:
  const std::unique_ptr<Feeder> feeder_;
  std::optional<StepInput> peeked_;
  std::string state_before_peeked_;
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_OPEN_INPUT_H_
