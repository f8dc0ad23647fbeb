// iterations_per_loop: the number of steps of a loop, or the time that a loop should take.
#ifndef TPU_ITERATIONS_PER_LOOP_H_
#define TPU_ITERATIONS_PER_LOOP_H_

#include <concepts>
#include <cstdint>
#include <deque>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "estimator/base/string_arg.h"

namespace estimator::tpu {

// Converts from 50 or "50" (steps), and from "30s", "10m" or "1h" (time).
class IterationsPerLoop {
 public:
  IterationsPerLoop(int64_t steps);  // NOLINT: {.iterations_per_loop = 50}
  IterationsPerLoop(int steps) : IterationsPerLoop(static_cast<int64_t>(steps)) {}  // NOLINT
  template <std::convertible_to<StringArg> Text>
  IterationsPerLoop(const Text& text) {  // NOLINT
    Parse(StringArg(text));
  }

  // INVALID_ARGUMENT if the text has none of these forms, or if the value is not positive.
  const absl::Status& status() const { return status_; }
  bool in_seconds() const { return in_seconds_; }
  int64_t value() const { return value_; }  // steps, or seconds

 private:
  void Parse(absl::string_view text);

  absl::Status status_;
  bool in_seconds_ = false;
  int64_t value_ = 0;
};

// Finds the number of steps in a loop of `target_seconds`. It starts at 1. Then it is
// target_seconds / (mean step time of the last 20 loops), until that number no longer changes.
// Source: TF 2.15 iteration_count_estimator.IterationCountEstimator, which tpu_estimator uses.
class IterationsTuner {
 public:
  // REQUIRES: target_seconds > 0.
  explicit IterationsTuner(double target_seconds) : target_seconds_(target_seconds) {}

  int64_t iterations() const { return iterations_; }
  // Records that a loop of `steps` steps took `seconds`. Values that are not positive are ignored.
  void Observe(int64_t steps, double seconds);

 private:
  static constexpr size_t kWindow = 20;
  const double target_seconds_;
  int64_t iterations_ = 1;
  bool settled_ = false;
  std::deque<double> step_seconds_;
};

}  // namespace estimator::tpu

#endif  // TPU_ITERATIONS_PER_LOOP_H_
