#include "estimator/training/hooks/progress_hook.h"

#include <unistd.h>

#include <cstdio>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "estimator/base/strings.h"
#include "glog/logging.h"

namespace estimator {
namespace {

// Frequent enough to show that the program runs, and rare enough to read the numbers.
constexpr double kTerminalSecs = 0.5;

// The share of the time from which the input is said to hold training back.
constexpr double kWaitsForInput = 0.2;

}  // namespace

ProgressHook::ProgressHook(Options options)
    : options_(std::move(options)),
      terminal_(options_.terminal.value_or(isatty(STDERR_FILENO) != 0)),
      log_timer_(options_.cadence, options_.clock),
      terminal_timer_({.every_steps = std::nullopt, .every_secs = kTerminalSecs}, options_.clock) {}

absl::Status ProgressHook::AfterCreateSession(Session& session) {
  examples_per_step_ = session.examples_per_step();
  first_run_ = true;
  last_times_ = session.times();
  last_stages_ = session.InputStageTimes();
  log_timer_.UpdateLastTriggeredStep(session.global_step());
  terminal_timer_.UpdateLastTriggeredStep(session.global_step());
  return absl::OkStatus();
}

std::vector<Tensor> ProgressHook::BeforeRun(RunContext&) { return {options_.loss}; }

std::string ProgressHook::Line(int64_t step, double steps_per_second) const {
  const bool has_target = options_.target_step != std::numeric_limits<int64_t>::max();
  std::string line =
      absl::StrCat("step ", step, has_target ? absl::StrCat("/", options_.target_step) : "");
  absl::StrAppendFormat(&line, ", loss = %.5g", loss_);
  if (steps_per_second <= 0) return line;
  if (examples_per_step_ > 0) {
    absl::StrAppendFormat(&line, ", %.0f examples/s",
                          steps_per_second * static_cast<double>(examples_per_step_));
  } else {
    absl::StrAppendFormat(&line, ", %.3g steps/s", steps_per_second);
  }
  if (has_target && step < options_.target_step) {
    absl::StrAppend(
        &line, ", ",
        HumanDuration(static_cast<double>(options_.target_step - step) / steps_per_second),
        " left");
  }
  return line;
}

std::string ProgressHook::Shares(Session& session, double seconds, bool with_stage) {
  const LoopTimes times = session.times() - last_times_;
  last_times_ = session.times();
  const std::vector<StageTime> before = std::exchange(last_stages_, session.InputStageTimes());
  const std::string shares = FormatShares(times, seconds);
  if (shares.empty()) return "";
  std::string text = absl::StrCat(" (", shares, ")");
  if (!with_stage || times.input < kWaitsForInput * seconds) return text;
  const StageTime* slowest = nullptr;
  double most = 0;
  for (size_t i = 0; i < last_stages_.size(); ++i) {
    // A restored input begins its stages anew.
    const double earlier = before.size() == last_stages_.size() ? before[i].seconds : 0;
    const double own = last_stages_[i].seconds - earlier;
    if (own <= most) continue;
    most = own;
    slowest = &last_stages_[i];
  }
  if (slowest == nullptr) return text;
  absl::StrAppend(&text, "; the slowest stage of the input is ", slowest->stage,
                  slowest->advice.empty() ? "" : ": ", slowest->advice);
  return text;
}

absl::Status ProgressHook::AfterRun(RunContext& context, const RunValues& values) {
  loss_ = values.results[0].AsDouble();
  const bool first = std::exchange(first_run_, false);
  SecondOrStepTimer& timer = terminal_ ? terminal_timer_ : log_timer_;
  if (!timer.ShouldTriggerForStep(values.global_step)) {
    // The first line with a speed may be far away. This one shows early that training runs, and the
    // initial loss.
    if (first && !terminal_) LOG(INFO) << Line(values.global_step, 0);
    return absl::OkStatus();
  }
  const auto elapsed = timer.UpdateLastTriggeredStep(values.global_step);
  const double rate =
      elapsed && elapsed->seconds > 0 ? static_cast<double>(elapsed->steps) / elapsed->seconds : 0;
  const std::string line = absl::StrCat(
      Line(values.global_step, rate),
      Shares(context.session(), elapsed ? elapsed->seconds : 0, /*with_stage=*/!terminal_));
  if (terminal_) {
    // The cursor returns to the start of the line, so that a log line replaces it.
    std::fprintf(stderr, "\r\033[K%s\r", line.c_str());
    std::fflush(stderr);
    line_open_ = true;
  } else {
    LOG(INFO) << line;
  }
  return absl::OkStatus();
}

void ProgressHook::CloseLine() {
  if (line_open_) std::fputc('\n', stderr);
  line_open_ = false;
}

absl::Status ProgressHook::End(Session& session) {
  CloseLine();
  if (first_run_) return absl::OkStatus();  // interrupted before the first run: there is no loss
  LOG(INFO) << "loss for final step " << session.global_step() << ": "
            << absl::StrFormat("%.6g", loss_);
  return absl::OkStatus();
}

}  // namespace estimator
