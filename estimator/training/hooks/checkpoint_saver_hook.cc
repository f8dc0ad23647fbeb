#include "estimator/training/hooks/checkpoint_saver_hook.h"

#include "estimator/base/status.h"
#include "estimator/summary/event_file_writer.h"
#include "glog/logging.h"

namespace estimator {

CheckpointSaverHook::CheckpointSaverHook(Options options)
    : options_(std::move(options)), timer_(options_.cadence, options_.clock) {}

void CheckpointSaverHook::AddListeners(const SavingListeners& listeners) {
  options_.listeners.insert(options_.listeners.end(), listeners.begin(), listeners.end());
}

absl::Status CheckpointSaverHook::Begin(Graph&) {
  EST_RETURN_IF_ERROR(options_.cadence.Validate("CheckpointSaverHook"));
  timer_.Reset();
  for (const auto& listener : options_.listeners) EST_RETURN_IF_ERROR(listener->Begin());
  return absl::OkStatus();
}

absl::Status CheckpointSaverHook::AfterCreateSession(Session& session) {
  const int64_t step = session.global_step();
  if (session.restored_step() != step) {
    EST_ASSIGN_OR_RETURN([[maybe_unused]] const bool stop, Save(session, step));
  }
  timer_.UpdateLastTriggeredStep(step);
  return absl::OkStatus();
}

absl::Status CheckpointSaverHook::AfterRun(RunContext& context, const RunValues& values) {
  if (!timer_.ShouldTriggerForStep(values.global_step)) return absl::OkStatus();
  timer_.UpdateLastTriggeredStep(values.global_step);
  EST_ASSIGN_OR_RETURN(const bool stop, Save(context.session(), values.global_step));
  if (stop) context.RequestStop();
  return absl::OkStatus();
}

absl::Status CheckpointSaverHook::End(Session& session) {
  const int64_t step = session.global_step();
  if (timer_.last_triggered_step() != step) {
    EST_ASSIGN_OR_RETURN([[maybe_unused]] const bool stop, Save(session, step));
  }
  for (const auto& listener : options_.listeners) EST_RETURN_IF_ERROR(listener->End(session, step));
  return absl::OkStatus();
}

absl::StatusOr<bool> CheckpointSaverHook::Save(Session& session, int64_t step) {
  for (const auto& listener : options_.listeners)
    EST_RETURN_IF_ERROR(listener->BeforeSave(session, step));
  EST_ASSIGN_OR_RETURN(const std::string prefix, session.SaveCheckpoint());
  VLOG(1) << "Saved checkpoint for step " << step << " in " << prefix;
  EST_RETURN_IF_ERROR(AddCheckpointEvent(session.model_dir(), step, prefix));
  const AddSeconds evaluation(session.times().evaluation);
  bool stop = false;
  for (const auto& listener : options_.listeners) {
    EST_ASSIGN_OR_RETURN(const bool wants_stop, listener->AfterSave(session, step));
    if (wants_stop)
      LOG(INFO) << "A CheckpointSaverListener requested that training be stopped at step " << step;
    stop |= wants_stop;
  }
  return stop;
}

}  // namespace estimator
