// CheckpointSaverHook: writes checkpoints while training runs.
#ifndef ESTIMATOR_TRAINING_HOOKS_CHECKPOINT_SAVER_HOOK_H_
#define ESTIMATOR_TRAINING_HOOKS_CHECKPOINT_SAVER_HOOK_H_

#include <cstdint>

#include "estimator/training/hooks/hook.h"
#include "estimator/training/hooks/timer.h"

namespace estimator {

// Saves when a run starts anew, then at the first run's end at which the cadence is due, and at the
// end where the step has moved since. A step that was just restored is not saved again
// (TensorFlow's writes it a second time). Source: TF 2.15 tf.estimator.CheckpointSaverHook.
class CheckpointSaverHook : public SessionRunHook {
 public:
  struct Options {
    Cadence cadence = {};
    SavingListeners listeners = {};
    Clock clock = SteadyClock();
  };
  explicit CheckpointSaverHook(Options options);

  void AddListeners(const SavingListeners& listeners);

  absl::Status Begin(Graph& graph) override;
  absl::Status AfterCreateSession(Session& session) override;
  absl::Status AfterRun(RunContext& context, const RunValues& values) override;
  absl::Status End(Session& session) override;

 private:
  // True: a listener wants training to stop.
  absl::StatusOr<bool> Save(Session& session, int64_t step);

  Options options_;
  SecondOrStepTimer timer_;
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_HOOKS_CHECKPOINT_SAVER_HOOK_H_
