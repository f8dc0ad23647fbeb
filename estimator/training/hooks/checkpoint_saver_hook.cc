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
  // No step has run yet: a copy of the variables could take the memory that the first step needs.
  if (session.restored_step() != step)
    EST_RETURN_IF_ERROR(Save(session, step, /*wait=*/true).status());
  timer_.UpdateLastTriggeredStep(step);
  return absl::OkStatus();
}

absl::Status CheckpointSaverHook::AfterRun(RunContext& context, const RunValues& values) {
  if (!timer_.ShouldTriggerForStep(values.global_step)) return absl::OkStatus();
  timer_.UpdateLastTriggeredStep(values.global_step);
  EST_ASSIGN_OR_RETURN(const bool stop,
                       Save(context.session(), values.global_step, /*wait=*/false));
  if (stop) context.RequestStop();
  return absl::OkStatus();
}

absl::Status CheckpointSaverHook::End(Session& session) {
  const int64_t step = session.global_step();
  if (timer_.last_triggered_step() != step)
    EST_RETURN_IF_ERROR(Save(session, step, /*wait=*/true).status());
  // The listeners may read the files of the last checkpoint.
  EST_RETURN_IF_ERROR(session.FinishCheckpoint());
  for (const auto& listener : options_.listeners) EST_RETURN_IF_ERROR(listener->End(session, step));
  return absl::OkStatus();
}

absl::StatusOr<bool> CheckpointSaverHook::Save(Session& session, int64_t step, bool wait) {
  for (const auto& listener : options_.listeners) {
    EST_RETURN_IF_ERROR(listener->BeforeSave(session, step));
    wait |= listener->AwaitsCheckpoint();
  }
  // The thread that writes the checkpoint may outlive this hook, but not the call of Train.
  const auto committed = [model_dir = session.model_dir(), step](const std::string& prefix) {
    VLOG(1) << "Saved checkpoint for step " << step << " in " << prefix;
    return AddCheckpointEvent(model_dir, step, prefix);
  };
  if (wait) {
    EST_ASSIGN_OR_RETURN(const std::string prefix, session.SaveCheckpoint());
    EST_RETURN_IF_ERROR(committed(prefix));
  } else {
    EST_RETURN_IF_ERROR(session.SaveCheckpointInBackground(committed).status());
  }
  bool stop = false;
  const double saving_before = session.times().checkpoint;
  {
    const AddSeconds evaluation(session.times().evaluation);
    for (const auto& listener : options_.listeners) {
      EST_ASSIGN_OR_RETURN(const bool wants_stop, listener->AfterSave(session, step));
      if (wants_stop)
        LOG(INFO) << "A CheckpointSaverListener requested that training be stopped at step "
                  << step;
      stop |= wants_stop;
    }
  }
  // A listener may have waited for the checkpoint.
  session.times().evaluation -= session.times().checkpoint - saving_before;
  return stop;
}

}  // namespace estimator
