// StepRange: the steps that --profile_steps=A,B names.
#ifndef ESTIMATOR_TRAINING_HOOKS_STEP_RANGE_H_
#define ESTIMATOR_TRAINING_HOOKS_STEP_RANGE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/base/string_arg.h"

namespace estimator {

// The steps from `first` to `last`, both included. Step 1 is the first step of a training.
struct StepRange {
  int64_t first = 1;
  int64_t last = 1;

  // "10,20" is {10, 20}; "10" is {10, 10}.
  // Errors: INVALID_ARGUMENT for another text, or for a range that Validate refuses.
  static absl::StatusOr<StepRange> Parse(StringArg text);

  // Errors: INVALID_ARGUMENT unless 1 <= first <= last. `what` names the option in the message.
  absl::Status Validate(absl::string_view what) const;
  // Whether a step of a run from global_step `before` to global_step `after` is in the range.
  bool Overlaps(int64_t before, int64_t after) const { return after >= first && before < last; }
  std::string ToString() const;  // "10,20"
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_HOOKS_STEP_RANGE_H_
