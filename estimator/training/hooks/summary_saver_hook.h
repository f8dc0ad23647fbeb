// SummarySaverHook: writes the loss and the model's summaries into event files.
#ifndef ESTIMATOR_TRAINING_HOOKS_SUMMARY_SAVER_HOOK_H_
#define ESTIMATOR_TRAINING_HOOKS_SUMMARY_SAVER_HOOK_H_

#include <memory>
#include <string>
#include <vector>

#include "estimator/training/hooks/hook.h"
#include "estimator/training/hooks/timer.h"

namespace estimator {

// Writes at the first run, then by the cadence: the scalar `loss`, and everything that the model
// asked for with estimator::summary. On several replicas a floating scalar is their mean, an image
// the first of replica 0's. Source: TF 2.15 tf.estimator.SummarySaverHook.
class SummarySaverHook : public SessionRunHook {
 public:
  struct Options {
    Cadence cadence = {.every_steps = 100, .every_secs = std::nullopt};
    Tensor loss =
        {};  // invalid: no `loss` is written, nor where the model has a summary of that name
    std::string output_dir = "";  // empty: the model directory
    Clock clock = SteadyClock();
  };
  explicit SummarySaverHook(Options options);

  absl::Status Begin(Graph& graph) override;
  std::vector<Tensor> BeforeRun(RunContext& context) override;
  absl::Status AfterRun(RunContext& context, const RunValues& values) override;
  absl::Status End(Session& session) override;

 private:
  const Options options_;
  SecondOrStepTimer timer_;
  std::vector<SummaryRequest> requests_;
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_HOOKS_SUMMARY_SAVER_HOOK_H_
