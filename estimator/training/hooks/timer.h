// SecondOrStepTimer: decides when something periodic is due, by seconds or by steps.
#ifndef ESTIMATOR_TRAINING_HOOKS_TIMER_H_
#define ESTIMATOR_TRAINING_HOOKS_TIMER_H_

#include <cstdint>
#include <functional>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace estimator {

// Returns the seconds of a steady clock. Tests pass their own.
using Clock = std::function<double()>;
Clock SteadyClock();

// The interval of something periodic. Exactly one of both must be given.
struct StepsOrSeconds {
  std::optional<int64_t> every_steps = std::nullopt;
  std::optional<double> every_secs = std::nullopt;
  // Errors: INVALID_ARGUMENT unless exactly one is given, and positive.
  absl::Status Validate(absl::string_view who) const;
};

// Is due at the first call, then at step >= last + every_steps or at time >= last + every_secs, and
// never twice for one step.
// REQUIRES: a valid cadence.
// Source: TF 2.15 basic_session_run_hooks.SecondOrStepTimer.
class SecondOrStepTimer {
 public:
  explicit SecondOrStepTimer(StepsOrSeconds cadence, Clock clock = SteadyClock())
      : cadence_(cadence), clock_(std::move(clock)) {}

  bool ShouldTriggerForStep(int64_t step) const;
  struct Elapsed {
    double seconds = 0;
    int64_t steps = 0;
  };
  // Returns the time and the steps since the last call, or nullopt at the first call.
  std::optional<Elapsed> UpdateLastTriggeredStep(int64_t step);
  std::optional<int64_t> last_triggered_step() const { return last_step_; }
  void Reset() { *this = SecondOrStepTimer(cadence_, clock_); }

  // For a hook that needs tensors only when it is due. BeginRun returns whether the timer may be
  // due after the run, which ends at `last_step` or before: the hook then asks for its tensors.
  // EndRun returns whether it is due at the step of the run's end and BeginRun returned true.
  // With every_secs, the length of a run is known only after it. It is taken to be at most twice
  // that of the run before. If a longer run passes the time, the timer is due one run later.
  bool BeginRun(int64_t last_step);
  bool EndRun(int64_t step);

 private:
  StepsOrSeconds cadence_;
  Clock clock_;
  std::optional<int64_t> last_step_;
  double last_time_ = 0;
  bool wanted_ = false;     // BeginRun's result
  double run_start_ = 0;    // with every_secs
  double run_seconds_ = 0;  // of the last run, with every_secs
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_HOOKS_TIMER_H_
