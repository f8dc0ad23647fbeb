#include "estimator/training/loop/trainer.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "estimator/base/exit_code.h"
#include "estimator/base/interrupt.h"
#include "estimator/base/status.h"
#include "estimator/checkpoint/bundle_reader.h"
#include "estimator/checkpoint/saver.h"
#include "estimator/nn/replica_scope.h"
#include "estimator/nn/train/settable_rate.h"
#include "estimator/runtime/initialize_variables.h"
#include "estimator/training/hooks/nan_tensor_hook.h"
#include "estimator/training/input/host_positions.h"
#include "estimator/training/loop/banner.h"
#include "estimator/training/loop/changed_seed.h"
#include "estimator/training/loop/default_hooks.h"
#include "estimator/training/loop/epoch_loop.h"
#include "estimator/training/loop/event_session.h"
#include "estimator/training/loop/step_runner.h"
#include "estimator/training/loop/train_lock.h"
#include "estimator/training/loop/trainer_loop.h"
#include "estimator/training/model/first_non_finite.h"
#include "glog/logging.h"

namespace estimator {

Trainer::Trainer(Strategy& strategy, RunConfig config, Peers& peers,
                 std::optional<WarmStartSettings> warm_start)
    : strategy_(strategy),
      config_(std::move(config)),
      peers_(peers),
      warm_start_(std::move(warm_start)),
      model_dir_(*config_.model_dir),
      start_checkpoint_(model_dir_),
      backend_(strategy.MakeBackend(Mode::kTrain, state_.store())),
      shapes_(Mode::kTrain, config_.max_compiled_shapes),
      input_(strategy, config_.tf_random_seed, config_.on_input_change, peers_),
      checkpoints_(config_) {
  // Without checkpoints, only the memory has what was learned, and the next call continues from
  // there.
  state_.set_only_in_memory(!config_.SavesCheckpoints());
}

Trainer::~Trainer() = default;

absl::Status Trainer::Train(const InputFn& input_fn, const TrainLength& length,
                            const TrainOptions& options) {
  in_call_ = true;
  const absl::Cleanup over = [this] { in_call_ = false; };
  failed_in_step_ = false;
  peers_.Begin();
  absl::Status status = TrainOnce(input_fn, length, options);
  status = peers_.Finish(status, failed_in_step_);
  if (ExitCodeOf(status) == kLostPeerExitCode) status = ExplainLostPeer(status);
  // Between calls, the thread that reads ahead must not run the user's functions.
  input_.Pause();
  // After an interrupt, the open input is at the next step, so another call continues with it.
  if (status.ok() || (absl::IsCancelled(status) && InterruptRequested())) return status;
  // The input may be past the last step that was trained, so the next call opens it again. A graph
  // with an error stays unusable, so the next call builds the model again.
  input_.Close();
  if (main_ != nullptr && !main_->model->graph->status().ok()) {
    main_ = nullptr;
    shapes_.Clear();
  }
  return status;
}

InputSizes Trainer::SizesOf(const StepInput& first) {
  return {.examples_per_step = first.num_examples,
          .examples_per_epoch =
              config_.examples_per_epoch.value_or(input_.open().description().examples_per_epoch)};
}

absl::StatusOr<TrainLength> Trainer::InSteps(const InputFn& input_fn, const TrainLength& length) {
  if (!length.needs_sizes()) return length;
  if (!input_.is_open(input_fn)) {
    const absl::StatusOr<const StepInput*> first = input_.First(input_fn, {});
    EST_ASSIGN_OR_RETURN(sizes_, SumSizes(first));
    if (*first == nullptr) return TrainLength();  // Train then says that the input is empty
    // PrepareStart opens it again, at the position of the checkpoint.
    input_.Close();
  }
  return length.Resolve(sizes_);
}

absl::Status Trainer::TrainOnce(const InputFn& input_fn, const TrainLength& given_length,
                                const TrainOptions& options) {
  EST_RETURN_IF_ERROR(given_length.Validate());
  EST_RETURN_IF_ERROR(strategy_.Validate(Mode::kTrain));
  EST_ASSIGN_OR_RETURN(const TrainLength length, InSteps(input_fn, given_length));
  // The lock is taken before the newest checkpoint is chosen: another run could write one in
  // between.
  absl::StatusOr<std::unique_ptr<FileLock>> lock = nullptr;
  if (peers_.is_chief()) lock = LockForTraining(model_dir_);
  const absl::Status trained = TrainLocked(input_fn, length, options, lock.status());
  // Another call continues with this position, unless it reads a checkpoint.
  if (epochs_ != nullptr) {
    epoch_state_ = epochs_->SaveState().value_or("");
    epochs_ = nullptr;
  }
  // The lock also covers the checkpoint that is still being written after an error.
  const absl::Status saved = FinishCheckpoint();
  if (trained.ok()) return saved;
  LOG_IF(ERROR, !saved.ok()) << saved;
  return trained;
}

absl::Status Trainer::TrainLocked(const InputFn& input_fn, const TrainLength& length,
                                  const TrainOptions& options, const absl::Status& may_train) {
  EST_ASSIGN_OR_RETURN(const Start start, AgreeOnStart(PrepareStart(input_fn, length, may_train)));
  if (start.action == Start::Action::kSkip) {
    LOG(INFO) << "Skipping training since max_steps (" << *length.max_steps()
              << ") has already been reached: "
              << (start.memory == MemoryState::kAhead ? "training" : start.checkpoint)
              << " is at step " << start.step;
    return absl::OkStatus();
  }
  if (start.action == Start::Action::kInputEmpty) {
    const std::string& pipeline = input_.open().description().pipeline;
    if (options.epochs != nullptr && options.epochs->keeps_history()) {
      return InvalidArgument("TrainEpochs: the input has no batch (", pipeline,
                             "). With drop_remainder, examples that are fewer than a batch are "
                             "dropped: give more data, or a smaller batch");
    }
    LOG(WARNING) << "Training with no steps: the input is empty (" << pipeline << ")";
    return absl::OkStatus();
  }
  absl::StatusOr<int64_t> target = PrepareEpochs(start, options);
  if (target.ok()) target = std::min(length.TargetFrom(start.step), *target);
  const bool over = target.ok() && epochs_ != nullptr && *target <= start.step && epochs_->over();
  EST_ASSIGN_OR_RETURN(const int64_t target_step, AgreeOnTarget(over ? 0 : target));
  if (over || target_step == 0) {
    LOG(INFO) << "Skipping training since all epochs have already been trained: "
              << (start.checkpoint.empty() ? "training" : start.checkpoint) << " is at step "
              << start.step;
    return absl::OkStatus();
  }
  TrainSession session(*this, start.examples_per_step);
  // Hooks write events from Begin on, so readers must know of the new session before.
  if (peers_.is_chief()) EST_RETURN_IF_ERROR(StartTrainingEvents(model_dir_, state_.global_step()));

  // Hooks may add nodes in Begin, so Begin comes before the step is compiled.
  const BuiltModel& model = *main_->model;
  CompiledStep& step = *main_->step;
  const bool first_call = step.num_fetches() == 0;  // of this model
  EST_ASSIGN_OR_RETURN(Hooks hooks, MakeTrainHooks({.config = config_,
                                                    .model = model,
                                                    .user_hooks = options.hooks,
                                                    .saving_listeners = options.saving_listeners,
                                                    .write_graph = first_call,
                                                    .sizes = sizes_,
                                                    .target_step = target_step,
                                                    .is_chief = peers_.is_chief()}));
  // First, so that a checkpoint of an epoch's last step has what its callbacks changed.
  if (epochs_ != nullptr) hooks.insert(hooks.begin(), epochs_);
  // Whether Ctrl-C promises that the steps are saved depends on the hooks.
  const bool saves_at_end = HasSaver(hooks) || !peers_.is_chief();
  StepRunner runner(session, std::move(hooks),
                    {.broadcast = strategy_.broadcast(Mode::kTrain),
                     .host_call_every_n_steps = strategy_.host_call_every_n_steps(),
                     .loss = model.spec.loss,
                     .peers = &peers_,
                     .input_per_host = true,
                     .accumulate_steps = static_cast<int>(config_.accumulate_steps)});
  runner.SetInputPositions(input_positions_);
  {
    // An optimizer that a hook's Begin adds to the graph is of the same replicas as the model's.
    const ReplicaScope replicas(
        {.num_replicas = model.num_replicas,
         .dense_gradients = strategy_.on_replicas() || model.num_replicas > 1,
         .learning_rate_scale = RateScale()});
    EST_RETURN_IF_ERROR(runner.Begin(*model.graph));
  }
  EST_RETURN_IF_ERROR(model.graph->status());
  EST_RETURN_IF_ERROR(EnsureVariablesOfHooks(start));
  if (first_call) {
    // The banner is of the program that the steps run, with all fetches.
    EST_RETURN_IF_ERROR(runner.Prepare(step, StepFetches(model.spec)));
    EST_ASSIGN_OR_RETURN(const Executable* executable, step.executable());
    EST_ASSIGN_OR_RETURN(const TrainIntervals intervals, IntervalsOf(config_, sizes_));
    if (peers_.is_chief())
      LogTrainingBanner({.backend = backend_->name(),
                         .steps_per_run = strategy_.iterations_per_loop(),
                         .config = config_,
                         .model = model,
                         .info = executable->info(),
                         .input = input_.open().description(),
                         .sizes = sizes_,
                         .intervals = intervals,
                         .saving_listeners = options.saving_listeners,
                         .user_hooks = options.hooks,
                         .start_step = state_.global_step(),
                         .target_step = target_step,
                         .checkpoint = start.checkpoint,
                         .fell_back = start_checkpoint_.fell_back()});
  }
  variables_set_ = false;
  EST_RETURN_IF_ERROR(AgreeOnProgram(target_step));
  EST_RETURN_IF_ERROR(runner.AfterCreateSession());

  // Lives until the saver's End has saved the last steps: an interrupt before that waits for it.
  std::optional<InterruptibleLoop> interruptible(std::in_place, /*saves=*/saves_at_end);
  Loop loop{.session = session,
            .runner = runner,
            .target_step = target_step,
            .first_step = state_.global_step(),
            .run_start = state_.global_step(),
            .last_run = {},
            .interrupted = false};
  absl::Status status = epochs_ == nullptr ? absl::OkStatus() : epochs_->Start(session);
  if (status.ok()) status = RunSteps(loop);
  if (status.ok()) {
    status = runner.End([&](const HookPtr& hook) {
      if (HasSaver({hook})) interruptible.reset();
    });
    if (!peers_.alone()) status = AgreeOnEnd(session, status);
  }
  if (!status.ok()) return SaveBeforeError(status, loop);
  if (loop.last_run.end == RunEnd::kInputEnded && !length.until_end()) {
    LOG_IF(WARNING, peers_.is_chief())
        << "The input ended at step " << state_.global_step() << " of " << loop.target_step
        << "; call Repeat() on it to train longer";
  }
  // The saver's End has run, so the message can name the checkpoint.
  if (peers_.alone() ? InterruptRequested() : loop.interrupted) {
    return absl::CancelledError(absl::StrCat(
        "interrupted at step ", state_.global_step(),
        state_.checkpoint().empty()
            ? "; checkpoints are off, nothing was saved"
            : absl::StrCat("; saved in ", state_.checkpoint(), ". The next start with model_dir ",
                           model_dir_, " continues from there")));
  }
  return absl::OkStatus();
}

absl::Status Trainer::SaveBeforeError(const absl::Status& status, const Loop& loop) {
  // After an error of the program or a number that is not finite, the variables may be spoilt.
  // After that of the input, a hook, an event file, host_call or a step that was stopped, they are
  // those of the last step, but for a device that ran on when host_call failed.
  const RunEnd end = loop.last_run.end;
  const bool whole = (end != RunEnd::kFailed || absl::IsDeadlineExceeded(status) ||
                      absl::IsCancelled(status) || ExitCodeOf(status) == kLostPeerExitCode) &&
                     peers_.is_chief() && end != RunEnd::kStepDiscarded && !IsNotFinite(status) &&
                     state_.global_step() == loop.run_start + loop.last_run.num_steps;
  if (!whole || state_.global_step() == loop.first_step || !config_.SavesCheckpoints() ||
      !state_.checkpoint().empty())
    return status;
  const absl::StatusOr<std::string> saved = SaveCheckpoint(TrainCheckpoints::When::kNow);
  LOG_IF(ERROR, !saved.ok()) << "the steps before an error cannot be saved: " << saved.status();
  if (!saved.ok()) return status;
  absl::Status result(status.code(),
                      absl::StrCat(status.message(), " (all steps up to ", state_.global_step(),
                                   " are saved in ", *saved, ")"));
  return ExitCodeOf(status).has_value() ? WithExitCode(result, *ExitCodeOf(status)) : result;
}

absl::StatusOr<std::string> Trainer::SaveCheckpoint(
    TrainCheckpoints::When when, const std::function<absl::Status(const std::string&)>& committed) {
  // The chief's checkpoint has the variables and the positions of all.
  if (!peers_.is_chief()) return Saver().Prefix(model_dir_, state_.global_step());
  std::string epochs;
  if (epochs_ != nullptr) {
    EST_ASSIGN_OR_RETURN(epochs, epochs_->SaveState());
  }
  EST_ASSIGN_OR_RETURN(std::string prefix, checkpoints_.Save({.model = *main_->model,
                                                              .variables = state_,
                                                              .input_position = input_position_,
                                                              .epochs = epochs},
                                                             when, committed));
  state_.set_checkpoint(prefix);
  return prefix;
}

absl::Status Trainer::FinishCheckpoint() { return CheckSaved(checkpoints_.Finish()); }

absl::Status Trainer::CheckSaved(const absl::Status& saved) {
  // The checkpoint was taken to be written. Without it, the variables have the values of none.
  if (!saved.ok()) state_.MarkChanged();
  return saved;
}

absl::Status Trainer::EnsureVariables(const Start& start, CheckpointAttempt& attempt) {
  EST_RETURN_IF_ERROR(
      InitializeVariables(*main_->model->graph, state_.store(), /*only_local=*/true));
  restored_step_ = -1;
  // Only variables that have no value yet get one: the others are ahead of every checkpoint.
  if (start.memory == MemoryState::kAhead)
    return InitializeVariables(*main_->model->graph, state_.store());
  if (start.checkpoint.empty())
    return state_.InitializeFresh(*main_->model->graph, main_->model->scaffold, warm_start_);
  if (start.memory == MemoryState::kOther) {
    LOG(INFO) << "Restoring parameters from " << start.checkpoint;
    EST_RETURN_IF_ERROR(attempt.Reading(RestoreVariables(start.checkpoint)));
    WarnOfChangedSeed(*main_->model->graph, start.checkpoint);
  }
  restored_step_ = state_.global_step();
  return absl::OkStatus();
}

absl::StatusOr<int64_t> Trainer::StepsOfNextRun(const Loop& loop) {
  if (loop.last_run.end != RunEnd::kStepsDone || loop.last_run.stop_requested ||
      InterruptRequested())
    return 0;
  const int64_t step = state_.global_step();
  if (step >= loop.target_step) return 0;
  // An error of the thread that writes is returned after this run, and not at the end of training.
  EST_RETURN_IF_ERROR(CheckSaved(checkpoints_.Poll()));
  const int64_t num_steps = std::min(strategy_.iterations_per_loop(), loop.target_step - step);
  // A run ends with the epoch.
  return epochs_ == nullptr ? num_steps : std::min(num_steps, epochs_->StepsLeft());
}

absl::Status Trainer::RunSteps(Loop& loop) {
  while (true) {
    absl::StatusOr<int64_t> num_steps = StepsOfNextRun(loop);
    if (!peers_.alone()) num_steps = AgreeOnNextRun(loop, num_steps);
    EST_RETURN_IF_ERROR(num_steps.status());
    if (*num_steps == 0) return absl::OkStatus();
    EST_RETURN_IF_ERROR(RunOnce(loop, *num_steps));
  }
}

absl::Status Trainer::RunOnce(Loop& loop, int64_t num_steps) {
  const int64_t start_step = state_.global_step();
  loop.run_start = start_step;
  loop.last_run = {};
  double& waited = loop.session.times().input;
  const double waited_before = waited;
  absl::StatusOr<const StepInput*> next = nullptr;
  {
    const AddSeconds waiting(waited);
    next = input_.open().Peek();
  }
  // An error of the input, and its end, come again in Run.
  if (next.ok() && *next != nullptr) {
    loop.session.last = main_;  // a new program may take the place of the last one
    EST_ASSIGN_OR_RETURN(loop.session.last, ShapeFor(**next));
  }
  const CompiledShape& shape = *loop.session.last;
  const auto on_step = [&](const StepOutput& step) -> absl::StatusOr<StepVerdict> {
    // The search for the first NaN runs the step again, with the same input.
    loop.session.last_feeds = step.feeds;
    // If the loss is not finite, the updates would put NaN into every variable.
    if (!std::isfinite(step.values[0].AsDouble())) return StepVerdict::kDiscard;
    if (epochs_ != nullptr) EST_RETURN_IF_ERROR(epochs_->AddStep(step.values, step.num_examples));
    return StepVerdict::kApply;
  };
  const auto on_run = [&](const StepRun& run) -> absl::Status {
    // It is kept here too, because an error of this function hides the result of Run.
    loop.last_run = run;
    // A run that failed may have applied the steps before the error.
    if (run.end != RunEnd::kInputEnded || run.num_steps > 0) state_.MarkChanged();
    input_position_ = peers_.alone() ? run.input_position : JoinHostPositions(run.input_positions);
    failed_in_step_ = run.end == RunEnd::kFailed || run.end == RunEnd::kHostCallFailed;
    if (!run.status.ok()) return run.status;
    if (run.end != RunEnd::kStepDiscarded) {
      if (run.num_steps == 0) return absl::OkStatus();  // the input ended before the first step
      if (state_.global_step() == start_step) {
        return FailedPrecondition(
            "train_op does not advance global_step, so training would never end; "
            "Optimizer::Minimize advances it, and so does AssignAdd(GetOrCreateGlobalStep(), ...) "
            "in the Group that you return");
      }
    }
    strategy_.ObserveRun(run.num_steps, run.seconds);
    return absl::OkStatus();
  };
  EST_ASSIGN_OR_RETURN(loop.last_run, loop.runner.Run({.step = *shape.step,
                                                       .input = input_.open(),
                                                       .num_steps = num_steps,
                                                       .waited_seconds = waited - waited_before,
                                                       .fetches = StepFetches(shape.model->spec),
                                                       .on_step = on_step,
                                                       .on_run = on_run}));
  return absl::OkStatus();
}

}  // namespace estimator
