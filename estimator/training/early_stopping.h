// Hooks that end training when a metric of the evaluations says so. They read the event files of
// the evaluations, so they are for TrainAndEvaluate, or for an evaluator in another process.
//
//   TrainAndEvaluate(estimator,
//                    {.input_fn = TrainInput,
//                     .hooks = {StopIfNoDecreaseHook(estimator, "loss", 1000)}},
//                    {.input_fn = EvalInput});
#ifndef ESTIMATOR_TRAINING_EARLY_STOPPING_H_
#define ESTIMATOR_TRAINING_EARLY_STOPPING_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/training/estimator_base.h"
#include "estimator/training/hooks/hook.h"
#include "estimator/training/hooks/timer.h"

namespace estimator {

// How often a hook decides. It also decides after the first run.
struct MakeEarlyStoppingHookOptions {
  // At most one of both; neither: every 60 seconds.
  std::optional<double> run_every_secs = std::nullopt;
  std::optional<int64_t> run_every_steps = std::nullopt;
  Clock clock = SteadyClock();  // for tests
};

struct EarlyStoppingOptions {
  // The folder of the evaluations' event files. nullopt: estimator.EvalDir(). With EvalSpec.name =
  // "n" it is estimator.EvalDir("n").
  std::optional<std::string> eval_dir = std::nullopt;
  // Evaluations of earlier steps do not count.
  int64_t min_steps = 0;
  // As in MakeEarlyStoppingHookOptions.
  std::optional<double> run_every_secs = std::nullopt;
  std::optional<int64_t> run_every_steps = std::nullopt;
  Clock clock = SteadyClock();
};

// Ends training when should_stop_fn returns true. An error of it ends training with that error.
//   estimator: the one that trains. It is not used; TensorFlow's hook needs it.
// Errors: Train returns INVALID_ARGUMENT if both intervals are given, or if one is not positive.
// Source: TF 2.15 tf.estimator.experimental.make_early_stopping_hook, without its variable
// signal_early_stopping/STOP in the checkpoints.
HookPtr MakeEarlyStoppingHook(const EstimatorBase& estimator,
                              std::function<absl::StatusOr<bool>()> should_stop_fn,
                              const MakeEarlyStoppingHookOptions& options = {});

// These end training when, in an evaluation since min_steps,
//   StopIfHigherHook      metric > threshold
//   StopIfLowerHook       metric < threshold
//   StopIfNoIncreaseHook  the metric is not above its best value of at least
//                         max_steps_without_increase steps before
//   StopIfNoDecreaseHook  the same with below
// Errors: Train returns NOT_FOUND if there are evaluations, but none has the metric; it lists those
// that exist. Source: TF 2.15 tf.estimator.experimental.stop_if_*_hook.
HookPtr StopIfHigherHook(const EstimatorBase& estimator, absl::string_view metric_name,
                         double threshold, const EarlyStoppingOptions& options = {});
HookPtr StopIfLowerHook(const EstimatorBase& estimator, absl::string_view metric_name,
                        double threshold, const EarlyStoppingOptions& options = {});
HookPtr StopIfNoIncreaseHook(const EstimatorBase& estimator, absl::string_view metric_name,
                             int64_t max_steps_without_increase,
                             const EarlyStoppingOptions& options = {});
HookPtr StopIfNoDecreaseHook(const EstimatorBase& estimator, absl::string_view metric_name,
                             int64_t max_steps_without_decrease,
                             const EarlyStoppingOptions& options = {});

// The scalars of all evaluations in `eval_dir`: global step -> metric -> value. Empty if there is
// no such folder. The rest of a damaged event file is skipped with a warning.
// Source: TF 2.15 tf_estimator early_stopping.read_eval_metrics.
absl::StatusOr<std::map<int64_t, std::map<std::string, double>>> ReadEvalMetrics(
    absl::string_view eval_dir);

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_EARLY_STOPPING_H_
