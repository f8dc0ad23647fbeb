// How a call of Trainer::Train starts: the checkpoint, the input, the model and the variables.
#include <memory>
#include <string>
#include <utility>

#include "estimator/base/status.h"
#include "estimator/checkpoint/bundle_reader.h"
#include "estimator/checkpoint/input_file.h"
#include "estimator/checkpoint/load.h"
#include "estimator/nn/train/settable_rate.h"
#include "estimator/runtime/initialize_variables.h"
#include "estimator/training/loop/epoch_loop.h"
#include "estimator/training/loop/trainer.h"
#include "glog/logging.h"

namespace estimator {

namespace {

absl::Status VerifyCheckpoint(const std::string& prefix) {
  EST_ASSIGN_OR_RETURN(const std::unique_ptr<BundleReader> reader, BundleReader::Open(prefix));
  return reader->VerifyContents();
}

}  // namespace

absl::StatusOr<Trainer::Start> Trainer::PrepareStart(const InputFn& input_fn,
                                                     const TrainLength& length,
                                                     const absl::Status& may_train) {
  CheckpointChoice newest{.by = CheckpointChoice::By::kCaller, .prefix = ""};
  if (peers_.is_chief()) {
    const absl::StatusOr<CheckpointChoice> chosen = start_checkpoint_.Choose();
    if (!chosen.ok()) return chosen.status();
    newest = *chosen;
  } else {
    // The chief has read it, and may have passed over a damaged one.
    EST_ASSIGN_OR_RETURN(newest, CheckpointOfChief(peers_, model_dir_, newest));
  }
  absl::StatusOr<Start> start;
  const auto prepare = [&](CheckpointAttempt& attempt) {
    start = PrepareFrom(attempt, input_fn, length, may_train);
    return start.status();
  };
  const absl::Status started = start_checkpoint_.Start(newest, prepare).status();
  if (!started.ok()) return started;
  return start;
}

absl::StatusOr<Trainer::Start> Trainer::PrepareFrom(CheckpointAttempt& attempt,
                                                    const InputFn& input_fn,
                                                    const TrainLength& length,
                                                    const absl::Status& may_train) {
  Start start{.checkpoint = attempt.prefix(), .memory = state_.RelativeTo(attempt.prefix())};
  // The newest checkpoint is behind the variables in memory, so their own step counts.
  if (start.memory == MemoryState::kAhead) {
    start.step = state_.global_step();
  } else if (!start.checkpoint.empty()) {
    const absl::StatusOr<int64_t> step = LoadGlobalStep(start.checkpoint);
    EST_RETURN_IF_ERROR(attempt.Reading(step.status()));
    start.step = *step;
  }
  if (length.max_steps().has_value() && start.step >= *length.max_steps()) {
    start.action = Start::Action::kSkip;
    // Nothing reads the checkpoint here, but the export or evaluation that follows will.
    if (start.memory == MemoryState::kOther && start.checkpoint != known_to_be_of_model_) {
      EST_RETURN_IF_ERROR(attempt.Reading(VerifyCheckpoint(start.checkpoint)));
      EST_RETURN_IF_ERROR(CheckIsOfModel(attempt, input_fn));
    }
    return start;
  }
  // A call that has nothing to train needs no lock, so its error is returned only here.
  EST_RETURN_IF_ERROR(may_train);
  EST_ASSIGN_OR_RETURN(
      const StepInput* const first,
      input_.First(input_fn, {.checkpoint = start.checkpoint, .memory = start.memory}));
  if (first == nullptr) {
    start.action = Start::Action::kInputEmpty;
    return start;
  }
  start.examples_per_step = first->num_examples;
  input_position_ = first->position;
  sizes_ = SizesOf(*first);
  EST_RETURN_IF_ERROR(EnsureModel(*first));
  EST_RETURN_IF_ERROR(EnsureVariables(start, attempt));
  // Only now is it known whether the checkpoint's global_step is the step.
  start.step = state_.global_step();
  // Values of another run, and not of this model_dir, have brought the step along.
  if (start.checkpoint.empty() && start.memory == MemoryState::kOther &&
      length.max_steps().has_value() && start.step >= *length.max_steps()) {
    return InvalidArgument("the variables start at global_step ", start.step,
                           ", which comes from another run, and max_steps is ", *length.max_steps(),
                           ", so nothing would be trained: leave global_step out of "
                           "vars_to_warm_start (or Scaffold::init_fn), or train for Steps(n)");
  }
  return start;
}

absl::StatusOr<int64_t> Trainer::PrepareEpochs(const Start& start, const TrainOptions& options) {
  const std::string state = std::exchange(epoch_state_, "");
  epochs_ = options.epochs;
  follows_epochs_ = false;
  if (epochs_ == nullptr) {
    epochs_ = std::make_shared<EpochLoop>(EpochLoopOptions{.hooks = options.hooks});
    if (!epochs_->has_callbacks()) epochs_ = nullptr;
  }
  if (epochs_ == nullptr) return callbacks::Context::kUnknown;
  if (!peers_.is_chief()) {
    // The chief calls the callbacks, writes the history and says when the epochs are over.
    epochs_ = nullptr;
    follows_epochs_ = true;
    main_->step->AlsoUpdate(TrainMetrics::UpdatesOf(main_->model->spec));
    return callbacks::Context::kUnknown;
  }
  EpochLoop::Model model{.model = *main_->model,
                         .backend = *backend_,
                         .broadcast = strategy_.broadcast(Mode::kTrain),
                         .sizes = sizes_,
                         .global_step = start.step,
                         .model_dir = model_dir_,
                         .state = state};
  // An earlier call, which failed before the first step, may have left no state.
  if (start.memory == MemoryState::kOther ||
      (state.empty() && start.memory == MemoryState::kAtCheckpoint)) {
    // Checkpoints of TensorFlow's have no such file.
    const absl::StatusOr<InputFile> file =
        start.checkpoint.empty() ? InputFile() : ReadInputFile(start.checkpoint);
    if (!absl::IsNotFound(file.status())) EST_RETURN_IF_ERROR(file.status());
    // A dry run trains a step whatever epochs there were.
    model.state = file.ok() && !config_.dry_run ? file->epochs : "";
  }
  absl::Status prepared = epochs_->Prepare(model);
  if (!prepared.ok()) {
    epochs_ = nullptr;
    return prepared;
  }
  main_->step->AlsoUpdate(TrainMetrics::UpdatesOf(main_->model->spec));
  return epochs_->target_step();
}

// A model_dir of another model may be past max_steps as well. To find out, the model is built for
// the first step of the input.
absl::Status Trainer::CheckIsOfModel(CheckpointAttempt& attempt, const InputFn& input_fn) {
  const absl::StatusOr<const StepInput*> first = input_.First(input_fn, {});
  if (!first.ok() || *first == nullptr) {
    input_.Close();
    LOG(WARNING) << "it is not known whether " << attempt.prefix()
                 << " is of this model, because the training input "
                 << (first.ok() ? "is empty" : absl::StrCat("fails: ", first.status().message()));
    return absl::OkStatus();
  }
  // The input is closed, because nothing will be trained from it.
  const absl::Status built = EnsureModel(**first);
  input_.Close();
  EST_RETURN_IF_ERROR(built);
  EST_RETURN_IF_ERROR(attempt.Reading(
      ModelState::CheckIsOfModel(*main_->model->graph, attempt.prefix(), main_->model->scaffold)));
  known_to_be_of_model_ = attempt.prefix();
  return absl::OkStatus();
}

absl::Status Trainer::EnsureVariablesOfHooks(const Start& start) {
  EST_RETURN_IF_ERROR(
      InitializeVariables(*main_->model->graph, state_.store(), /*only_local=*/true));
  // A hook has made the rate settable, which checkpoints of runs without the hook do not have.
  if (main_->model->graph->FindVariable(train::kSetLearningRate).has_value() &&
      !state_.store().initialized(train::kSetLearningRate))
    EST_RETURN_IF_ERROR(RateBecameSettable());
  bool added = false;
  for (const Variable& variable : main_->model->graph->variables()) {
    added |= !state_.store().initialized(variable.name());
  }
  if (!added) return absl::OkStatus();
  if (start.checkpoint.empty() || start.memory == MemoryState::kAhead) {
    return InitializeVariables(*main_->model->graph, state_.store());
  }
  // An earlier run with these hooks has saved their variables too.
  return RestoreVariables(start.checkpoint);
}

std::vector<Tensor> Trainer::StepFetches(const ModelSpec& spec) const {
  std::vector<Tensor> fetches = {spec.loss};
  if (by_epochs()) {
    const std::vector<Tensor> metrics = TrainMetrics::TensorsOf(spec);
    fetches.insert(fetches.end(), metrics.begin(), metrics.end());
  }
  return fetches;
}

}  // namespace estimator
