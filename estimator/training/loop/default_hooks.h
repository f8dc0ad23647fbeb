// The hooks that a loop brings along, in TensorFlow's order.
#ifndef ESTIMATOR_TRAINING_LOOP_DEFAULT_HOOKS_H_
#define ESTIMATOR_TRAINING_LOOP_DEFAULT_HOOKS_H_

#include "absl/status/statusor.h"
#include "estimator/training/hooks/hook.h"
#include "estimator/training/loop/run_config.h"
#include "estimator/training/loop/train_length.h"
#include "estimator/training/model/built_model.h"

namespace estimator {

struct TrainHookOptions {
  const RunConfig& config;
  const BuiltModel& model;
  Hooks user_hooks;
  SavingListeners saving_listeners;
  bool write_graph = false;  // graph.pbtxt and the graph event, if the config wants them
  int64_t target_step = 0;   // for the progress line's time left; INT64_MAX: until the input ends
};

// Saver, graph writer, spec.training_chief_hooks, step counter, summary saver, the user's, NaN
// guard, progress and loss lines, spec.training_hooks. A CheckpointSaverHook of the user's replaces
// the default one. Errors: INVALID_ARGUMENT for a null hook or listener, or for listeners without
// any saver. Source: TF 2.15 Estimator._train_with_estimator_spec.
absl::StatusOr<Hooks> MakeTrainHooks(const TrainHookOptions& options);

// Whether a CheckpointSaverHook is among them: their End saves.
bool HasSaver(const Hooks& hooks);

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_LOOP_DEFAULT_HOOKS_H_
