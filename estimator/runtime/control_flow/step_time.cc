#include "estimator/runtime/control_flow/step_time.h"

#include <atomic>
#include <chrono>

#include "estimator/base/interrupt.h"

namespace estimator {
namespace {

double stop_grace_seconds = 5;

}  // namespace

void SetStopGraceForTest(double seconds) { stop_grace_seconds = seconds; }

int64_t SteadyNanos() {
  using std::chrono::duration_cast;
  return duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

int64_t DeadlineAfter(double seconds) {
  return seconds > 0 ? SteadyNanos() + static_cast<int64_t>(seconds * 1e9) : 0;
}

absl::Status CheckDeadline(const StepContext& step) {
  if (step.deadline_ns == 0 || SteadyNanos() <= step.deadline_ns) return absl::OkStatus();
  return absl::DeadlineExceededError("the step runs longer than RunConfig.step_timeout_secs");
}

absl::Status CheckLoopTime(const StepContext& step) {
  // When a loop has seen the request, or 0.
  static std::atomic<int64_t> stop_seen_ns = 0;
  if (InterruptRequested()) {
    const int64_t now = SteadyNanos();
    int64_t seen = 0;
    if (!stop_seen_ns.compare_exchange_strong(seen, now) &&
        static_cast<double>(now - seen) > stop_grace_seconds * 1e9)
      return absl::CancelledError("a stop was requested, and the loop has not ended since");
  } else if (stop_seen_ns.load(std::memory_order_relaxed) != 0) {
    stop_seen_ns = 0;
  }
  return CheckDeadline(step);
}

}  // namespace estimator
