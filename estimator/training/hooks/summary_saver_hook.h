// SummarySaverHook: writes the loss and the model's summaries into event files.
#ifndef ESTIMATOR_TRAINING_HOOKS_SUMMARY_SAVER_HOOK_H_
#define ESTIMATOR_TRAINING_HOOKS_SUMMARY_SAVER_HOOK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "estimator/training/hooks/hook.h"
#include "estimator/training/hooks/timer.h"

namespace estimator {

// Writes the scalar `loss` and all summaries that the model requested with estimator::summary, at
// the first run and then each time the cadence is due. On several replicas, a floating scalar is
// the mean over the replicas, and images are those of replica 0.
// Source: TF 2.15 tf.estimator.SummarySaverHook.
class SummarySaverHook : public SessionRunHook {
 public:
  struct Options {
    StepsOrSeconds cadence = {.every_steps = 100, .every_secs = std::nullopt};
    // Invalid: `loss` is not written. It is also not written if the model has a summary `loss`.
    Tensor loss = {};
    std::string output_dir = "";  // "": the model directory
    Clock clock = SteadyClock();
  };
  explicit SummarySaverHook(Options options);

  bool IsForChief() const override { return true; }
  absl::Status Begin(Graph& graph) override;
  absl::Status AfterCreateSession(Session& session) override;
  std::vector<Tensor> Fetches() override;
  // None in runs after which nothing is written.
  std::vector<Tensor> BeforeRun(RunContext& context) override;
  absl::Status AfterRun(RunContext& context, const RunValues& values) override;
  absl::Status End(Session& session) override;

 private:
  const Options options_;
  SecondOrStepTimer timer_;
  int64_t step_increment_ = 1;  // that one step adds to global_step
  std::vector<SummaryRequest> requests_;
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_HOOKS_SUMMARY_SAVER_HOOK_H_
