// CheckpointSaverHook: writes checkpoints during training.
#ifndef ESTIMATOR_TRAINING_HOOKS_CHECKPOINT_SAVER_HOOK_H_
#define ESTIMATOR_TRAINING_HOOKS_CHECKPOINT_SAVER_HOOK_H_

#include <cstdint>

#include "estimator/training/hooks/hook.h"
#include "estimator/training/hooks/timer.h"

namespace estimator {

// Saves at the start of training that was not restored from a checkpoint, then after each run at
// which the cadence is due, and at the end if the step has changed since. Unlike TensorFlow's hook,
// it does not save a step again that was just restored.
// Another thread writes a checkpoint (Session::SaveCheckpointInBackground), unless a listener
// awaits it. The loop also waits for the first one and the last one.
// Source: TF 2.15 tf.estimator.CheckpointSaverHook.
class CheckpointSaverHook : public SessionRunHook {
 public:
  struct Options {
    StepsOrSeconds cadence = {};
    SavingListeners listeners = {};
    Clock clock = SteadyClock();
  };
  explicit CheckpointSaverHook(Options options);

  void AddListeners(const SavingListeners& listeners);

  bool IsForChief() const override { return true; }
  absl::Status Begin(Graph& graph) override;
  absl::Status AfterCreateSession(Session& session) override;
  absl::Status AfterRun(RunContext& context, const RunValues& values) override;
  absl::Status End(Session& session) override;

 private:
  // Saves a checkpoint. Returns true if a listener requests that training stop.
  //   wait: whether the checkpoint is whole when this returns.
  absl::StatusOr<bool> Save(Session& session, int64_t step, bool wait);

  Options options_;
  SecondOrStepTimer timer_;
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_HOOKS_CHECKPOINT_SAVER_HOOK_H_
