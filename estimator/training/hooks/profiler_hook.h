// ProfilerHook: writes the time that each op of a run took, for chrome://tracing and
// https://ui.perfetto.dev.
#ifndef ESTIMATOR_TRAINING_HOOKS_PROFILER_HOOK_H_
#define ESTIMATOR_TRAINING_HOOKS_PROFILER_HOOK_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "estimator/runtime/trace.h"
#include "estimator/training/hooks/hook.h"
#include "estimator/training/hooks/step_range.h"
#include "estimator/training/hooks/timer.h"

namespace estimator {

// Writes `timeline-<global_step>.json` each time the cadence is due, but not for the first run,
// which compiles. Other runs are not traced and cost nothing. With `steps` it writes one such file,
// of all runs that have a step in the range; a run on replicas has iterations_per_loop steps.
// Source: TF 2.15 tf.estimator.ProfilerHook.
class ProfilerHook : public SessionRunHook {
 public:
  struct Options {
    // Either a cadence or steps must be given.
    StepsOrSeconds cadence = {};
    std::optional<StepRange> steps = std::nullopt;  // RunConfig.profile_steps
    std::string output_dir = "";  // created if it does not exist; "": the model directory
    Clock clock = SteadyClock();
  };
  explicit ProfilerHook(Options options)
      : options_(std::move(options)), timer_(options_.cadence, options_.clock) {}

  bool IsForChief() const override { return true; }
  absl::Status Begin(Graph& graph) override;
  std::vector<Tensor> BeforeRun(RunContext& context) override;
  absl::Status AfterRun(RunContext& context, const RunValues& values) override;
  // Writes a range that the end of training has cut short.
  absl::Status End(Session& session) override;

 private:
  // Writes `trace_`, which ends at step `global_step`.
  absl::Status Write(Session& session, int64_t global_step);

  const Options options_;
  SecondOrStepTimer timer_;
  // The cadence: null if the current run is not traced. A range: null before its first run.
  std::shared_ptr<Trace> trace_;
  bool written_ = false;  // a range's file
};

// Returns the trace in Chrome's JSON format. Each replica is a thread, and times start at the first
// event.
// Source: the Trace Event Format; names and arguments as in TF 2.15 timeline.Timeline.
std::string TraceToChromeJson(const Trace& trace);

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_HOOKS_PROFILER_HOOK_H_
