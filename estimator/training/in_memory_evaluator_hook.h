// InMemoryEvaluatorHook: evaluates while training, without a checkpoint.
//
//   const auto hook = std::make_shared<InMemoryEvaluatorHook>(estimator, EvalInput);
//   estimator.Train(TrainInput, MaxSteps(1000), {.hooks = {hook}});
#ifndef ESTIMATOR_TRAINING_IN_MEMORY_EVALUATOR_HOOK_H_
#define ESTIMATOR_TRAINING_IN_MEMORY_EVALUATOR_HOOK_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "estimator/training/estimator_base.h"
#include "estimator/training/hooks/hook.h"
#include "estimator/training/hooks/planned_work.h"
#include "estimator/training/hooks/timer.h"

namespace estimator {

struct InMemoryEvaluatorOptions {
  // The number of batches; nullopt: to the end of the input.
  std::optional<int64_t> steps = std::nullopt;
  Hooks hooks = {};  // of the evaluation
  // Results are written to <model_dir>/eval, or to <model_dir>/eval_<name>.
  std::string name = "";
  // The number of runs between two evaluations. A run is one step, or iterations_per_loop steps on
  // replicas.
  int64_t every_n_iter = 100;
};

// Evaluates before the first step, after every n-th run, and at the end unless the last run has
// just been evaluated. The evaluation copies the variables that it needs, as
// Scaffold::restore_names says, such as moving averages. Errors: Train returns INVALID_ARGUMENT if
// every_n_iter is not positive, or if the hook was made for another estimator; those of Evaluate.
// Source: TF 2.15 tf.estimator.experimental.InMemoryEvaluatorHook.
class InMemoryEvaluatorHook : public SessionRunHook, public PlannedWork {
 public:
  // `estimator` is the one that trains. It outlives the hook and is not moved.
  template <typename Params>
  InMemoryEvaluatorHook(EstimatorOf<Params>& estimator,
                        const typename EstimatorOf<Params>::InputFnType& input_fn,
                        InMemoryEvaluatorOptions options = {})
      : InMemoryEvaluatorHook(static_cast<EstimatorBase&>(estimator), estimator.Input(input_fn),
                              std::move(options)) {}

  bool IsForChief() const override { return true; }
  absl::Status Begin(Graph& graph) override;
  absl::Status AfterCreateSession(Session& session) override;
  absl::Status AfterRun(RunContext& context, const RunValues& values) override;
  absl::Status End(Session& session) override;
  std::string DescribePlan(int64_t steps_per_run) const override;

 private:
  InMemoryEvaluatorHook(EstimatorBase& estimator, InputFn input_fn,
                        InMemoryEvaluatorOptions options);
  absl::Status Evaluate(Session& session);

  EstimatorBase& estimator_;
  const InputFn input_fn_;
  const InMemoryEvaluatorOptions options_;
  SecondOrStepTimer timer_;
  int64_t num_runs_ = 0;
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_IN_MEMORY_EVALUATOR_HOOK_H_
