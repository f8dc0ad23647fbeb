// iterations_per_loop: a number of steps, or the time that a loop is to take.
#ifndef TPU_ITERATIONS_PER_LOOP_H_
#define TPU_ITERATIONS_PER_LOOP_H_

#include <cstdint>
#include <deque>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace estimator::tpu {

// From 50, "50", "30s", "10m" or "1h".
class IterationsPerLoop {
 public:
  IterationsPerLoop(int64_t steps);  // NOLINT: {.iterations_per_loop = 50}
  IterationsPerLoop(int steps) : IterationsPerLoop(static_cast<int64_t>(steps)) {}     // NOLINT
  IterationsPerLoop(absl::string_view text);                                           // NOLINT
  IterationsPerLoop(const char* text) : IterationsPerLoop(absl::string_view(text)) {}  // NOLINT
  IterationsPerLoop(const std::string& text)
      : IterationsPerLoop(absl::string_view(text)) {}  // NOLINT

  // Errors: INVALID_ARGUMENT for what is none of the forms, or not positive.
  const absl::Status& status() const { return status_; }
  bool in_seconds() const { return in_seconds_; }
  int64_t value() const { return value_; }  // steps, or seconds

 private:
  absl::Status status_;
  bool in_seconds_ = false;
  int64_t value_ = 0;
};

// Finds how many steps make a loop of `target_seconds`: starts at 1, then target / mean step time
// of the last 20 loops, until that has settled. Source: TF 2.15 tpu_estimator's IterationsPerLoop
// auto-tuner (iteration_count_estimator).
class IterationsTuner {
 public:
  // REQUIRES: target_seconds > 0.
  explicit IterationsTuner(double target_seconds) : target_seconds_(target_seconds) {}

  int64_t iterations() const { return iterations_; }
  // A loop of `steps` steps took `seconds`; what is not positive is ignored.
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
