// What a program prints at its end: the evaluation as a table, the results as JSON, the speed of
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
#include "absl/strings/string_view.h"
#include "estimator/training/hooks/hook.h"
#include "estimator/training/hooks/timer.h"
#include "estimator/training/loop/eval_result.h"

namespace estimator {

// Names and values, in the order in which they are written.
using ReportValue = std::variant<int64_t, double, std::string>;
using ReportFields = std::vector<std::pair<std::string, ReportValue>>;

// "evaluated 10000 examples at step 1000 in 1.2 s", then one line for each metric. Ends in a
// newline.
std::string EvaluationTable(const EvalResult& result);

// The scalar metrics in name order, with loss and global_step, then examples_evaluated.
ReportFields EvaluationFields(const EvalResult& result);

// A JSON object with one line for each field. A number that is not finite becomes null, since JSON
// cannot write it.
std::string ToJson(const ReportFields& fields);
// Writes a temporary file and renames it: readers never see a part of it.
absl::Status WriteResultJson(absl::string_view path, const ReportFields& fields);

// "tensorboard --logdir=<model_dir>", quoted for a shell if necessary.
std::string TensorBoardCommand(absl::string_view model_dir);

// Seconds since the program was started, from /proc (to 10 ms).
double SecondsSinceProcessStart();
// The peak resident memory of this process.
double PeakRssMib();

// Measures the speed of training. Pass it to Train as a hook and read it afterwards. After several
// calls of Train, it returns the speed over all of them.
class TrainingSpeedHook : public SessionRunHook {
 public:
  // The clocks are for tests.
  explicit TrainingSpeedHook(Clock clock = SteadyClock(),
                             Clock since_start = SecondsSinceProcessStart)
      : clock_(std::move(clock)), since_start_(std::move(since_start)) {}

  // Examples of all replicas per second, from the end of a call's first run (which compiles) to the
  // end of its last run, including saves and hooks in between. NaN if no call had two runs.
  double examples_per_second() const;
  // From the start of the program to the end of its first run: one step locally, one loop of
  // iterations_per_loop on shards. NaN before.
  double first_step_seconds() const;

  absl::Status AfterCreateSession(Session& session) override;
  absl::Status AfterRun(RunContext& context, const RunValues& values) override;

 private:
  const Clock clock_;
  const Clock since_start_;
  std::optional<double> first_step_seconds_;
  std::optional<double> last_run_end_;  // of this call
  double seconds_ = 0;
  double num_examples_ = 0;
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_REPORT_H_
