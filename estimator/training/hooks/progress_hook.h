// ProgressHook: shows the progress of training in a line.
#ifndef ESTIMATOR_TRAINING_HOOKS_PROGRESS_HOOK_H_
#define ESTIMATOR_TRAINING_HOOKS_PROGRESS_HOOK_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "estimator/training/hooks/hook.h"
#include "estimator/training/hooks/timer.h"

namespace estimator {

// The line is, for example:
//   step 400/1000, loss = 0.1234, 5210 examples/s, 2m 01s left (compute 95 %, input 4 %)
// The shares are those of the time since the last line. If the step waits for the input, a logged
// line also names the slowest stage of the input and what to change:
//   ... (compute 60 %, input 40 %); the slowest stage of the input is Map: raise its
//   num_parallel_calls from 1 to 2
// In a terminal, the line is rewritten in place, and log lines overwrite it. Elsewhere it is logged
// after the first run and each time the cadence is due. At the end the hook logs
// "loss for final step 1000: 0.0630".
class ProgressHook : public SessionRunHook {
 public:
  struct Options {
    Tensor loss = {};
    StepsOrSeconds cadence = {.every_steps = 100, .every_secs = std::nullopt};
    int64_t target_step = 0;                      // INT64_MAX: the last step is not known
    std::optional<bool> terminal = std::nullopt;  // none: true if stderr is a terminal
    Clock clock = SteadyClock();
  };
  explicit ProgressHook(Options options);
  // Ends an open line, so that output after an error starts on its own line.
  ~ProgressHook() override { CloseLine(); }

  bool IsForChief() const override { return true; }
  absl::Status AfterCreateSession(Session& session) override;
  std::vector<Tensor> Fetches() override { return {options_.loss}; }
  std::vector<Tensor> BeforeRun(RunContext& context) override;
  absl::Status AfterRun(RunContext& context, const RunValues& values) override;
  absl::Status End(Session& session) override;

  // Returns the line without the shares. For tests.
  std::string Line(int64_t step, double steps_per_second) const;

 private:
  // The shares of the last `seconds`, and the slowest stage of the input if `with_stage`.
  std::string Shares(Session& session, double seconds, bool with_stage);
  void CloseLine();

  Options options_;
  bool terminal_;
  SecondOrStepTimer log_timer_;
  SecondOrStepTimer terminal_timer_;
  int64_t examples_per_step_ = 0;
  double loss_ = 0;
  LoopTimes last_times_;  // at the last line
  std::vector<StageTime> last_stages_;
  bool line_open_ = false;
  bool first_run_ = true;
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_HOOKS_PROGRESS_HOOK_H_
