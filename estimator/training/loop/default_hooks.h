// The hooks of a loop: the default ones, the user's and the spec's, in TensorFlow's order.
#ifndef ESTIMATOR_TRAINING_LOOP_DEFAULT_HOOKS_H_
#define ESTIMATOR_TRAINING_LOOP_DEFAULT_HOOKS_H_

#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/training/hooks/hook.h"
#include "estimator/training/hooks/period.h"
#include "estimator/training/hooks/timer.h"
#include "estimator/training/loop/run_config.h"
#include "estimator/training/model/built_model.h"

namespace estimator {

struct TrainHookOptions {
  const RunConfig& config;
  const BuiltModel& model;
  Hooks user_hooks;
  SavingListeners saving_listeners;
  bool write_graph = false;  // whether to write graph.pbtxt and the graph event, if config says so
  InputSizes sizes = {};     // for periods in epochs and examples
  int64_t target_step = 0;   // for the time left in progress lines; INT64_MAX: the input's end
  // False: of spec.training_chief_hooks, and of hooks for the chief (SessionRunHook::IsForChief),
  // only Begin and Fetches will be called.
  bool is_chief = true;
};

// The intervals of a training's checkpoints, summaries and log lines; nullopt: none.
struct TrainIntervals {
  std::optional<StepsOrSeconds> checkpoints;
  std::optional<StepsOrSeconds> summaries;
  std::optional<StepsOrSeconds> log_lines;
};
// Errors: those of Period::ToStepsOrSeconds, with the name of the field.
absl::StatusOr<TrainIntervals> IntervalsOf(const RunConfig& config, const InputSizes& sizes);

// The hooks of training, in this order: saver, graph writer, spec.training_chief_hooks, step
// counter, summary saver, profiler (RunConfig.profile_steps), the user's, NaN guard, progress
// lines, spec.training_hooks. If the user gives a CheckpointSaverHook, it replaces the default one.
// So do callbacks with the NaN guard and the progress lines (callbacks::Callback::HandlesBadLoss).
// Errors: INVALID_ARGUMENT for a null hook or listener, or for listeners without any saver.
// Source: TF 2.15 Estimator._train_with_estimator_spec.
absl::StatusOr<Hooks> MakeTrainHooks(const TrainHookOptions& options);

// The hooks of an evaluation or a prediction: the user's, then the spec's. `method` is for
// messages. Errors: INVALID_ARGUMENT for a null hook.
absl::StatusOr<Hooks> MakeForwardHooks(const Hooks& user_hooks, const Hooks& spec_hooks,
                                       absl::string_view method);

// Whether there is a CheckpointSaverHook among the hooks, whose End saves.
bool HasSaver(const Hooks& hooks);

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_LOOP_DEFAULT_HOOKS_H_
