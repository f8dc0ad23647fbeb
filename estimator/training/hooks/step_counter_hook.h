// StepCounterHook: writes the speed of training for TensorBoard, as `global_step/sec` and
// `examples/sec`.
#ifndef ESTIMATOR_TRAINING_HOOKS_STEP_COUNTER_HOOK_H_
#define ESTIMATOR_TRAINING_HOOKS_STEP_COUNTER_HOOK_H_

#include <optional>
#include <string>

#include "estimator/training/hooks/hook.h"
#include "estimator/training/hooks/timer.h"

namespace estimator {

// The first time the cadence is due only starts the clock. Logs a warning, at most five times, if
// global_step has not changed.
// Source: TF 2.15 tf.estimator.StepCounterHook, and TPUEstimator's ExamplesPerSecondHook.
class StepCounterHook : public SessionRunHook {
 public:
  struct Options {
    StepsOrSeconds cadence = {.every_steps = 100, .every_secs = std::nullopt};
    std::string output_dir = "";  // empty: the model directory
    Clock clock = SteadyClock();
  };
  explicit StepCounterHook(Options options);

  bool IsForChief() const override { return true; }
  absl::Status Begin(Graph& graph) override;
  absl::Status AfterCreateSession(Session& session) override;
  absl::Status AfterRun(RunContext& context, const RunValues& values) override;
  absl::Status End(Session& session) override;

 private:
  const Options options_;
  SecondOrStepTimer timer_;
  int num_warnings_ = 0;
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_HOOKS_STEP_COUNTER_HOOK_H_
