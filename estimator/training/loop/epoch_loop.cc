#include "estimator/training/loop/epoch_loop.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "estimator/base/interrupt.h"
#include "estimator/base/saturating.h"
#include "estimator/base/status.h"
#include "glog/logging.h"

namespace estimator {

EpochLoop::EpochLoop(EpochLoopOptions options) : options_(std::move(options)) {
  for (const HookPtr& hook : options_.hooks) {
    if (auto callback = std::dynamic_pointer_cast<callbacks::Callback>(hook); callback != nullptr)
      callbacks_.push_back(std::move(callback));
  }
}

absl::Status EpochLoop::ForEach(const std::function<absl::Status(callbacks::Callback&)>& call) {
  for (const auto& callback : callbacks_) EST_RETURN_IF_ERROR(call(*callback));
  return absl::OkStatus();
}

double EpochLoop::SecondsSinceStart() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - clock_start_).count();
}

absl::Status EpochLoop::Prepare(const Model& model) {
  started_ = bad_loss_ = false;
  error_ = absl::OkStatus();
  context_ = callbacks::Context();
  state_ = {.epoch = options_.initial_epoch};
  history_ = History();
  model_dir_ = model.model_dir;
  start_step_ = model.global_step;
  steps_per_epoch_ = options_.steps_per_epoch.value_or(callbacks::Context::kUnknown);
  if (!options_.steps_per_epoch.has_value() &&
      options_.kind != EpochLoopOptions::Kind::kTrainAndEvaluate) {
    absl::StatusOr<int64_t> pass = Period::Epochs(1).ToSteps(model.sizes);
    if (options_.pass_steps != nullptr && *options_.pass_steps > 0) pass = *options_.pass_steps;
    if (pass.ok()) {
      steps_per_epoch_ = *pass;
    } else if (options_.kind == EpochLoopOptions::Kind::kTrainEpochs) {
      return FailedPrecondition("TrainEpochs: the steps of an epoch are not known: ",
                                pass.status().message(), "; set EpochOptions.steps_per_epoch");
    }
  }
  EST_ASSIGN_OR_RETURN(metrics_,
                       TrainMetrics::Create(model.model, model.backend,
                                            model.broadcast ? 1 : model.model.num_replicas));
  if (!keeps_history()) return absl::OkStatus();
  EST_ASSIGN_OR_RETURN(history_, ReadHistory(model_dir_));
  const size_t num_read = history_.records.size();
  EpochState saved;
  bool continues = !model.state.empty();
  if (continues) {
    EST_ASSIGN_OR_RETURN(saved, EpochStateFromBytes(model.state));
    // With a higher initial_epoch the caller begins other epochs.
    continues = saved.epoch >= options_.initial_epoch;
  }
  // Epochs that the checkpoint does not have are trained again.
  auto& records = history_.records;
  records.erase(std::remove_if(records.begin(), records.end(),
                               [&](const EpochRecord& record) {
                                 return record.global_step > start_step_ ||
                                        (continues && record.epoch >= saved.epoch);
                               }),
                records.end());
  // The process before may have been killed while it wrote a line.
  if (num_read > 0) EST_RETURN_IF_ERROR(WriteHistory(model_dir_, history_));
  if (continues) {
    state_ = std::move(saved);
  } else if (!history_.empty()) {
    // A call of Train has trained since, or changed the batch: the next epoch begins.
    state_.epoch = std::max(state_.epoch, history_.last().epoch + 1);
  }
  return absl::OkStatus();
}

int64_t EpochLoop::StepsLeft() const {
  if (over() || stopped()) return 0;
  return std::max<int64_t>(0, steps_per_epoch_ - state_.steps);
}

int64_t EpochLoop::target_step() const {
  const int64_t epochs = std::max<int64_t>(0, options_.epochs - state_.epoch);
  if (epochs == 0) return start_step_;
  if (options_.epochs == callbacks::Context::kUnknown ||
      steps_per_epoch_ == callbacks::Context::kUnknown)
    return callbacks::Context::kUnknown;
  return SaturatingAdd(
      start_step_,
      std::max<int64_t>(0, SaturatingMultiply(epochs, steps_per_epoch_) - state_.steps));
}

absl::Status EpochLoop::Start(Session& session) {
  clock_start_ = std::chrono::steady_clock::now();
  EST_RETURN_IF_ERROR(metrics_->RememberInitialTotals());
  if (!state_.totals.empty()) {
    const absl::Status restored = metrics_->Restore(std::exchange(state_.totals, ArrayMap()));
    // The model_fn has other metrics than the run before. Training goes on without its totals.
    LOG_IF(WARNING, !restored.ok())
        << "The means of epoch " << state_.epoch + 1 << " are those of its steps from step "
        << start_step_ << " on: " << restored.message();
  }
  context_.session_ = &session;
  context_.epochs_ = options_.epochs;
  context_.steps_per_epoch_ = steps_per_epoch_;
  context_.first_epoch_ = state_.epoch;
  context_.steps_done_ = state_.steps;
  context_.resumed_ = state_.epoch > options_.initial_epoch || state_.steps > 0;
  context_.running_logs_ = [this] { return metrics_->Values(); };
  started_ = true;
  EST_RETURN_IF_ERROR(ForEach([&](callbacks::Callback& c) { return c.OnTrainBegin(context_); }));
  for (const EpochRecord& record : history_.records) {
    if (record.epoch < options_.initial_epoch) continue;
    EST_RETURN_IF_ERROR(ForEach([&](callbacks::Callback& c) {
      return c.OnEpochReplayed(context_, record.epoch, record.logs);
    }));
  }
  if (StepsLeft() == 0) {
    // A process that was stopped after the last step of an epoch, and before its end.
    const bool due = !over() && !stopped() && state_.steps > 0;
    if (!due) return absl::OkStatus();
    EST_RETURN_IF_ERROR(EndEpoch(session));
    // The checkpoint of this step is one from before the end of the epoch.
    return session.restored_step() < 0 ? absl::OkStatus() : session.SaveCheckpoint().status();
  }
  return state_.begun ? absl::OkStatus() : BeginEpoch();
}

absl::Status EpochLoop::BeginEpoch() {
  EST_RETURN_IF_ERROR(
      ForEach([&](callbacks::Callback& c) { return c.OnEpochBegin(context_, state_.epoch); }));
  state_.begun = true;
  return absl::OkStatus();
}

absl::Status EpochLoop::AddStep(const std::vector<Array>& values, int64_t examples) {
  EST_RETURN_IF_ERROR(metrics_->AddStep(values, examples));
  ++state_.steps;
  return absl::OkStatus();
}

std::vector<Tensor> EpochLoop::BeforeRun(RunContext&) {
  error_.Update(
      ForEach([&](callbacks::Callback& c) { return c.OnTrainBatchBegin(context_, state_.steps); }));
  return {};
}

absl::Status EpochLoop::AfterRun(RunContext& context, const RunValues& values) {
  EST_RETURN_IF_ERROR(error_);
  context_.steps_done_ = state_.steps;
  bad_loss_ = values.loss_not_finite;
  if (values.num_steps > 0) {
    EST_RETURN_IF_ERROR(ForEach(
        [&](callbacks::Callback& c) { return c.OnTrainBatchEnd(context_, state_.steps - 1); }));
  }
  if (!bad_loss_ && state_.steps >= steps_per_epoch_)
    EST_RETURN_IF_ERROR(EndEpoch(context.session()));
  if (stopped() || over()) context.RequestStop();
  return absl::OkStatus();
}

absl::Status EpochLoop::Finish() {
  return ForEach([&](callbacks::Callback& c) { return c.OnTrainEnd(context_); });
}

absl::Status EpochLoop::End(Session& session) {
  if (options_.kind == EpochLoopOptions::Kind::kTrainAndEvaluate) return absl::OkStatus();
  // The whole training is one epoch, if the size of a pass is not known.
  if (options_.kind == EpochLoopOptions::Kind::kTrain &&
      steps_per_epoch_ == callbacks::Context::kUnknown && state_.steps > 0 && !bad_loss_ &&
      !InterruptRequested())
    EST_RETURN_IF_ERROR(EndEpoch(session));
  return Finish();
}

absl::Status EpochLoop::Validate(Session& session, Logs& logs, bool& interrupted) {
  if (options_.validate == nullptr || (state_.epoch + 1) % options_.validation_freq != 0)
    return absl::OkStatus();
  const AddSeconds evaluation(session.times().evaluation);
  const absl::StatusOr<EvalResult> result =
      InterruptRequested() ? absl::CancelledError("interrupted") : options_.validate(session);
  // The training loop sees the interrupt too. The next start validates this epoch.
  interrupted = absl::IsCancelled(result.status()) && InterruptRequested();
  if (interrupted) return absl::OkStatus();
  if (!result.ok()) return Annotate(result.status(), "validation");
  AddScalars(result->values, "val_", logs);
  return absl::OkStatus();
}

absl::Status EpochLoop::EndEpoch(Session& session, const EvalResult* evaluated) {
  EST_ASSIGN_OR_RETURN(Logs logs, metrics_->Values());
  if (evaluated != nullptr) AddScalars(evaluated->values, "val_", logs);
  bool interrupted = false;
  if (evaluated == nullptr) EST_RETURN_IF_ERROR(Validate(session, logs, interrupted));
  if (interrupted) return absl::OkStatus();
  // A checkpoint that is saved by a callback below is one before the end of the epoch, which the
  // next start repeats. It then begins with the rate from before the callbacks.
  absl::StatusOr<double> rate = session.LearningRate();
  if (state_.rate.has_value() && rate.ok() && *rate != *state_.rate) {
    EST_RETURN_IF_ERROR(session.SetLearningRate(*state_.rate));
    rate = *state_.rate;
  }
  if (rate.ok()) {
    state_.rate = *rate;
    logs["lr"] = *rate;
  }
  EST_RETURN_IF_ERROR(
      ForEach([&](callbacks::Callback& c) { return c.OnEpochEnd(context_, state_.epoch, logs); }));
  const EpochRecord record{.epoch = state_.epoch,
                           .global_step = session.global_step(),
                           .logs = std::move(logs),
                           .seconds = state_.seconds + SecondsSinceStart()};
  history_.records.push_back(record);
  if (keeps_history()) {
    EST_RETURN_IF_ERROR(AppendToHistory(model_dir_, history_));
    LogEpoch(record);
  }
  state_ = {.epoch = state_.epoch + 1};
  context_.steps_done_ = 0;
  clock_start_ = std::chrono::steady_clock::now();
  EST_RETURN_IF_ERROR(metrics_->Reset());
  return StepsLeft() > 0 ? BeginEpoch() : absl::OkStatus();
}

void EpochLoop::LogEpoch(const EpochRecord& record) const {
  std::vector<std::string> values;
  for (const auto& [name, value] : record.logs)
    values.push_back(absl::StrFormat("%s = %.5g", name, value));
  LOG(INFO) << "epoch " << record.epoch + 1 << "/" << options_.epochs << ": "
            << absl::StrJoin(values, ", ") << absl::StrFormat(" (%.1f s)", record.seconds);
}

absl::StatusOr<std::string> EpochLoop::SaveState() const {
  if (!keeps_history()) return std::string();
  EpochState state = state_;
  if (started_) {
    state.seconds += SecondsSinceStart();
    EST_RETURN_IF_ERROR(metrics_->Save(state.totals));
  }
  return EpochStateToBytes(state);
}

History EpochLoop::history() const {
  History history;
  for (const EpochRecord& record : history_.records) {
    if (record.epoch >= options_.initial_epoch) history.records.push_back(record);
  }
  return history;
}

}  // namespace estimator
