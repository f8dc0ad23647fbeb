#include "estimator/training/hooks/timer.h"

#include <chrono>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"

namespace estimator {

Clock SteadyClock() {
  return [] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  };
}

absl::Status StepsOrSeconds::Validate(absl::string_view who) const {
  if (every_steps.has_value() == every_secs.has_value()) {
    return InvalidArgument(who, ": exactly one of every_steps and every_secs must be given, not ",
                           every_steps ? "both" : "neither");
  }
  // Written so that it also refuses NaN, which no time reaches.
  if (every_steps.value_or(1) <= 0 || !(every_secs.value_or(1) > 0)) {
    return InvalidArgument(
        who, ": the cadence must be > 0, got ",
        every_steps ? absl::StrCat(*every_steps, " steps") : absl::StrCat(*every_secs, " seconds"));
  }
  return absl::OkStatus();
}

bool SecondOrStepTimer::ShouldTriggerForStep(int64_t step) const {
  if (!last_step_.has_value()) return true;
  if (*last_step_ == step) return false;
  if (cadence_.every_secs.has_value()) return clock_() >= last_time_ + *cadence_.every_secs;
  return step - *last_step_ >= *cadence_.every_steps;  // last + every_steps might overflow
}

std::optional<SecondOrStepTimer::Elapsed> SecondOrStepTimer::UpdateLastTriggeredStep(int64_t step) {
  const double now = clock_();
  std::optional<Elapsed> elapsed;
  if (last_step_.has_value()) elapsed = Elapsed{now - last_time_, step - *last_step_};
  last_time_ = now;
  last_step_ = step;
  return elapsed;
}

bool SecondOrStepTimer::BeginRun(int64_t last_step) {
  wanted_ = ShouldTriggerForStep(last_step);
  if (cadence_.every_secs.has_value()) {
    run_start_ = clock_();
    // The length of this run is not known yet. It is taken to be at most twice that of the last
    // one.
    wanted_ |= run_start_ + 2 * run_seconds_ >= last_time_ + *cadence_.every_secs;
  }
  return wanted_;
}

bool SecondOrStepTimer::EndRun(int64_t step) {
  if (cadence_.every_secs.has_value()) run_seconds_ = clock_() - run_start_;
  return wanted_ && ShouldTriggerForStep(step);
}

}  // namespace estimator
