// TrainLength: how long a call of Train trains.
#ifndef ESTIMATOR_TRAINING_LOOP_TRAIN_LENGTH_H_
#define ESTIMATOR_TRAINING_LOOP_TRAIN_LENGTH_H_

#include <cstdint>
#include <limits>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/base/saturating.h"
#include "estimator/base/status.h"
#include "estimator/training/hooks/period.h"

namespace estimator {

// `value` steps more than the current global_step.
struct Steps {
  explicit Steps(int64_t steps) : value(steps) {}
  int64_t value;
};
// Until global_step is `value`. If it already is, Train does nothing.
struct MaxSteps {
  explicit MaxSteps(int64_t steps) : value(steps) {}
  int64_t value;
};

// As MaxSteps, of the steps that read this many epochs, rounded up. Not in TensorFlow.
struct MaxEpochs {
  explicit MaxEpochs(double epochs) : value(epochs) {}
  double value;
};
// As MaxSteps, of the steps that read this many examples, rounded up. Not in TensorFlow.
struct MaxExamples {
  explicit MaxExamples(int64_t examples) : value(examples) {}
  int64_t value;
};

// Steps(100), MaxSteps(1000), MaxEpochs(3) or MaxExamples(1000000). By default, training ends with
// the input.
class TrainLength {
 public:
  TrainLength() = default;
  TrainLength(Steps steps) : steps_(steps.value) {}  // NOLINT: Train(input_fn, Steps(100))
  TrainLength(MaxSteps max_steps) : max_steps_(max_steps.value) {}     // NOLINT
  TrainLength(MaxEpochs max) : max_(Period::Epochs(max.value)) {}      // NOLINT
  TrainLength(MaxExamples max) : max_(Period::Examples(max.value)) {}  // NOLINT

  // Whether the length depends on the sizes of the input. Resolve then makes it one in steps.
  bool needs_sizes() const { return max_.has_value(); }
  // Errors: those of Period::ToSteps.
  absl::StatusOr<TrainLength> Resolve(const InputSizes& sizes) const {
    if (!max_.has_value()) return *this;
    EST_ASSIGN_OR_RETURN(const int64_t steps, max_->ToSteps(sizes));
    return TrainLength(MaxSteps(steps));
  }

  std::optional<int64_t> steps() const { return steps_; }
  std::optional<int64_t> max_steps() const { return max_steps_; }
  bool until_end() const { return !steps_ && !max_steps_ && !max_; }
  // The global step at which training that starts at `start` stops.
  int64_t TargetFrom(int64_t start) const {
    if (steps_) return SaturatingAdd(start, *steps_);
    return max_steps_.value_or(std::numeric_limits<int64_t>::max());
  }
  absl::Status Validate() const {
    if (steps_ && *steps_ <= 0) return InvalidArgument("Must specify steps > 0, given: ", *steps_);
    if (max_steps_ && *max_steps_ <= 0) {
      return InvalidArgument("Must specify max_steps > 0, given: ", *max_steps_);
    }
    return absl::OkStatus();
  }

 private:
  std::optional<int64_t> steps_;
  std::optional<int64_t> max_steps_;
  std::optional<Period> max_;  // in epochs or examples
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_LOOP_TRAIN_LENGTH_H_
