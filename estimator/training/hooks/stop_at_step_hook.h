// StopAtStepHook: stops training at a step.
#ifndef ESTIMATOR_TRAINING_HOOKS_STOP_AT_STEP_HOOK_H_
#define ESTIMATOR_TRAINING_HOOKS_STOP_AT_STEP_HOOK_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "estimator/base/saturating.h"
#include "estimator/base/status.h"
#include "estimator/training/hooks/hook.h"

namespace estimator {

// Source: TF 2.15 tf.estimator.StopAtStepHook.
class StopAtStepHook : public SessionRunHook {
 public:
  // Set exactly one of num_steps, counted from the step at which the session starts, and last_step,
  // an absolute step.
  struct Options {
    std::optional<int64_t> num_steps = std::nullopt;
    std::optional<int64_t> last_step = std::nullopt;
  };
  explicit StopAtStepHook(Options options) : options_(options) {}

  absl::Status Begin(Graph&) override {
    if (options_.num_steps.has_value() != options_.last_step.has_value()) return absl::OkStatus();
    return InvalidArgument("StopAtStepHook: exactly one of num_steps and last_step must be given");
  }
  absl::Status AfterCreateSession(Session& session) override {
    last_step_ = options_.last_step.value_or(
        SaturatingAdd(session.global_step(), options_.num_steps.value_or(0)));
    return absl::OkStatus();
  }
  absl::Status AfterRun(RunContext& context, const RunValues& values) override {
    if (values.global_step >= last_step_) context.RequestStop();
    return absl::OkStatus();
  }

 private:
  const Options options_;
  int64_t last_step_ = 0;
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_HOOKS_STOP_AT_STEP_HOOK_H_
