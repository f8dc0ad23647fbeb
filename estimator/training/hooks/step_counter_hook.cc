#include "estimator/training/hooks/step_counter_hook.h"

#include "estimator/base/remote/remote_file_system.h"
#include "estimator/base/status.h"
#include "estimator/summary/event_file_writer.h"
#include "glog/logging.h"

namespace estimator {

StepCounterHook::StepCounterHook(Options options)
    : options_(std::move(options)), timer_(options_.cadence, options_.clock) {}

absl::Status StepCounterHook::Begin(Graph&) {
  timer_.Reset();
  return options_.cadence.Validate("StepCounterHook");
}

// The training loop starts the session in model_dir.
absl::Status StepCounterHook::AfterCreateSession(Session& session) {
  if (!options_.output_dir.empty()) StartEventSession(options_.output_dir, session.global_step());
  return absl::OkStatus();
}

absl::Status StepCounterHook::AfterRun(RunContext& context, const RunValues& values) {
  constexpr int kMaxWarnings = 5;
  if (values.loss_not_finite) return absl::OkStatus();  // global_step does not change in such a run
  const int64_t step = values.global_step;
  if (timer_.last_triggered_step() == step && num_warnings_ < kMaxWarnings) {
    ++num_warnings_;
    LOG(WARNING) << "global_step (" << step
                 << ") has not changed since the last run; check that train_op increments it";
  }
  if (!timer_.ShouldTriggerForStep(step)) return absl::OkStatus();
  const auto elapsed = timer_.UpdateLastTriggeredStep(step);
  if (!elapsed.has_value() || elapsed->seconds <= 0) return absl::OkStatus();
  const double steps_per_second = static_cast<double>(elapsed->steps) / elapsed->seconds;
  const Session& session = context.session();
  EST_ASSIGN_OR_RETURN(
      const std::shared_ptr<EventFileWriter> writer,
      EventFileWriter::ForDirectory(options_.output_dir.empty() ? session.model_dir()
                                                                : options_.output_dir));
  EST_RETURN_IF_ERROR(
      writer->AddScalar("global_step/sec", static_cast<float>(steps_per_second), step));
  if (session.examples_per_step() > 0) {
    const double examples_per_second =
        steps_per_second * static_cast<double>(session.examples_per_step());
    EST_RETURN_IF_ERROR(
        writer->AddScalar("examples/sec", static_cast<float>(examples_per_second), step));
  }
  // Without summaries, nothing else flushes the file.
  return writer->FlushSometimes();
}

absl::Status StepCounterHook::End(Session& session) {
  const std::string directory =
      options_.output_dir.empty() ? session.model_dir() : options_.output_dir;
  if (!IsRemotePath(directory)) return absl::OkStatus();  // AfterRun has flushed
  EST_ASSIGN_OR_RETURN(const std::shared_ptr<EventFileWriter> writer,
                       EventFileWriter::ForDirectory(directory));
  return writer->Flush();
}

}  // namespace estimator
