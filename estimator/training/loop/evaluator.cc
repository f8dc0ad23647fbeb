#include "estimator/training/loop/evaluator.h"

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "estimator/base/file.h"
#include "estimator/base/interrupt.h"
#include "estimator/base/status.h"
#include "estimator/checkpoint/latest_checkpoint.h"
#include "estimator/runtime/initialize_variables.h"
#include "estimator/training/input/open_input.h"
#include "estimator/training/loop/eval_summary.h"
#include "estimator/training/loop/forward_session.h"
#include "estimator/training/model/replica_reduce.h"
#include "glog/logging.h"

namespace estimator {

namespace {

// Of what the host gets: joined on axis 0.
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
  const EvaluateOptions& options;
  Hooks hooks;
  std::unique_ptr<ForwardSession> session;
  ModelCache::Entry* first = nullptr;
  std::string checkpoint;
  double loss_sum = 0;
  double loss_weight = 0;
  int64_t num_examples = 0;
  int64_t num_steps = 0;
  bool stop_requested = false;
  bool input_ended = false;
};

Evaluator::Evaluator(const Strategy& strategy, const RunConfig& config,
                     const std::optional<WarmStartSettings>& warm_start)
    : strategy_(strategy),
      model_dir_(*config.model_dir),
      models_(strategy, Mode::kEval, *config.model_dir, config.tf_random_seed, warm_start),
      warm_started_(warm_start.has_value()) {}

Evaluator::~Evaluator() = default;

absl::StatusOr<EvalResult> Evaluator::Evaluate(const InputFn& input_fn,
                                               const EvaluateOptions& options,
                                               const ModelState& trained) {
  if (options.steps.has_value() && *options.steps <= 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("Must specify steps > 0, given: ", *options.steps));
  }
  EST_RETURN_IF_ERROR(strategy_.Validate(Mode::kEval));
  Pass pass{.options = options, .hooks = {}, .session = nullptr, .checkpoint = ""};
  if (options.checkpoint_path.has_value()) {
    EST_RETURN_IF_ERROR(Annotate(CheckCheckpoint(*options.checkpoint_path), "checkpoint_path"));
    pass.checkpoint = *options.checkpoint_path;
  } else {
    EST_ASSIGN_OR_RETURN(pass.checkpoint, models_.NewestOrNone());
    if (pass.checkpoint.empty() && !trained.AheadOf("")) {
      LOG(INFO) << "Could not find trained model in " << model_dir_ << ": evaluating "
                << (warm_started_ ? "warm-started" : "freshly initialized") << " variables";
    }
  }
  const auto start = std::chrono::steady_clock::now();
  EST_ASSIGN_OR_RETURN(std::unique_ptr<Feeder> feeder, strategy_.OpenInput(Mode::kEval, input_fn));
  OpenInput input(std::move(feeder));
  EST_ASSIGN_OR_RETURN(const StepInput* first, input.Peek());
  if (first == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("the evaluation input is empty: ", input.Describe()));
  }
  EST_ASSIGN_OR_RETURN(pass.first, models_.For(*first));
  const BuiltModel& model = *pass.first->model;
  EST_ASSIGN_OR_RETURN(pass.checkpoint,
                       models_.EnsureVariables(model, pass.checkpoint,
                                               options.checkpoint_path ? nullptr : &trained));
  EST_RETURN_IF_ERROR(
      InitializeVariables(*model.graph, models_.state().store(), /*only_local=*/true));
  if (model.spec.eval_metrics.has_value()) {
    if (host_metrics_ == nullptr)
      host_metrics_ = std::make_unique<MetricAccumulator>(model.spec.eval_metrics->fn);
    EST_RETURN_IF_ERROR(host_metrics_->Reset());
    const int64_t replicas =
        strategy_.broadcast(Mode::kEval) ? 1 : static_cast<int64_t>(first->replicas.size());
    EST_RETURN_IF_ERROR(
        host_metrics_->Prepare(JoinedSpecs(model.spec.eval_metrics->tensors, replicas)));
  }
  pass.session = std::make_unique<ForwardSession>(*model.graph, models_.state(), model_dir_,
                                                  first->num_examples);
  pass.hooks = options.hooks;
  pass.hooks.insert(pass.hooks.end(), model.spec.evaluation_hooks.begin(),
                    model.spec.evaluation_hooks.end());
  for (const auto& hook : pass.hooks) {
    if (hook == nullptr) return absl::InvalidArgumentError("a hook given to Evaluate is null");
    EST_RETURN_IF_ERROR(hook->Begin(*model.graph));
  }
  for (const auto& hook : pass.hooks) EST_RETURN_IF_ERROR(hook->AfterCreateSession(*pass.session));

  while (!pass.stop_requested && (!options.steps.has_value() || pass.num_steps < *options.steps)) {
    EST_ASSIGN_OR_RETURN(std::optional<StepInput> next, input.Next());
    if (!next.has_value()) {
      pass.input_ended = true;
      break;
    }
    EST_RETURN_IF_ERROR(RunBatch(pass, *std::move(next)));
    if (InterruptRequested()) return absl::CancelledError("interrupted while evaluating");
  }
  if (!pass.input_ended) {
    EST_ASSIGN_OR_RETURN(const StepInput* next, input.Peek());
    pass.input_ended = next == nullptr;
  }
  for (const auto& hook : pass.hooks) EST_RETURN_IF_ERROR(hook->End(*pass.session));
  EST_ASSIGN_OR_RETURN(EvalResult result, Finish(pass));
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  LOG(INFO) << "evaluated " << result.num_examples
            << (pass.input_ended
                    ? absl::StrCat(" of ", result.num_examples, " examples")
                    : absl::StrCat(" examples in ", result.num_steps, " steps; the input has more"))
            << absl::StrFormat(" in %.2f s", result.seconds) << " at step " << result.global_step();
  EST_RETURN_IF_ERROR(WriteEvalSummary(EvalDir(model_dir_, options.name), result));
  return result;
}

absl::Status Evaluator::RunBatch(Pass& pass, StepInput input) {
  EST_ASSIGN_OR_RETURN(ModelCache::Entry * entry, models_.For(input));
  CompiledStep& step = *entry->step;
  const ModelSpec& spec = entry->model->spec;
  // A second model, for the last batch, has local variables of the same names: the same totals.
  if (entry != pass.first)
    EST_RETURN_IF_ERROR(InitializeVariables(*entry->model->graph, models_.state().store()));

  const size_t loss = step.Fetch(spec.loss);
  std::vector<size_t> metric_fetches, host_call_fetches;
  if (spec.eval_metrics) {
    for (const Tensor& tensor : spec.eval_metrics->tensors)
      metric_fetches.push_back(step.Fetch(tensor));
  }
  if (spec.host_call) {
    for (const Tensor& tensor : spec.host_call->tensors)
      host_call_fetches.push_back(step.Fetch(tensor));
  }
  RunContext context(*pass.session, models_.state().global_step());
  std::vector<std::vector<size_t>> hook_fetches;
  for (const auto& hook : pass.hooks) {
    std::vector<size_t> fetches;
    for (const Tensor& tensor : hook->BeforeRun(context)) {
      // Hooks hold tensors of the first model; the second has the same names.
      const Tensor here =
          entry == pass.first ? tensor : entry->model->graph->FindTensor(tensor.name());
      if (!here.valid())
        return absl::InvalidArgumentError(
            absl::StrCat("a hook asks for '", tensor.name(),
                         "', which the model of the last, smaller batch does not have"));
      fetches.push_back(step.Fetch(here));
    }
    hook_fetches.push_back(std::move(fetches));
  }
  EST_ASSIGN_OR_RETURN(Executable * executable, step.executable());
  EST_ASSIGN_OR_RETURN(const StepFeeds feeds, step.Feeds(input));

  const bool broadcast = strategy_.broadcast(Mode::kEval);
  const auto joined = [broadcast](const StepFetches& fetches, const std::vector<size_t>& indices) {
    std::vector<Array> values;
    for (const size_t index : indices)
      values.push_back(ReduceReplicas(FetchOfReplicas(fetches, index, broadcast)));
    return values;
  };
  std::vector<RunValues> values(pass.hooks.size());
  const Outfeed outfeed = [&](int64_t, const StepFetches& fetches) -> absl::Status {
    const double weight = input.num_examples > 0 ? static_cast<double>(input.num_examples) : 1.0;
    pass.loss_sum += weight * ReduceReplicas(FetchOfReplicas(fetches, loss, broadcast)).AsDouble();
    pass.loss_weight += weight;
    if (spec.eval_metrics)
      EST_RETURN_IF_ERROR(host_metrics_->Update(joined(fetches, metric_fetches)));
    if (spec.host_call) EST_RETURN_IF_ERROR(spec.host_call->fn(joined(fetches, host_call_fetches)));
    for (size_t i = 0; i < values.size(); ++i) values[i].results = joined(fetches, hook_fetches[i]);
    return absl::OkStatus();
  };
  EST_RETURN_IF_ERROR(executable
                          ->RunLoop(
                              1,
                              [&]() -> absl::StatusOr<std::optional<StepFeeds>> {
                                return std::optional<StepFeeds>(feeds);
                              },
                              outfeed)
                          .status());
  pass.num_examples += input.num_examples;
  ++pass.num_steps;
  for (size_t i = 0; i < pass.hooks.size(); ++i) {
    values[i].global_step = context.global_step();
    values[i].num_steps = 1;
    EST_RETURN_IF_ERROR(pass.hooks[i]->AfterRun(context, values[i]));
  }
  pass.stop_requested = context.stop_requested();
  return absl::OkStatus();
}

absl::StatusOr<EvalResult> Evaluator::Finish(Pass& pass) {
  EvalResult result;
  const ModelSpec& spec = pass.first->model->spec;
  EST_ASSIGN_OR_RETURN(
      result.values,
      FetchMetricValues(*pass.first->backend, *pass.first->model->graph, spec.eval_metric_ops));
  if (spec.eval_metrics) {
    EST_ASSIGN_OR_RETURN(MetricValues host_values, host_metrics_->Values());
    result.values.merge(host_values);
  }
  result.values["loss"] = Array::Scalar(static_cast<float>(pass.loss_sum / pass.loss_weight));
  result.values["global_step"] = Array::Scalar<int64_t>(models_.state().global_step());
  result.num_examples = pass.num_examples;
  result.num_steps = pass.num_steps;
  result.checkpoint_path = pass.checkpoint;
  return result;
}

}  // namespace estimator
