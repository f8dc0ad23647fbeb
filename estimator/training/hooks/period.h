// Period: how often something happens, or how long training lasts, in the unit that suits the user.
#ifndef ESTIMATOR_TRAINING_HOOKS_PERIOD_H_
#define ESTIMATOR_TRAINING_HOOKS_PERIOD_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "estimator/base/string_arg.h"
#include "estimator/training/hooks/timer.h"

namespace estimator {

// The sizes that turn epochs and examples into steps.
struct InputSizes {
  int64_t examples_per_step = 0;    // over all replicas; 0: not known
  int64_t examples_per_epoch = -1;  // -1: not known
};

// Not in TensorFlow, whose RunConfig has a field for steps and one for seconds.
class Period {
 public:
  enum class Unit { kSteps, kEpochs, kExamples, kSeconds };

  static Period Steps(int64_t n) { return Period(static_cast<double>(n), Unit::kSteps); }
  static Period Epochs(double n) { return Period(n, Unit::kEpochs); }
  static Period Examples(int64_t n) { return Period(static_cast<double>(n), Unit::kExamples); }
  static Period Seconds(double n) { return Period(n, Unit::kSeconds); }
  // "100 steps", "0.5 epochs", "50000 examples", "600 seconds", "10 minutes" or "2 hours"; "1 step"
  // and "1epoch" too. A number alone is in steps.
  // Errors: INVALID_ARGUMENT that lists the units.
  static absl::StatusOr<Period> Parse(StringArg text);

  double value() const { return value_; }
  Unit unit() const { return unit_; }
  std::string ToString() const;  // "1 epoch"

  // The steps, rounded up.
  // Errors: INVALID_ARGUMENT if the period is not positive or in seconds; FAILED_PRECONDITION if
  // the size of an epoch or of a step is needed and not known.
  absl::StatusOr<int64_t> ToSteps(const InputSizes& sizes) const;
  // As ToSteps, but a period in seconds is one in seconds.
  absl::StatusOr<StepsOrSeconds> ToStepsOrSeconds(const InputSizes& sizes) const;

 private:
  Period(double value, Unit unit) : value_(value), unit_(unit) {}
  absl::Status CheckPositive() const;

  double value_;
  Unit unit_;
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_HOOKS_PERIOD_H_
