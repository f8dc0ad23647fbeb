#include "estimator/training/in_memory_evaluator_hook.h"

#include "absl/strings/str_cat.h"
#include "estimator/base/interrupt.h"
#include "estimator/base/saturating.h"
#include "estimator/base/status.h"

namespace estimator {

InMemoryEvaluatorHook::InMemoryEvaluatorHook(EstimatorBase& estimator, InputFn input_fn,
                                             InMemoryEvaluatorOptions options)
    : estimator_(estimator),
      input_fn_(std::move(input_fn)),
      options_(std::move(options)),
      timer_({.every_steps = options_.every_n_iter, .every_secs = std::nullopt}) {}

absl::Status InMemoryEvaluatorHook::Begin(Graph&) {
  if (options_.every_n_iter <= 0) {
    return InvalidArgument("InMemoryEvaluatorHook: invalid every_n_iter=", options_.every_n_iter);
  }
  timer_.Reset();
  num_runs_ = 0;
  return absl::OkStatus();
}

absl::Status InMemoryEvaluatorHook::AfterCreateSession(Session& session) {
  // As in TensorFlow, there is an evaluation before the first step.
  return Evaluate(session);
}

absl::Status InMemoryEvaluatorHook::AfterRun(RunContext& context, const RunValues& values) {
  if (values.loss_not_finite) return absl::OkStatus();  // training fails after this
  ++num_runs_;
  return timer_.ShouldTriggerForStep(num_runs_) ? Evaluate(context.session()) : absl::OkStatus();
}

absl::Status InMemoryEvaluatorHook::End(Session& session) {
  return timer_.last_triggered_step() == num_runs_ ? absl::OkStatus() : Evaluate(session);
}

std::string InMemoryEvaluatorHook::DescribePlan(int64_t steps_per_run) const {
  if (options_.every_n_iter <= 0) return "";  // Begin refuses it
  const int64_t steps = SaturatingMultiply(options_.every_n_iter, steps_per_run);
  return absl::StrCat("an evaluation in memory every ", steps, steps == 1 ? " step" : " steps");
}

absl::Status InMemoryEvaluatorHook::Evaluate(Session& session) {
  const AddSeconds evaluation(session.times().evaluation);
  if (InterruptRequested()) return absl::OkStatus();
  timer_.UpdateLastTriggeredStep(num_runs_);
  const EvaluateOptions options{.steps = options_.steps,
                                .hooks = options_.hooks,
                                .checkpoint_path = std::nullopt,
                                .name = options_.name};
  const absl::Status status = estimator_.EvaluateInMemory(input_fn_, options, session).status();
  // The training loop sees the interrupt too. It stops and says where the steps are saved.
  if (absl::IsCancelled(status) && InterruptRequested()) return absl::OkStatus();
  return status;
}

}  // namespace estimator
