#include "estimator/training/loop/evaluator.h"

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "estimator/base/file.h"
#include "estimator/base/interrupt.h"
#include "estimator/base/status.h"
#include "estimator/runtime/initialize_variables.h"
#include "estimator/training/input/prefetch_steps.h"
#include "estimator/training/loop/default_hooks.h"
#include "estimator/training/loop/eval_summary.h"
#include "estimator/training/loop/forward_session.h"
#include "estimator/training/model/start_checkpoint.h"
#include "glog/logging.h"

namespace estimator {
namespace {

// The specs of the values that the host gets, with the replicas joined on axis 0.
std::vector<TensorSpec> JoinedSpecs(const std::vector<Tensor>& tensors, int64_t num_replicas) {
  std::vector<TensorSpec> specs;
  for (const Tensor& tensor : tensors) {
    specs.push_back(tensor.spec());
    specs.back().shape.set_dim(0, num_replicas * tensor.dim(0));
  }
  return specs;
}

}  // namespace

std::string EvalDir(const std::string& model_dir, const std::string& name) {
  return JoinPath(model_dir, name.empty() ? "eval" : absl::StrCat("eval_", name));
}

// One call of Evaluate.
struct Evaluator::Pass {
  CompiledShapePtr first;  // the model of the first batch, whose graph the hooks see
  double loss_sum = 0;     // over examples
  double loss_weight = 0;  // examples
  EvalResult result = {};  // without the metrics, which are read at the end
};

Evaluator::Evaluator(const Strategy& strategy, const RunConfig& config, Peers& peers,
                     const std::optional<WarmStartSettings>& warm_start)
    : strategy_(strategy),
      peers_(peers),
      divided_(!peers.alone() && strategy.process_group(Mode::kEval) != nullptr),
      model_dir_(*config.model_dir),
      models_(strategy, Mode::kEval, *config.model_dir, config.tf_random_seed, warm_start,
              config.max_compiled_shapes) {}

Evaluator::~Evaluator() = default;

absl::Status Evaluator::Check(const EvaluateOptions& options) const {
  if (options.steps.has_value() && *options.steps <= 0) {
    return InvalidArgument("Must specify steps > 0, given: ", *options.steps);
  }
  return strategy_.Validate(Mode::kEval);
}

absl::StatusOr<EvalResult> Evaluator::Evaluate(const InputFn& input_fn,
                                               const EvaluateOptions& options,
                                               const ModelState& trained) {
  EST_RETURN_IF_ERROR(Check(options));
  absl::StatusOr<CheckpointChoice> choice =
      models_.ChooseCheckpoint(options.checkpoint_path, trained, "evaluating");
  if (divided_) {
    peers_.Begin();
    choice = CheckpointOfChief(peers_, model_dir_, std::move(choice));
  }
  EST_RETURN_IF_ERROR(choice.status());
  return Run(input_fn, options, [&](const BuiltModel& model) {
    return models_.EnsureVariables(model, *choice, trained);
  });
}

absl::StatusOr<EvalResult> Evaluator::EvaluateInMemory(const InputFn& input_fn,
                                                       const EvaluateOptions& options,
                                                       const ModelState& trained) {
  EST_RETURN_IF_ERROR(Check(options));
  return Run(input_fn, options, [&](const BuiltModel& model) -> absl::StatusOr<std::string> {
    EST_RETURN_IF_ERROR(models_.CopyVariables(model, trained));
    return std::string();
  });
}

absl::StatusOr<EvalResult> Evaluator::Run(const InputFn& input_fn, const EvaluateOptions& options,
                                          const LoadVariables& load) {
  if (!divided_) return RunHere(input_fn, options, load);
  peers_.Begin();
  absl::StatusOr<EvalResult> result = RunHere(input_fn, options, load);
  EST_RETURN_IF_ERROR(peers_.Finish(result.status()));
  return result;
}

absl::StatusOr<EvalResult> Evaluator::RunHere(const InputFn& input_fn,
                                              const EvaluateOptions& options,
                                              const LoadVariables& load) {
  const auto start = std::chrono::steady_clock::now();
  EST_ASSIGN_OR_RETURN(
      const std::unique_ptr<Feeder> input,
      strategy_.OpenInput(Mode::kEval, PrefetchSteps(input_fn, strategy_.batch_size(Mode::kEval))));
  const bool bounded = options.steps.has_value() || !options.hooks.empty();  // a hook may stop it
  if (!bounded && input->description().endless) {
    return InvalidArgument("the evaluation input never ends, and no number of steps is given: ",
                           input->description().pipeline,
                           "; set EvaluateOptions::steps (EvalSpec::steps), or leave out Repeat()");
  }
  EST_ASSIGN_OR_RETURN(const StepInput* first, input->Peek());
  if (first == nullptr) {
    return InvalidArgument("the evaluation input is empty: ", input->description().pipeline);
  }
  Pass pass;
  EST_ASSIGN_OR_RETURN(pass.first, models_.For(*first));
  const BuiltModel& model = *pass.first->model;
  EST_ASSIGN_OR_RETURN(pass.result.checkpoint_path, load(model));
  EST_RETURN_IF_ERROR(
      InitializeVariables(*model.graph, models_.state().store(), /*only_local=*/true));
  gathered_.Reset();
  if (model.spec.eval_metrics.has_value()) {
    if (host_metrics_ == nullptr)
      host_metrics_ = std::make_unique<MetricAccumulator>(model.spec.eval_metrics->fn,
                                                          /*gather_host_metrics=*/true);
    // An earlier evaluation left its totals.
    EST_RETURN_IF_ERROR(host_metrics_->Reset());
    // The function is called before the first batch is computed, so that its errors come early.
    const int64_t replicas =
        strategy_.broadcast(Mode::kEval) || !first->full ? 1 : strategy_.num_replicas(Mode::kEval);
    EST_RETURN_IF_ERROR(
        host_metrics_->Prepare(JoinedSpecs(model.spec.eval_metrics->tensors, replicas)));
  }
  ForwardSession session(*model.graph, models_.state(), model_dir_, first->num_examples);
  EST_ASSIGN_OR_RETURN(Hooks hooks,
                       MakeForwardHooks(options.hooks, model.spec.evaluation_hooks, "Evaluate"));
  StepRunner runner(session, std::move(hooks),
                    {.broadcast = strategy_.broadcast(Mode::kEval),
                     .loss = model.spec.loss,
                     .peers = divided_ ? &peers_ : nullptr});
  EST_RETURN_IF_ERROR(runner.Begin(*model.graph));
  EST_RETURN_IF_ERROR(runner.AfterCreateSession());

  StepRun run;
  const StepInput* next = first;
  while (next != nullptr && !run.stop_requested && pass.result.num_steps != options.steps) {
    EST_ASSIGN_OR_RETURN(run, RunBatch(pass, runner, *input, *next));
    // The metrics of some batches would pass for those of the whole input. Peers stop together.
    if (divided_ ? run.end == RunEnd::kInterrupted : InterruptRequested())
      return absl::CancelledError("interrupted while evaluating");
    // Peek tells whether this was the last batch, for the report, without using up the next one.
    EST_ASSIGN_OR_RETURN(next, input->Peek());
  }
  EST_RETURN_IF_ERROR(runner.End());
  EST_ASSIGN_OR_RETURN(EvalResult result, Finish(pass));
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  LOG_IF(INFO, peers_.is_chief()) << "evaluated " << result.num_examples
                                  << (next == nullptr ? absl::StrCat(" of ", result.num_examples)
                                                      : "")
                                  << " examples" << absl::StrFormat(" in %.2f s", result.seconds)
                                  << " at step " << result.global_step()
                                  << (next == nullptr ? "" : "; the input has more");
  if (!options.discard && peers_.is_chief())
    EST_RETURN_IF_ERROR(WriteEvalSummary(EvalDir(model_dir_, options.name), result));
  return result;
}

absl::StatusOr<StepRun> Evaluator::RunBatch(Pass& pass, StepRunner& runner, Feeder& input,
                                            const StepInput& next) {
  // The models of all shapes have the same variables, and so the same totals.
  EST_ASSIGN_OR_RETURN(const CompiledShapePtr entry, models_.For(next));
  const ModelSpec& spec = entry->model->spec;
  std::vector<Tensor> fetches = {spec.loss};
  if (spec.eval_metrics) {
    const std::vector<Tensor>& tensors = spec.eval_metrics->tensors;
    fetches.insert(fetches.end(), tensors.begin(), tensors.end());
  }
  const auto num_before = static_cast<std::ptrdiff_t>(fetches.size());
  const std::vector<Tensor> gathered = GatheredMetrics::TensorsOf(spec.host_metrics);
  fetches.insert(fetches.end(), gathered.begin(), gathered.end());
  const int64_t num_examples = next.num_examples;
  const auto on_step = [&](const StepOutput& step) -> absl::StatusOr<StepVerdict> {
    // Without a batch axis, a step counts as one example.
    const double weight = num_examples > 0 ? static_cast<double>(num_examples) : 1.0;
    pass.loss_sum += weight * step.values[0].AsDouble();
    pass.loss_weight += weight;
    if (spec.eval_metrics) {
      EST_RETURN_IF_ERROR(
          host_metrics_->Update({step.values.begin() + 1, step.values.begin() + num_before}));
    }
    gathered_.Add(absl::MakeConstSpan(step.values).subspan(static_cast<size_t>(num_before)));
    return StepVerdict::kApply;
  };
  EST_ASSIGN_OR_RETURN(StepRun run, runner.Run({.step = *entry->step,
                                                .input = input,
                                                .fetches = std::move(fetches),
                                                .on_each_rank = !next.full,
                                                .on_step = on_step}));
  pass.result.num_examples += num_examples;
  ++pass.result.num_steps;
  return run;
}

absl::StatusOr<EvalResult> Evaluator::Finish(Pass& pass) {
  EvalResult& result = pass.result;
  const ModelSpec& spec = pass.first->model->spec;
  EST_ASSIGN_OR_RETURN(
      result.values,
      FetchMetricValues(*pass.first->backend, *pass.first->model->graph, spec.eval_metric_ops));
  if (spec.eval_metrics) {
    EST_ASSIGN_OR_RETURN(MetricValues host_values, host_metrics_->Values());
    result.values.merge(host_values);
    EST_RETURN_IF_ERROR(host_metrics_->HostValues(result.values));
  }
  EST_RETURN_IF_ERROR(gathered_.Compute(spec.host_metrics, result.values));
  // The examples of an evaluation need no memory after it.
  gathered_.Reset();
  result.values["loss"] = Array::Scalar(static_cast<float>(pass.loss_sum / pass.loss_weight));
  result.values["global_step"] = Array::Scalar<int64_t>(models_.state().global_step());
  return std::move(result);
}

}  // namespace estimator
