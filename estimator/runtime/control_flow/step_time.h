// What ends a step that runs too long. Internal to runtime.
#ifndef ESTIMATOR_RUNTIME_CONTROL_FLOW_STEP_TIME_H_
#define ESTIMATOR_RUNTIME_CONTROL_FLOW_STEP_TIME_H_

#include <cstdint>

#include "absl/status/status.h"
#include "estimator/kernels/kernel.h"

namespace estimator {

// The time of the steady clock in nanoseconds.
int64_t SteadyNanos();

// A StepContext::deadline_ns `seconds` from now; 0 if `seconds` is 0.
int64_t DeadlineAfter(double seconds);

// Errors: DEADLINE_EXCEEDED after the step's deadline.
absl::Status CheckDeadline(const StepContext& step);

// For loops, which may not end. Errors: as above; CANCELLED if a stop was requested
// (base/interrupt.h) more than five seconds ago. A loop that ends before that ends its step.
absl::Status CheckLoopTime(const StepContext& step);
void SetStopGraceForTest(double seconds);

}  // namespace estimator

#endif  // ESTIMATOR_RUNTIME_CONTROL_FLOW_STEP_TIME_H_
