// The report at the end of a program: the evaluation as a table, the results as JSON, the speed of
// training, and the TensorBoard command.
#ifndef ESTIMATOR_TRAINING_REPORT_H_
#define ESTIMATOR_TRAINING_REPORT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "estimator/base/string_arg.h"
#include "estimator/training/hooks/hook.h"
#include "estimator/training/hooks/timer.h"
#include "estimator/training/loop/eval_result.h"

namespace estimator {

// Names and values, in the order in which they are written.
using ReportValue = std::variant<int64_t, double, std::string>;
using ReportFields = std::vector<std::pair<std::string, ReportValue>>;

// Returns "evaluated 10000 examples at step 1000 in 1.2 s", followed by a line for each metric. The
// text ends with a newline.
std::string EvaluationTable(const EvalResult& result);

// Returns the scalar metrics in name order, including loss and global_step, then
// examples_evaluated.
ReportFields EvaluationFields(const EvalResult& result);

// Returns a JSON object with a line for each field. A later field replaces an earlier one of the
// same name. JSON cannot represent numbers that are not finite, so they become null.
std::string ToJson(const ReportFields& fields);
// Returns the same object in one line, without a line break at its end: {"loss":0.25}.
std::string ToJsonLine(const ReportFields& fields);
// Writes the fields as JSON. Replaces the file atomically: readers never see a part of it.
absl::Status WriteResultJson(StringArg path, const ReportFields& fields);

// Returns "tensorboard --logdir=<model_dir>". Quotes the directory if a shell needs it.
std::string TensorBoardCommand(StringArg model_dir);

// Returns the seconds since the process was started. The resolution is 10 ms.
double SecondsSinceProcessStart();
// Returns the peak resident memory of the process in MiB.
double PeakRssMib();

// Measures the speed of training. Pass it to Train as a hook, and read the results afterwards. If
// it is passed to several calls of Train, the speed is the mean over all of them.
class TrainingSpeedHook : public SessionRunHook {
 public:
  // The clocks are parameters for tests.
  explicit TrainingSpeedHook(Clock clock = SteadyClock(),
                             Clock since_start = SecondsSinceProcessStart)
      : clock_(std::move(clock)), since_start_(std::move(since_start)) {}

  // Returns the examples of all replicas per second. The time is from the end of a call's first
  // run, which compiles, to the end of its last run, including evaluation and checkpoints in
  // between. NaN if no call had two runs.
  double examples_per_second() const;
  // Returns the seconds from the start of the process to the end of the first run. A run is one
  // step locally, and iterations_per_loop steps on replicas. NaN before the end of the first run.
  double first_step_seconds() const;

  absl::Status AfterCreateSession(Session& session) override;
  absl::Status AfterRun(RunContext& context, const RunValues& values) override;

 private:
  const Clock clock_;
  const Clock since_start_;
  std::optional<double> first_step_seconds_;
  std::optional<double> last_run_end_;  // in the current call of Train
  double seconds_ = 0;
  double num_examples_ = 0;
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_REPORT_H_
