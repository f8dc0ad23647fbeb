#include "estimator/training/loop/trainer.h"

#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "estimator/base/file.h"
#include "estimator/base/interrupt.h"
#include "estimator/base/status.h"
#include "estimator/checkpoint/bundle/bundle_format.h"
#include "estimator/checkpoint/load.h"
#include "estimator/nn/cross_shard.h"
#include "estimator/runtime/initialize_variables.h"
#include "estimator/training/loop/banner.h"
#include "estimator/training/loop/default_hooks.h"
#include "estimator/training/model/first_non_finite.h"
#include "estimator/training/model/replica_reduce.h"
#include "glog/logging.h"

namespace estimator {

// What the hooks of one Train call see.
class Trainer::TrainSession : public Session {
 public:
  TrainSession(Trainer& trainer, int64_t examples_per_step)
      : trainer_(trainer), examples_per_step_(examples_per_step) {}

  const Graph& graph() const override { return *trainer_.model_->graph; }
  VariableStore& variables() override { return trainer_.state_.store(); }
  int64_t global_step() const override { return trainer_.state_.global_step(); }
  const std::string& model_dir() const override { return trainer_.model_dir_; }
  int64_t steps_per_run() const override { return trainer_.strategy_.iterations_per_loop(); }
  int64_t examples_per_step() const override { return examples_per_step_; }
  absl::StatusOr<std::string> SaveCheckpoint() override { return trainer_.SaveCheckpoint(); }
  int64_t restored_step() const override { return trainer_.restored_step_; }
  std::string FirstNonFiniteTensor() override {
    return estimator::FirstNonFiniteTensor(*trainer_.model_, *trainer_.backend_, last_feeds);
  }

  StepFeeds last_feeds;  // of the step that ran last

 private:
  Trainer& trainer_;
  const int64_t examples_per_step_;
};

// The state of one Train call.
struct Trainer::Loop {
  TrainSession& session;
  const Hooks& hooks;
  InterruptibleLoop& interruptible;
  int64_t target_step;
  bool input_ended = false;
  bool stop_requested = false;
  bool loss_not_finite = false;
  absl::Status input_error;
};

Trainer::Trainer(Strategy& strategy, RunConfig config, std::optional<WarmStartSettings> warm_start)
    : strategy_(strategy),
      config_(std::move(config)),
      warm_start_(std::move(warm_start)),
      model_dir_(*config_.model_dir),
      newest_(model_dir_),
      backend_(strategy.MakeBackend(Mode::kTrain, state_.store())),
      input_(strategy, config_.tf_random_seed),
      saver_(SaverOptions{
          .keep_checkpoint_max = static_cast<int>(config_.keep_checkpoint_max.value_or(0)),
          .keep_checkpoint_every_n_hours = config_.keep_checkpoint_every_n_hours,
          .now_secs = nullptr}) {
  state_.set_only_in_memory(!config_.SavesCheckpoints());
}

Trainer::~Trainer() = default;

absl::Status Trainer::Train(const InputFn& input_fn, const TrainLength& length,
                            const TrainOptions& options) {
  const absl::Status status = TrainOnce(input_fn, length, options);
  if (status.ok() || (absl::IsCancelled(status) && InterruptRequested())) return status;
  // The input is ahead of what was trained, and a graph with an error stays unusable: the next call
  // opens and builds them again.
  input_.Close();
  if (model_ != nullptr && !model_->graph->status().ok()) {
    step_ = nullptr;
    model_ = nullptr;
  }
  return status;
}

absl::Status Trainer::TrainOnce(const InputFn& input_fn, const TrainLength& length,
                                const TrainOptions& options) {
  EST_RETURN_IF_ERROR(length.Validate());
  EST_RETURN_IF_ERROR(strategy_.Validate(Mode::kTrain));
  EST_ASSIGN_OR_RETURN(const Start start, PrepareStart(input_fn, length));
  const auto& [checkpoint, ahead, start_step, first, reached] = start;
  if (reached) {
    LOG(INFO) << "Skipping training since max_steps (" << *length.max_steps()
              << ") has already been reached: " << (ahead ? "training" : checkpoint)
              << " is at step " << start_step;
    return absl::OkStatus();
  }
  if (first == nullptr) {
    LOG(WARNING) << "Training with no steps: the input is empty (" << input_.open().Describe()
                 << ")";
    return absl::OkStatus();
  }
  TrainSession session(*this, first->num_examples);

  // What Begin adds to the graph must be compiled.
  EST_ASSIGN_OR_RETURN(
      const Hooks hooks,
      MakeTrainHooks({.config = config_,
                      .model = *model_,
                      .user_hooks = options.hooks,
                      .saving_listeners = options.saving_listeners,
                      .write_graph = step_->num_fetches() == 0,  // a model's first call
                      .target_step = length.TargetFrom(start_step)}));
  for (const auto& hook : hooks) EST_RETURN_IF_ERROR(hook->Begin(*model_->graph));
  EST_RETURN_IF_ERROR(model_->graph->status());
  EST_RETURN_IF_ERROR(EnsureVariablesOfHooks(checkpoint));
  if (step_->num_fetches() == 0) {
    step_->Fetch(model_->spec.loss);
    EST_ASSIGN_OR_RETURN(const Executable* executable, step_->executable());
    LogTrainingBanner({.strategy = strategy_,
                       .config = config_,
                       .model = *model_,
                       .info = executable->info(),
                       .input = input_.open().Describe(),
                       .examples_per_step = first->num_examples,
                       .start_step = state_.global_step(),
                       .checkpoint = checkpoint,
                       .fell_back = newest_.fell_back()});
  }
  for (const auto& hook : hooks) EST_RETURN_IF_ERROR(hook->AfterCreateSession(session));

  // Lives until the last steps are saved, in a hook's End.
  std::optional<InterruptibleLoop> interruptible(std::in_place, /*saves=*/HasSaver(hooks));
  Loop loop{.session = session,
            .hooks = hooks,
            .interruptible = *interruptible,
            .target_step = length.TargetFrom(state_.global_step()),
            .input_error = absl::OkStatus()};
  const absl::Status status = RunSteps(loop);
  if (!loop.input_error.ok() && config_.SavesCheckpoints() && state_.checkpoint().empty()) {
    EST_ASSIGN_OR_RETURN(const std::string saved, SaveCheckpoint());
    return absl::Status(loop.input_error.code(),
                        absl::StrCat(loop.input_error.message(), " (all steps up to ",
                                     state_.global_step(), " are saved in ", saved, ")"));
  }
  EST_RETURN_IF_ERROR(status);
  for (const auto& hook : hooks) {
    EST_RETURN_IF_ERROR(hook->End(session));
    if (HasSaver({hook})) interruptible.reset();
  }
  if (loop.input_ended && !length.until_end()) {
    LOG(WARNING) << "The input ended at step " << state_.global_step() << " of " << loop.target_step
                 << "; Repeat() it to train on";
  }
  if (InterruptRequested()) {
    return absl::CancelledError(absl::StrCat(
        "interrupted at step ", state_.global_step(),
        state_.checkpoint().empty()
            ? "; checkpoints are off, nothing was saved"
            : absl::StrCat("; saved in ", state_.checkpoint(), ". The next start with model_dir ",
                           model_dir_, " goes on from there")));
  }
  return absl::OkStatus();
}

namespace {

absl::Status VerifyCheckpoint(const std::string& prefix) {
  EST_ASSIGN_OR_RETURN(const std::unique_ptr<BundleReader> reader, BundleReader::Open(prefix));
  return reader->VerifyContents();
}

}  // namespace

// Input, model and variables, in step with the newest checkpoint that can be read.
absl::StatusOr<Trainer::Start> Trainer::PrepareStart(const InputFn& input_fn,
                                                     const TrainLength& length) {
  while (true) {
    EST_ASSIGN_OR_RETURN(const std::optional<std::string> newest, newest_.Find());
    Start start{.checkpoint = newest.value_or("")};
    start.ahead = state_.AheadOf(start.checkpoint);
    if (start.ahead) {
      start.step = state_.global_step();
    } else if (newest.has_value()) {
      const absl::StatusOr<int64_t> step = LoadGlobalStep(start.checkpoint);
      if (newest_.PassOver(start.checkpoint, step.status())) continue;
      EST_RETURN_IF_ERROR(step.status());
      start.step = *step;
    }
    start.reached = length.max_steps().has_value() && start.step >= *length.max_steps();
    if (start.reached) {
      // Nobody reads it here, but what follows relies on it: an export, an evaluation.
      const absl::Status whole = start.ahead || state_.checkpoint() == start.checkpoint
                                     ? absl::OkStatus()
                                     : VerifyCheckpoint(start.checkpoint);
      if (newest_.PassOver(start.checkpoint, whole)) continue;
      EST_RETURN_IF_ERROR(whole);
      return start;
    }
    EST_RETURN_IF_ERROR(CreateDirectories(model_dir_));
    const bool same = newest.has_value() && state_.checkpoint() == start.checkpoint;
    EST_ASSIGN_OR_RETURN(start.first, input_.First(input_fn, {.checkpoint = start.checkpoint,
                                                              .ahead = start.ahead,
                                                              .in_memory_same = same}));
    if (start.first == nullptr) return start;
    EST_RETURN_IF_ERROR(EnsureModel(*start.first));
    const absl::Status restored = EnsureVariables(start.checkpoint);
    if (newest_.PassOver(start.checkpoint, restored)) continue;
    EST_RETURN_IF_ERROR(restored);
    return start;
  }
}

absl::Status Trainer::EnsureModel(const StepInput& first) {
  if (model_ != nullptr && model_->slots == SlotsOf(first.replicas[0], Mode::kTrain))
    return absl::OkStatus();
  step_ = nullptr;
  model_ = nullptr;
  EST_ASSIGN_OR_RETURN(std::unique_ptr<BuiltModel> model,
                       BuildModel(strategy_, first.replicas[0],
                                  {.mode = Mode::kTrain,
                                   .seed = config_.tf_random_seed,
                                   .num_replicas = strategy_.num_replicas(Mode::kTrain)}));
  EST_RETURN_IF_ERROR(
      CheckGradientsAreSummed(*model->graph, model->num_replicas, {model->spec.train_op}));
  std::vector<Operation> updates = model->graph->update_ops();
  updates.push_back(model->spec.train_op);
  LOG_IF(INFO, model->summed_bare_optimizer)
      << "The optimizer sums its gradients over " << model->num_replicas
      << " shards as CrossShardOptimizer does: model_fn left it bare";
  model_ = std::move(model);
  meta_graph_.Reset();
  step_ = std::make_unique<CompiledStep>(*model_, *backend_, std::move(updates));
  return absl::OkStatus();
}

absl::Status Trainer::EnsureVariables(const std::string& checkpoint) {
  EST_RETURN_IF_ERROR(InitializeVariables(*model_->graph, state_.store(), /*only_local=*/true));
  if (state_.AheadOf(checkpoint)) {
    restored_step_ = -1;
    return InitializeVariables(*model_->graph, state_.store());
  }
  if (checkpoint.empty()) {
    restored_step_ = -1;
    return state_.InitializeFresh(*model_->graph, model_->scaffold, warm_start_);
  }
  if (state_.checkpoint() != checkpoint) {
    LOG(INFO) << "Restoring parameters from " << checkpoint;
    EST_RETURN_IF_ERROR(state_.Restore(*model_->graph, checkpoint, model_->scaffold));
  }
  restored_step_ = state_.global_step();
  return absl::OkStatus();
}

// Those that the hooks have added since EnsureVariables.
absl::Status Trainer::EnsureVariablesOfHooks(const std::string& checkpoint) {
  EST_RETURN_IF_ERROR(InitializeVariables(*model_->graph, state_.store(), /*only_local=*/true));
  bool added = false;
  for (const Variable& variable : model_->graph->variables()) {
    added |= !state_.store().initialized(variable.name());
  }
  if (!added) return absl::OkStatus();
  if (checkpoint.empty() || state_.AheadOf(checkpoint)) {
    return InitializeVariables(*model_->graph, state_.store());
  }
  return state_.Restore(*model_->graph, checkpoint, model_->scaffold);
}

absl::Status Trainer::RunSteps(Loop& loop) {
  while (!loop.stop_requested && !loop.input_ended && !InterruptRequested()) {
    const int64_t step = state_.global_step();
    if (step >= loop.target_step) break;
    const int64_t num_steps = std::min(strategy_.iterations_per_loop(), loop.target_step - step);
    loop.interruptible.set_end(step + num_steps);
    EST_RETURN_IF_ERROR(RunOnce(loop, num_steps));
  }
  return absl::OkStatus();
}

absl::Status Trainer::RunOnce(Loop& loop, int64_t num_steps) {
  const int64_t start_step = state_.global_step();
  RunContext context(loop.session, start_step);
  const size_t loss = step_->Fetch(model_->spec.loss);
  std::vector<size_t> host_call;
  if (model_->spec.host_call.has_value()) {
    for (const Tensor& tensor : model_->spec.host_call->tensors)
      host_call.push_back(step_->Fetch(tensor));
  }
  std::vector<std::vector<size_t>> wanted;  // per hook
  for (const auto& hook : loop.hooks) {
    std::vector<size_t> fetches;
    for (const Tensor& tensor : hook->BeforeRun(context)) fetches.push_back(step_->Fetch(tensor));
    wanted.push_back(std::move(fetches));
  }
  EST_RETURN_IF_ERROR(model_->graph->status());
  EST_ASSIGN_OR_RETURN(Executable * executable, step_->executable());

  const auto start = std::chrono::steady_clock::now();
  std::map<size_t, Array> results;
  const Infeed infeed = [&]() -> absl::StatusOr<std::optional<StepFeeds>> {
    const auto next = [&]() -> absl::StatusOr<std::optional<StepFeeds>> {
      EST_ASSIGN_OR_RETURN(std::optional<StepInput> input, input_.open().Next());
      if (!input.has_value()) {
        loop.input_ended = true;
        return std::optional<StepFeeds>();
      }
      EST_ASSIGN_OR_RETURN(loop.session.last_feeds, step_->Feeds(*input));
      return std::optional<StepFeeds>(loop.session.last_feeds);
    };
    absl::StatusOr<std::optional<StepFeeds>> feeds = next();
    if (!feeds.ok()) loop.input_error = feeds.status();
    return feeds;
  };
  const bool broadcast = strategy_.broadcast(Mode::kTrain);
  const Outfeed outfeed = [&](int64_t step, const StepFetches& fetches) -> absl::Status {
    if (model_->spec.host_call.has_value() && step % strategy_.host_call_every_n_steps() == 0) {
      std::vector<Array> values;
      for (const size_t fetch : host_call)
        values.push_back(ReduceReplicas(FetchOfReplicas(fetches, fetch, broadcast)));
      EST_RETURN_IF_ERROR(model_->spec.host_call->fn(values));
    }
    const Array loss_value = ReduceReplicas(FetchOfReplicas(fetches, loss, broadcast));
    loop.loss_not_finite = !std::isfinite(loss_value.AsDouble());
    bool last = step + 1 == num_steps || loop.loss_not_finite;
    if (!last) {
      // A failing input shows itself at the next infeed.
      const absl::StatusOr<const StepInput*> next = input_.open().Peek();
      last = !next.ok() || *next == nullptr;
    }
    if (last) {
      for (const std::vector<size_t>& fetch_list : wanted) {
        for (const size_t fetch : fetch_list) {
          if (results.count(fetch) == 0)
            results[fetch] = ReduceReplicas(FetchOfReplicas(fetches, fetch, broadcast));
        }
      }
      results[loss] = loss_value;
    }
    // The updates of this step would put the NaN into every variable.
    return loop.loss_not_finite ? absl::AbortedError("the loss is not finite") : absl::OkStatus();
  };
  const absl::StatusOr<int64_t> ran = executable->RunLoop(num_steps, infeed, outfeed);
  if (!ran.ok() || *ran > 0) state_.MarkChanged();
  if (!loop.input_error.ok() || loop.loss_not_finite) input_.open().MarkLastUnused();
  if (!ran.ok() && !loop.loss_not_finite) return ran.status();
  if (ran.ok() && *ran == 0) return absl::OkStatus();  // the input ended before the first step
  if (ran.ok() && state_.global_step() == start_step) {
    return absl::FailedPreconditionError(
        "train_op does not advance global_step, so training would never end; Optimizer::Minimize "
        "advances it, and so does AssignAdd(GetOrCreateGlobalStep(), ...) in the Group that you "
        "return");
  }
  RunValues values{
      .results = {},
      .global_step = state_.global_step(),
      .num_steps = ran.ok() ? *ran : state_.global_step() - start_step,
      .loss_not_finite = loop.loss_not_finite,
      .seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()};
  strategy_.ObserveRun(values.num_steps, values.seconds);
  for (size_t i = 0; i < loop.hooks.size(); ++i) {
    values.results.clear();
    for (const size_t fetch : wanted[i]) values.results.push_back(results[fetch]);
    EST_RETURN_IF_ERROR(loop.hooks[i]->AfterRun(context, values));
  }
  loop.stop_requested = context.stop_requested() || loop.loss_not_finite;
  return absl::OkStatus();
}

absl::StatusOr<std::string> Trainer::SaveCheckpoint() {
  std::map<std::string, Array> values;  // sharing the store's bytes
  for (const Variable& variable : model_->graph->variables()) {
    if (!variable.local()) values[variable.name()] = *state_.store().Peek(variable.name());
  }
  EST_ASSIGN_OR_RETURN(const std::string input_state, input_.open().SaveState());
  EST_ASSIGN_OR_RETURN(const std::string prefix,
                       saver_.Save(model_dir_, state_.global_step(), values,
                                   {.input_state = input_state,
                                    .meta_graph = config_.checkpoint_save_graph_def
                                                      ? meta_graph_.Of(*model_, config_)
                                                      : MetaGraphSource()}));
  state_.set_checkpoint(prefix);
  const std::vector<std::string> spoilt = NamesWithNaN(values);
  LOG_IF(WARNING, !spoilt.empty() && !warned_of_nan_)
      << prefix << ": NaN in " << ListNames(spoilt) << ": is there one in the input?";
  warned_of_nan_ |= !spoilt.empty();
  return prefix;
}

}  // namespace estimator
