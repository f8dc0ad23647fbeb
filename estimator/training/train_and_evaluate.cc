#include "estimator/training/train_and_evaluate.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "estimator/base/file.h"
#include "estimator/base/file_system.h"
#include "estimator/base/interrupt.h"
#include "estimator/base/path.h"
#include "estimator/base/status.h"
#include "estimator/checkpoint/checkpoints_iterator.h"
#include "estimator/checkpoint/latest_checkpoint.h"
#include "estimator/checkpoint/load.h"
#include "estimator/training/early_stopping.h"
#include "estimator/training/loop/epoch_loop.h"
#include "estimator/training/training_end.h"
#include "glog/logging.h"

namespace estimator {
namespace {

constexpr double kPollSecs = 1;

absl::Status ValidateExporters(const Exporters& exporters) {
  std::vector<std::string> names;
  for (const auto& exporter : exporters) {
    if (exporter == nullptr) return InvalidArgument("an exporter of EvalSpec is null");
    names.push_back(exporter->name());
  }
  const std::set<std::string> unique(names.begin(), names.end());
  if (unique.count("") > 0 || unique.size() != names.size()) {
    return InvalidArgument(unique.count("") > 0 ? "An Exporter cannot have a name that is empty."
                                                : "`exporters` must have unique names.",
                           " All exporter names: '", absl::StrJoin(names, "', '"), "'");
  }
  for (const auto& exporter : exporters) EST_RETURN_IF_ERROR(exporter->Validate());
  return absl::OkStatus();
}

absl::Status Validate(const TrainAndEvaluateCall& call) {
  std::vector<std::string> wrong;
  if (call.train == nullptr) wrong.emplace_back("TrainSpec.input_fn must be given");
  if (call.evaluate == nullptr) wrong.emplace_back("EvalSpec.input_fn must be given");
  if (call.max_steps.value_or(1) <= 0)
    wrong.push_back(absl::StrCat("Must specify max_steps > 0, given: ", *call.max_steps));
  if (call.eval_steps.value_or(1) <= 0)
    wrong.push_back(absl::StrCat("Must specify steps > 0, given: ", *call.eval_steps));
  // Written so that it also refuses NaN.
  if (!(call.start_delay_secs >= 0)) {
    wrong.push_back(
        absl::StrCat("Must specify start_delay_secs >= 0, given: ", call.start_delay_secs));
  }
  if (!(call.throttle_secs >= 0))
    wrong.push_back(absl::StrCat("Must specify throttle_secs >= 0, given: ", call.throttle_secs));
  if (call.throttle_every.has_value() && !(call.throttle_every->value() > 0)) {
    wrong.push_back(
        absl::StrCat("Must specify throttle_every > 0, given: ", call.throttle_every->ToString()));
  }
  if (!wrong.empty()) return InvalidArgument("TrainAndEvaluate: ", absl::StrJoin(wrong, "; "));
  return ValidateExporters(call.exporters);
}

std::string ExportPath(const TrainAndEvaluateCall& call, const Exporter& exporter) {
  return JoinPath(call.estimator.model_dir(), "export", exporter.name());
}

bool ReachedMaxSteps(const TrainAndEvaluateCall& call, int64_t step) {
  if (call.estimator.config().dry_run) return true;  // with the final export
  return call.max_steps.has_value() && step >= *call.max_steps;
}

// A file beside the exporters' folders: the step whose exports are complete.
std::string ExportedStepPath(const TrainAndEvaluateCall& call) {
  return JoinPath(call.estimator.model_dir(), "export", ".exported_step");
}

// Evaluates the newest checkpoint and gives it to the exporters.
absl::Status EvaluateAndExport(const TrainAndEvaluateCall& call, TrainAndEvaluateResult& result) {
  EST_ASSIGN_OR_RETURN(EvalResult evaluated, call.evaluate());
  result.export_results.clear();
  if (!call.estimator.peers().is_chief()) {
    result.eval_result = std::move(evaluated);
    return absl::OkStatus();
  }
  const Peers::ChiefAlone exports(call.estimator.peers());
  const bool is_the_final_export = ReachedMaxSteps(call, evaluated.global_step());
  for (const auto& exporter : call.exporters) {
    ExportResult exported =
        exporter->Export(call.estimator, ExportPath(call, *exporter), evaluated.checkpoint_path,
                         evaluated, is_the_final_export);
    if (!exported.ok())
      return Annotate(exported.status(), absl::StrCat("exporter '", exporter->name(), "'"));
    result.export_results.push_back(*std::move(exported));
  }
  if (!call.exporters.empty()) {
    const std::string path = ExportedStepPath(call);
    EST_RETURN_IF_ERROR(CreateDirectories(Dirname(path)));
    // A process that is killed between the evaluation and the exports has no such file. The next
    // one then makes the exports up.
    EST_RETURN_IF_ERROR(WriteDerivedFile(path, absl::StrCat(evaluated.global_step(), "\n")));
  }
  result.eval_result = std::move(evaluated);
  return absl::OkStatus();
}

// Evaluates the checkpoints that a training in this process writes.
class EvaluationListener : public CheckpointSaverListener {
 public:
  //   epochs: ended by each evaluation; null: no hook is a callback.
  EvaluationListener(const TrainAndEvaluateCall& call, std::shared_ptr<EpochLoop> epochs)
      : call_(&call),
        epochs_(std::move(epochs)),
        timer_({.every_steps = std::nullopt, .every_secs = call.throttle_secs}, call.clock) {}

  std::string Describe() const override {
    if (call_->throttle_every.has_value())
      return absl::StrCat("an evaluation, at most every ", call_->throttle_every->ToString());
    return absl::StrCat("an evaluation",
                        call_->throttle_secs > 0
                            ? absl::StrCat(", at most every ", call_->throttle_secs, " seconds")
                            : "");
  }

  absl::Status Begin() override {
    timer_.Reset();
    is_first_save_ = true;
    if (call_ == nullptr || !call_->throttle_every.has_value()) return absl::OkStatus();
    const absl::StatusOr<StepsOrSeconds> cadence =
        call_->throttle_every->ToStepsOrSeconds(call_->estimator.training_input_sizes());
    if (!cadence.ok()) return Annotate(cadence.status(), "EvalSpec.throttle_every");
    timer_ = SecondOrStepTimer(*cadence, call_->clock);
    return absl::OkStatus();
  }

  bool AwaitsCheckpoint() const override { return false; }  // AfterSave may have nothing to do

  absl::StatusOr<bool> AfterSave(Session& session, int64_t global_step) override {
    if (call_ == nullptr) return false;
    // A training that starts from first values saves them, and nothing has been learned by then.
    if (std::exchange(is_first_save_, false) && session.restored_step() < 0) return false;
    // The user waits for the program to end. The next start evaluates what is left out here.
    if (InterruptRequested()) return false;
    if (!timer_.ShouldTriggerForStep(global_step)) {
      if (call_->throttle_every.has_value()) {
        LOG(INFO) << "The checkpoint of step " << global_step << " is not evaluated: the last "
                  << "evaluation was less than " << call_->throttle_every->ToString() << " before";
      } else {
        LOG(INFO) << "Skip the current checkpoint eval due to throttle secs ("
                  << call_->throttle_secs << " secs).";
      }
      return false;
    }
    // The evaluation reads the files that a thread is still writing.
    EST_RETURN_IF_ERROR(session.FinishCheckpoint());
    EST_RETURN_IF_ERROR(Evaluate(session, global_step));
    return epochs_ != nullptr && epochs_->stopped();
  }

  absl::Status End(Session& session, int64_t global_step) override {
    if (call_ == nullptr) return absl::OkStatus();
    // AfterSave may have evaluated this checkpoint already.
    if (!InterruptRequested() && timer_.last_triggered_step() != global_step)
      EST_RETURN_IF_ERROR(Evaluate(session, global_step));
    return epochs_ == nullptr ? absl::OkStatus() : epochs_->Finish();
  }

  // A CheckpointSaverHook of the user's may keep this listener: it then does nothing more.
  TrainAndEvaluateResult Finish() {
    call_ = nullptr;
    return std::move(result_);
  }

 private:
  absl::Status Evaluate(Session& session, int64_t global_step) {
    // The time is taken before the evaluation, which may last longer than the throttle allows.
    timer_.UpdateLastTriggeredStep(global_step);
    const absl::Status status = EvaluateAndExport(*call_, result_);
    // The training loop sees the interrupt too. It stops and says where the steps are saved.
    if (absl::IsCancelled(status) && InterruptRequested()) return absl::OkStatus();
    if (!status.ok() || epochs_ == nullptr) return status;
    return epochs_->EndEpoch(session, &*result_.eval_result);
  }

  const TrainAndEvaluateCall* call_;  // null after Finish
  const std::shared_ptr<EpochLoop> epochs_;
  SecondOrStepTimer timer_;
  bool is_first_save_ = true;
  TrainAndEvaluateResult result_;
};

// Whether the evaluation and the exports of `step`, the last one of an earlier process, are done.
absl::StatusOr<bool> WasEvaluated(const TrainAndEvaluateCall& call, int64_t step) {
  EST_ASSIGN_OR_RETURN(const auto metrics, ReadEvalMetrics(call.estimator.EvalDir(call.eval_name)));
  if (metrics.count(step) == 0) return false;
  if (call.exporters.empty()) return true;
  const absl::StatusOr<std::string> exported = ReadFile(ExportedStepPath(call), 64);
  if (absl::IsNotFound(exported.status())) return false;
  EST_RETURN_IF_ERROR(exported.status());
  return *exported == absl::StrCat(step, "\n");
}

// After a training that had nothing to do: the checkpoint that an earlier process left out, or "".
absl::StatusOr<std::string> LeftOut(const TrainAndEvaluateCall& call,
                                    const TrainAndEvaluateResult& result) {
  if (result.eval_result.has_value() || !call.estimator.peers().is_chief()) return std::string();
  EST_ASSIGN_OR_RETURN(const std::optional<std::string> latest, call.estimator.LatestCheckpoint());
  // Without checkpoints there is nothing that an earlier process could have left out.
  if (!latest.has_value()) return std::string();
  EST_ASSIGN_OR_RETURN(const int64_t step, LoadGlobalStep(*latest));
  if (!ReachedMaxSteps(call, step)) return std::string();
  EST_ASSIGN_OR_RETURN(const bool done, WasEvaluated(call, step));
  return done ? std::string() : *latest;
}

void LogStart(const RunConfig& config) {
  std::optional<int64_t> secs = config.save_checkpoints_secs;
  if (!secs.has_value() && !config.save_checkpoints_steps.has_value())
    secs = RunConfig::kDefaultSaveCheckpointsSecs;
  const auto text = [](const std::optional<int64_t>& value) {
    return value.has_value() ? absl::StrCat(*value) : "None";
  };
  // The words of TF 2.15 training._TrainingExecutor.run_local.
  LOG(INFO) << "Start train and evaluate loop. The evaluate will happen after every checkpoint. "
               "Checkpoint frequency is determined based on RunConfig arguments: "
               "save_checkpoints_steps "
            << text(config.save_checkpoints_steps) << " or save_checkpoints_secs " << text(secs)
            << ".";
}

absl::StatusOr<TrainAndEvaluateResult> TrainAndEvaluateHere(const TrainAndEvaluateCall& call) {
  LogStart(call.estimator.config());
  TrainOptions options = call.train_options;
  if (call.estimator.config().dry_run) options = {};
  // What is between two evaluations is an epoch of the callbacks.
  options.epochs = std::make_shared<EpochLoop>(
      EpochLoopOptions{.kind = EpochLoopOptions::Kind::kTrainAndEvaluate, .hooks = options.hooks});
  if (!options.epochs->has_callbacks()) options.epochs = nullptr;
  const auto listener = std::make_shared<EvaluationListener>(call, options.epochs);
  options.saving_listeners.push_back(listener);
  options.hooks.push_back(call.sanity_hook);
  const absl::Status trained = call.train(options);
  TrainAndEvaluateResult result = listener->Finish();
  EST_RETURN_IF_ERROR(trained);
  // The chief has evaluated. What it has left out is evaluated by all.
  call.estimator.peers().Begin();
  EST_ASSIGN_OR_RETURN(const std::string left_out,
                       call.estimator.peers().FromChief("an evaluation", LeftOut(call, result)));
  if (!left_out.empty()) {
    LOG(INFO) << left_out << " has max_steps, but was not evaluated and exported before";
    EST_RETURN_IF_ERROR(
        call.estimator.peers().Agree("the exports", EvaluateAndExport(call, result)));
  } else if (!result.eval_result.has_value()) {
    // Nothing was evaluated, or this process is not the chief.
  } else if (call.max_steps.has_value() &&
             !ReachedMaxSteps(call, result.eval_result->global_step())) {
    LOG(INFO) << "Training stopped at step " << result.eval_result->global_step()
              << ", before max_steps (" << *call.max_steps
              << "), so no exporter was asked for the final export";
  }
  return result;
}

// Sleeps in short pieces, so that an interrupt ends it.
void Sleep(const TrainAndEvaluateCall& call, double seconds) {
  for (double left = seconds; left > 0 && !InterruptRequested(); left -= kPollSecs) {
    // A signal does not end the sleep of this thread.
    const double piece = std::min(left, kPollSecs);
    call.sleep ? call.sleep(piece) : absl::SleepFor(absl::Seconds(piece));
  }
}

std::optional<std::string> EndOfTraining(const TrainAndEvaluateCall& call) {
  return ReadTrainingEnd(call.estimator.model_dir(), call.max_steps);
}

absl::StatusOr<TrainAndEvaluateResult> EvaluateContinuously(const TrainAndEvaluateCall& call) {
  const int64_t task_id = call.estimator.task().task_id;
  if (task_id > 0) {
    return InvalidArgument(
        "For distributed training, there can only be one `evaluator` task (with task id 0). Given "
        "task id ",
        task_id);
  }
  double throttle_secs = call.throttle_secs;
  int64_t throttle_steps = 0;
  if (call.throttle_every.has_value()) {
    // The sizes of the input are known to the process that trains.
    const Period::Unit unit = call.throttle_every->unit();
    if (unit != Period::Unit::kSteps && unit != Period::Unit::kSeconds) {
      return InvalidArgument(
          "EvalSpec.throttle_every is ", call.throttle_every->ToString(),
          ", but an evaluator process does not know the batch of the training; give "
          "it in steps or seconds");
    }
    EST_ASSIGN_OR_RETURN(const StepsOrSeconds cadence, call.throttle_every->ToStepsOrSeconds({}));
    throttle_secs = cadence.every_secs.value_or(0);
    throttle_steps = cadence.every_steps.value_or(0);
  }
  if (call.start_delay_secs > 0)
    LOG(INFO) << "Waiting " << call.start_delay_secs << " secs before starting eval.";
  Sleep(call, call.start_delay_secs);
  CheckpointsIterator checkpoints(call.estimator.model_dir(),
                                  {.min_interval_secs = throttle_secs,
                                   .has_ended = [&] { return EndOfTraining(call).has_value(); },
                                   .poll_secs = kPollSecs,
                                   .now_secs = call.clock,
                                   .sleep = call.sleep});
  TrainAndEvaluateResult result;
  while (const std::optional<std::string> checkpoint = checkpoints.Next()) {
    // Evaluate takes the newest checkpoint, which may be newer than the one that was found.
    if (result.eval_result.has_value() && result.eval_result->checkpoint_path == *checkpoint)
      continue;
    if (throttle_steps > 0 && result.eval_result.has_value()) {
      // The last checkpoint is evaluated in any case, so that the exporters make the final export.
      const absl::StatusOr<int64_t> step = LoadGlobalStep(*checkpoint);
      if (step.ok() && *step < result.eval_result->global_step() + throttle_steps &&
          !ReachedMaxSteps(call, *step) && !EndOfTraining(call).has_value()) {
        continue;
      }
    }
    const absl::Status evaluated = EvaluateAndExport(call, result);
    // The process that trains keeps a few checkpoints only, and an evaluation may take longer than
    // they live.
    if (absl::IsNotFound(evaluated) && CheckpointModifiedTimeSeconds(*checkpoint) == 0) {
      LOG(WARNING) << *checkpoint << " was deleted before it was exported; the next one follows ("
                   << evaluated.message() << ")";
      continue;
    }
    EST_RETURN_IF_ERROR(evaluated);
    const int64_t step = result.eval_result->global_step();
    if (!ReachedMaxSteps(call, step)) continue;
    LOG(INFO) << "Exiting evaluation, global_step=" << step
              << " >= train max_steps=" << *call.max_steps;
    return result;
  }
  if (const std::optional<std::string> end = EndOfTraining(call); end.has_value()) {
    LOG(INFO) << "Exiting evaluation: " << *end;
    return result;
  }
  return absl::CancelledError("interrupted while waiting for checkpoints to evaluate");
}

absl::StatusOr<TrainAndEvaluateResult> TrainOnly(const TrainAndEvaluateCall& call) {
  LOG(INFO) << "TF_CONFIG: this task, " << call.estimator.task().task_type
            << ", trains; a task `evaluator` evaluates and exports its checkpoints";
  // The listener makes Train refuse a RunConfig without checkpoints: the evaluator needs them.
  struct Listener : CheckpointSaverListener {
    bool AwaitsCheckpoint() const override { return false; }
  };
  TrainOptions options = call.train_options;
  options.saving_listeners.push_back(std::make_shared<Listener>());
  const bool is_chief = call.estimator.peers().is_chief();
  const std::string& model_dir = call.estimator.model_dir();
  if (is_chief) EST_RETURN_IF_ERROR(RemoveTrainingEnd(model_dir));
  EST_RETURN_IF_ERROR(call.train(options));
  EST_ASSIGN_OR_RETURN(const std::optional<std::string> latest, call.estimator.LatestCheckpoint());
  if (!is_chief || !latest.has_value()) return TrainAndEvaluateResult();
  EST_ASSIGN_OR_RETURN(const int64_t step, LoadGlobalStep(*latest));
  EST_RETURN_IF_ERROR(WriteTrainingEnd(model_dir, call.max_steps, step));
  return TrainAndEvaluateResult();
}

}  // namespace

absl::StatusOr<TrainAndEvaluateResult> RunTrainAndEvaluate(const TrainAndEvaluateCall& call) {
  EST_RETURN_IF_ERROR(Validate(call));
  const TaskConfig& task = call.estimator.task();
  if (task.task_type == "evaluator") return EvaluateContinuously(call);
  // As in TensorFlow, a master evaluates too, and a chief leaves that to the evaluator.
  if (task.cluster_spec.empty() || task.task_type == "master") return TrainAndEvaluateHere(call);
  return TrainOnly(call);
}

}  // namespace estimator
