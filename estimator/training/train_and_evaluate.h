// TrainAndEvaluate: trains, evaluates the checkpoints meanwhile, and exports.
//
//   TrainSpec<MnistParams> train_spec = {.input_fn = TrainInput, .max_steps = 10000};
//   EvalSpec<MnistParams> eval_spec = {.input_fn = EvalInput, .steps = std::nullopt,
//                                      .exporters = {exporter}, .throttle_secs = 60};
//   absl::StatusOr<TrainAndEvaluateResult> result =
//       TrainAndEvaluate(estimator, train_spec, eval_spec);
#ifndef ESTIMATOR_TRAINING_TRAIN_AND_EVALUATE_H_
#define ESTIMATOR_TRAINING_TRAIN_AND_EVALUATE_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/training/estimator.h"
#include "estimator/training/estimator_base.h"
#include "estimator/training/exporter.h"
#include "estimator/training/hooks/hook.h"
#include "estimator/training/hooks/period.h"
#include "estimator/training/hooks/timer.h"

namespace estimator {

// Source: TF 2.15 tf.estimator.TrainSpec.
template <typename Params = EstimatorParams>
struct TrainSpec {
  typename EstimatorOf<Params>::InputFnType input_fn = nullptr;
  // The global step to train to. nullopt: until the input ends; FinalExporter then never exports.
  std::optional<int64_t> max_steps = std::nullopt;
  Hooks hooks = {};
  SavingListeners saving_listeners = {};
};

// Source: TF 2.15 tf.estimator.EvalSpec.
template <typename Params = EstimatorParams>
struct EvalSpec {
  typename EstimatorOf<Params>::InputFnType input_fn = nullptr;
  // The number of batches; nullopt: to the end of the input.
  std::optional<int64_t> steps = 100;
  // Results are written to <model_dir>/eval, or to <model_dir>/eval_<name>.
  std::string name = "";
  Hooks hooks = {};
  Exporters exporters = {};
  // The time that an evaluator (a task of TF_CONFIG) waits first. Local training does not use it.
  double start_delay_secs = 120;
  // The least time between the starts of two evaluations. The last checkpoint is always evaluated.
  double throttle_secs = 600;
  // Not in TensorFlow. If given, it replaces throttle_secs: the least distance of two evaluations
  // in any unit, such as Period::Epochs(1). An evaluator takes steps and seconds only.
  std::optional<Period> throttle_every = std::nullopt;
};

struct TrainAndEvaluateResult {
  // The last evaluation of this call; nullopt if there was none.
  std::optional<EvalResult> eval_result = std::nullopt;
  // What EvalSpec.exporters wrote after that evaluation; nullopt: that exporter wrote nothing.
  std::vector<std::optional<std::string>> export_results = {};
};

// The part of TrainAndEvaluate that does not depend on Params.
struct TrainAndEvaluateCall {
  EstimatorBase& estimator;
  // Calls Train and Evaluate with the input_fn of the spec. Null: the spec has none.
  std::function<absl::Status(const TrainOptions&)> train = nullptr;
  std::function<absl::StatusOr<EvalResult>()> evaluate = nullptr;
  HookPtr sanity_hook = nullptr;  // EstimatorBase::MakeSanityHook with it
  std::optional<int64_t> max_steps;
  TrainOptions train_options;
  std::optional<int64_t> eval_steps;
  std::string eval_name;
  Exporters exporters;
  double start_delay_secs;
  double throttle_secs;
  std::optional<Period> throttle_every = std::nullopt;
  // For tests.
  Clock clock = SteadyClock();
  std::function<void(double seconds)> sleep = nullptr;
};
absl::StatusOr<TrainAndEvaluateResult> RunTrainAndEvaluate(const TrainAndEvaluateCall& call);

template <typename Params>
TrainAndEvaluateCall MakeTrainAndEvaluateCall(EstimatorOf<Params>& estimator,
                                              const TrainSpec<Params>& train_spec,
                                              const EvalSpec<Params>& eval_spec) {
  TrainAndEvaluateCall call{
      .estimator = estimator,
      .max_steps = train_spec.max_steps,
      .train_options = {.hooks = train_spec.hooks, .saving_listeners = train_spec.saving_listeners},
      .eval_steps = eval_spec.steps,
      .eval_name = eval_spec.name,
      .exporters = eval_spec.exporters,
      .start_delay_secs = eval_spec.start_delay_secs,
      .throttle_secs = eval_spec.throttle_secs,
      .throttle_every = eval_spec.throttle_every};
  if (train_spec.input_fn != nullptr) {
    TrainLength length;
    if (train_spec.max_steps.has_value()) length = MaxSteps(*train_spec.max_steps);
    call.train = [&estimator, input_fn = train_spec.input_fn, length](const TrainOptions& options) {
      return estimator.Train(input_fn, length, options);
    };
  }
  if (eval_spec.input_fn != nullptr) {
    const EvaluateOptions options = {.steps = eval_spec.steps,
                                     .hooks = eval_spec.hooks,
                                     .checkpoint_path = std::nullopt,
                                     .name = eval_spec.name};
    call.evaluate = [&estimator, input_fn = eval_spec.input_fn, options] {
      return estimator.Evaluate(input_fn, options);
    };
    call.sanity_hook = estimator.MakeSanityHook(
        estimator.Input(eval_spec.input_fn),
        [every = estimator.config().save_checkpoints_steps.value_or(INT64_MAX),
         last = train_spec.max_steps.value_or(INT64_MAX)](int64_t global_step) {
          return std::min(every, last - global_step);
        });
  }
  return call;
}

// Calls Train once. Each checkpoint that it writes is evaluated and given to the exporters, except
// that of the first values, and those within throttle_secs or throttle_every of the evaluation
// before. At the end the last checkpoint is evaluated if it has not been. RunConfig says how often
// checkpoints are written.
// The input of training keeps its position.
//
// If max_steps was reached by an earlier process, nothing is trained. The checkpoint is evaluated
// and exported if that process ended before it could do so; TensorFlow leaves this out.
//
// With TF_CONFIG, a `chief` or `worker` trains only, a `master` does both, and an `evaluator` waits
// for the checkpoints of the other process, until one has max_steps.
//
// Errors: INVALID_ARGUMENT for a spec without input_fn, numbers that are out of range, exporters
// without a name or with the same one, RunConfig without checkpoints, and an evaluator with an
// index other than 0 or with throttle_every in epochs or examples; FAILED_PRECONDITION if
// throttle_every needs the examples of an epoch, which are not known
// (RunConfig.examples_per_epoch); CANCELLED after an interrupt; those of Train, Evaluate and the
// exporters. Source: TF 2.15 tf.estimator.train_and_evaluate.
template <typename Params>
absl::StatusOr<TrainAndEvaluateResult> TrainAndEvaluate(EstimatorOf<Params>& estimator,
                                                        const TrainSpec<Params>& train_spec,
                                                        const EvalSpec<Params>& eval_spec) {
  return RunTrainAndEvaluate(MakeTrainAndEvaluateCall(estimator, train_spec, eval_spec));
}

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_TRAIN_AND_EVALUATE_H_
