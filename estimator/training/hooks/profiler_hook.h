// ProfilerHook: writes the time that each op of a run took, for chrome://tracing and
// https://ui.perfetto.dev.
#ifndef ESTIMATOR_TRAINING_HOOKS_PROFILER_HOOK_H_
#define ESTIMATOR_TRAINING_HOOKS_PROFILER_HOOK_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "estimator/runtime/trace.h"
#include "estimator/training/hooks/hook.h"
#include "estimator/training/hooks/timer.h"

namespace estimator {

// Writes `timeline-<global_step>.json` each time the cadence is due, but not for the first run,
// which compiles. Other runs are not traced and cost nothing.
// Source: TF 2.15 tf.estimator.ProfilerHook.
class ProfilerHook : public SessionRunHook {
 public:
  struct Options {
    Cadence cadence = {};
    std::string output_dir = "";  // created if it does not exist; "": the model directory
    Clock clock = SteadyClock();
  };
  explicit ProfilerHook(Options options)
      : options_(std::move(options)), timer_(options_.cadence, options_.clock) {}

  absl::Status Begin(Graph& graph) override;
  std::vector<Tensor> BeforeRun(RunContext& context) override;
  absl::Status AfterRun(RunContext& context, const RunValues& values) override;

 private:
  const Options options_;
  SecondOrStepTimer timer_;
  std::shared_ptr<Trace> trace_;  // null if the current run is not traced
};

// Returns the trace in Chrome's JSON format. Each replica is a thread, and times start at the first
// event.
// Source: the Trace Event Format; names and arguments as in TF 2.15 timeline.Timeline.
std::string TraceToChromeJson(const Trace& trace);

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_HOOKS_PROFILER_HOOK_H_
