#include "estimator/training/early_stopping.h"

#include <cmath>
#include <set>
#include <utility>

#include "absl/strings/str_join.h"
#include "estimator/base/status.h"
#include "estimator/summary/event_reader.h"
#include "glog/logging.h"

namespace estimator {
namespace {

constexpr double kDefaultSecs = 60;

// The interval that the options ask for. TensorFlow's default of 60 seconds excludes
// run_every_steps unless the caller removes it.
StepsOrSeconds IntervalOf(const MakeEarlyStoppingHookOptions& options) {
  StepsOrSeconds cadence{.every_steps = options.run_every_steps,
                         .every_secs = options.run_every_secs};
  if (!cadence.every_steps.has_value() && !cadence.every_secs.has_value())
    cadence.every_secs = kDefaultSecs;
  return cadence;
}

class StopOnPredicateHook : public SessionRunHook {
 public:
  // Whether to stop at this global_step.
  using ShouldStopFn = std::function<absl::StatusOr<bool>(int64_t global_step)>;

  StopOnPredicateHook(ShouldStopFn should_stop_fn, const MakeEarlyStoppingHookOptions& options)
      : should_stop_fn_(std::move(should_stop_fn)),
        cadence_(IntervalOf(options)),
        timer_(cadence_, options.clock) {}

  absl::Status Begin(Graph&) override {
    if (should_stop_fn_ == nullptr)
      return InvalidArgument("early stopping: should_stop_fn must be given");
    EST_RETURN_IF_ERROR(cadence_.Validate("early stopping"));
    timer_.Reset();
    return absl::OkStatus();
  }

  absl::Status AfterRun(RunContext& context, const RunValues& values) override {
    if (!timer_.ShouldTriggerForStep(values.global_step)) return absl::OkStatus();
    timer_.UpdateLastTriggeredStep(values.global_step);
    EST_ASSIGN_OR_RETURN(const bool stop, should_stop_fn_(values.global_step));
    if (stop) {
      LOG(INFO) << "Requesting early stopping at global step " << values.global_step;
      context.RequestStop();
    }
    return absl::OkStatus();
  }

 private:
  const ShouldStopFn should_stop_fn_;
  const StepsOrSeconds cadence_;
  SecondOrStepTimer timer_;
};

// Which way a metric should go.
enum class Better { kHigher, kLower };

bool IsBetter(Better better, double value, double than) {
  return better == Better::kHigher ? value > than : value < than;
}

// The values of one metric in the evaluations: step -> value.
using MetricHistory = std::map<int64_t, double>;

// Leaves out evaluations of steps after global_step: they are of an earlier training, which was
// further when this one went back to one of its checkpoints.
absl::StatusOr<MetricHistory> ReadMetricHistory(const std::string& eval_dir,
                                                const std::string& metric_name, int64_t min_steps,
                                                int64_t global_step) {
  EST_ASSIGN_OR_RETURN(const auto results, ReadEvalMetrics(eval_dir));
  MetricHistory history;
  std::set<std::string> others;
  for (const auto& [step, metrics] : results) {
    if (step < min_steps || step > global_step) continue;
    const auto found = metrics.find(metric_name);
    if (found != metrics.end()) history[step] = found->second;
    for (const auto& [name, value] : metrics) others.insert(name);
  }
  // With a misspelled name, training would never stop.
  if (history.empty() && !others.empty()) {
    return NotFound("early stopping: the evaluations in ", eval_dir, " have no metric '",
                    metric_name, "'; they have ", absl::StrJoin(others, ", "));
  }
  return history;
}

// A hook that stops when `decide` is true for the history of a metric.
HookPtr HistoryHook(const EstimatorBase& estimator, absl::string_view metric_name,
                    const EarlyStoppingOptions& options,
                    std::function<bool(const MetricHistory&)> decide) {
  // The hook has no reference to the estimator, which it may outlive.
  const std::string eval_dir = options.eval_dir.value_or(estimator.EvalDir());
  auto should_stop = [eval_dir, metric = std::string(metric_name), min_steps = options.min_steps,
                      decide = std::move(decide)](int64_t global_step) -> absl::StatusOr<bool> {
    EST_ASSIGN_OR_RETURN(const MetricHistory history,
                         ReadMetricHistory(eval_dir, metric, min_steps, global_step));
    return decide(history);
  };
  return std::make_shared<StopOnPredicateHook>(
      std::move(should_stop),
      MakeEarlyStoppingHookOptions{.run_every_secs = options.run_every_secs,
                                   .run_every_steps = options.run_every_steps,
                                   .clock = options.clock});
}

HookPtr ThresholdHook(const EstimatorBase& estimator, absl::string_view metric_name,
                      double threshold, Better better, const EarlyStoppingOptions& options) {
  return HistoryHook(
      estimator, metric_name, options,
      [metric = std::string(metric_name), threshold, better](const MetricHistory& history) {
        for (const auto& [step, value] : history) {
          if (!IsBetter(better, value, threshold)) continue;
          LOG(INFO) << "At step " << step << ", metric \"" << metric << "\" has value " << value
                    << " which is " << (better == Better::kHigher ? "greater than" : "less than")
                    << " the configured threshold (" << threshold << ") for early stopping.";
          return true;
        }
        return false;
      });
}

HookPtr NoImprovementHook(const EstimatorBase& estimator, absl::string_view metric_name,
                          int64_t max_steps, Better better, const EarlyStoppingOptions& options) {
  return HistoryHook(
      estimator, metric_name, options,
      [metric = std::string(metric_name), max_steps, better](const MetricHistory& history) {
        if (history.empty()) return false;
        int64_t best_step = history.begin()->first;
        double best = history.begin()->second;
        for (const auto& [step, value] : history) {
          // NaN is neither above nor below a number, so any number replaces it.
          if (IsBetter(better, value, best) || (std::isnan(best) && !std::isnan(value))) {
            best_step = step;
            best = value;
          }
          // As in TensorFlow, a pause in the past stops training too, even if later values are
          // better.
          if (step - best_step < max_steps) continue;
          LOG(INFO) << "No " << (better == Better::kHigher ? "increase" : "decrease")
                    << " in metric \"" << metric << "\" for " << step - best_step
                    << " steps, which is greater than or equal to max steps (" << max_steps
                    << ") configured for early stopping.";
          return true;
        }
        return false;
      });
}

}  // namespace

HookPtr MakeEarlyStoppingHook(const EstimatorBase& /*estimator*/,
                              std::function<absl::StatusOr<bool>()> should_stop_fn,
                              const MakeEarlyStoppingHookOptions& options) {
  StopOnPredicateHook::ShouldStopFn fn;
  if (should_stop_fn != nullptr) {
    fn = [should_stop = std::move(should_stop_fn)](int64_t) { return should_stop(); };
  }
  return std::make_shared<StopOnPredicateHook>(std::move(fn), options);
}

HookPtr StopIfHigherHook(const EstimatorBase& estimator, absl::string_view metric_name,
                         double threshold, const EarlyStoppingOptions& options) {
  return ThresholdHook(estimator, metric_name, threshold, Better::kHigher, options);
}

HookPtr StopIfLowerHook(const EstimatorBase& estimator, absl::string_view metric_name,
                        double threshold, const EarlyStoppingOptions& options) {
  return ThresholdHook(estimator, metric_name, threshold, Better::kLower, options);
}

HookPtr StopIfNoIncreaseHook(const EstimatorBase& estimator, absl::string_view metric_name,
                             int64_t max_steps_without_increase,
                             const EarlyStoppingOptions& options) {
  return NoImprovementHook(estimator, metric_name, max_steps_without_increase, Better::kHigher,
                           options);
}

HookPtr StopIfNoDecreaseHook(const EstimatorBase& estimator, absl::string_view metric_name,
                             int64_t max_steps_without_decrease,
                             const EarlyStoppingOptions& options) {
  return NoImprovementHook(estimator, metric_name, max_steps_without_decrease, Better::kLower,
                           options);
}

absl::StatusOr<std::map<int64_t, std::map<std::string, double>>> ReadEvalMetrics(
    absl::string_view eval_dir) {
  return ReadScalars(eval_dir);
}

}  // namespace estimator
