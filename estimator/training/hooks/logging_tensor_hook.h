// LoggingTensorHook: logs the values of tensors at intervals.
#ifndef ESTIMATOR_TRAINING_HOOKS_LOGGING_TENSOR_HOOK_H_
#define ESTIMATOR_TRAINING_HOOKS_LOGGING_TENSOR_HOOK_H_

#include <functional>
#include <map>
#include <string>

#include "estimator/training/hooks/hook.h"
#include "estimator/training/hooks/timer.h"

namespace estimator {

// Counts runs, not global steps: it logs after run 1, and then after every `every_n_iter` runs.
// From the second line on, a line also has the time since the line before.
// Source: TF 2.15 tf.estimator.LoggingTensorHook.
class LoggingTensorHook : public SessionRunHook {
 public:
  using Values = std::map<std::string, Array>;
  struct Options {
    std::map<std::string, Tensor> tensors = {};  // by the tag to print
    // Exactly one of these two must be given, unless at_end is true.
    std::optional<int64_t> every_n_iter = std::nullopt;
    std::optional<double> every_n_secs = std::nullopt;
    bool at_end = false;  // log at the end too; if neither of the two is given, only at the end
    // Makes the line. Null: "tag = value, ...".
    std::function<std::string(const Values&)> formatter = nullptr;
    // Receives the lines. Null: the log.
    std::function<void(const std::string&)> sink = nullptr;
    Clock clock = SteadyClock();
  };
  explicit LoggingTensorHook(Options options);

  absl::Status Begin(Graph& graph) override;
  std::vector<Tensor> Fetches() override;
  // None in runs after which nothing is logged. With at_end, every run may be the last one.
  std::vector<Tensor> BeforeRun(RunContext& context) override;
  absl::Status AfterRun(RunContext& context, const RunValues& values) override;
  absl::Status End(Session& session) override;

 private:
  void Print();

  const Options options_;
  const bool only_at_end_;
  SecondOrStepTimer timer_;
  int64_t iteration_ = 0;
  bool wanted_ = false;  // whether BeforeRun asked for the tensors
  Values latest_;
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_HOOKS_LOGGING_TENSOR_HOOK_H_
