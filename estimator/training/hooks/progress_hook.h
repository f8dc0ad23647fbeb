// ProgressHook: the line that shows how training goes.
#ifndef ESTIMATOR_TRAINING_HOOKS_PROGRESS_HOOK_H_
#define ESTIMATOR_TRAINING_HOOKS_PROGRESS_HOOK_H_

#include <cstdint>
#include <optional>
#include <string>

#include "estimator/training/hooks/hook.h"
#include "estimator/training/hooks/timer.h"

namespace estimator {

// In a terminal, one line that renews itself, and that log lines write over; elsewhere a log line
// after the first run and every `every_steps` steps:
//   step 400/1000, loss = 0.1234, 5210 examples/s, 2m 01s left
// At the end: "loss for final step 1000: 0.0630".
class ProgressHook : public SessionRunHook {
 public:
  struct Options {
    Tensor loss = {};
    int64_t every_steps = 100;
    int64_t target_step = 0;                      // INT64_MAX: not known
    std::optional<bool> terminal = std::nullopt;  // None: whether stderr is one
    Clock clock = SteadyClock();
  };
  explicit ProgressHook(Options options);
  // Ends an open line, so that what comes after an error does not stand behind it.
  ~ProgressHook() override { CloseLine(); }

  absl::Status AfterCreateSession(Session& session) override;
  std::vector<Tensor> BeforeRun(RunContext& context) override;
  absl::Status AfterRun(RunContext& context, const RunValues& values) override;
  absl::Status End(Session& session) override;

  // The line; for tests.
  std::string Line(int64_t step, double steps_per_second) const;

 private:
  void CloseLine();

  Options options_;
  bool terminal_;
  SecondOrStepTimer log_timer_;
  SecondOrStepTimer terminal_timer_;
  int64_t examples_per_step_ = 0;
  double loss_ = 0;
  bool line_open_ = false;
  bool first_run_ = true;
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_HOOKS_PROGRESS_HOOK_H_
