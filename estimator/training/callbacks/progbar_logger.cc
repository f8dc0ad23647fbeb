#include "estimator/training/callbacks/progbar_logger.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "estimator/base/status.h"
#include "estimator/training/callbacks/callback.h"

namespace estimator::callbacks {
namespace {

// Source of the numbers and formats: TF 2.15 keras.utils.Progbar.
constexpr int kWidth = 30;
constexpr double kIntervalSecs = 0.05;

std::string TimePerUnit(double seconds, const char* unit) {
  if (seconds >= 1 || seconds == 0) return absl::StrFormat(" %.0fs/%s", seconds, unit);
  if (seconds >= 1e-3) return absl::StrFormat(" %.0fms/%s", seconds * 1e3, unit);
  return absl::StrFormat(" %.0fus/%s", seconds * 1e6, unit);
}

std::string TimeLeft(double seconds) {
  const auto whole = static_cast<int64_t>(seconds);
  if (seconds > 3600)
    return absl::StrFormat("%d:%02d:%02d", whole / 3600, whole % 3600 / 60, whole % 60);
  if (seconds > 60) return absl::StrFormat("%d:%02d", whole / 60, whole % 60);
  return absl::StrCat(whole, "s");
}

std::string Values(const Logs& logs) {
  std::string text;
  for (const auto& [name, value] : logs)
    absl::StrAppend(
        &text, " - ", name, ": ",
        std::abs(value) > 1e-3 ? absl::StrFormat("%.4f", value) : absl::StrFormat("%.4e", value));
  return text;
}

class ProgbarLoggerCallback : public Callback {
 public:
  explicit ProgbarLoggerCallback(const ProgbarLoggerOptions& options)
      : options_(options), terminal_(options.terminal.value_or(isatty(STDERR_FILENO) != 0)) {
    if (!options_.write) {
      options_.write = [](absl::string_view text) {
        std::fwrite(text.data(), 1, text.size(), stderr);
        std::fflush(stderr);
      };
    }
  }
  bool ShowsProgress() const override { return true; }

  absl::Status OnTrainBegin(Context& context) override {
    per_step_ = IsSamples() ? std::max<int64_t>(1, context.session().examples_per_step()) : 1;
    // An epoch that another process has begun.
    if (context.steps_done() > 0) return OnEpochBegin(context, context.first_epoch());
    return absl::OkStatus();
  }

  absl::Status OnEpochBegin(Context& context, int64_t epoch) override {
    start_secs_ = last_secs_ = options_.clock();
    first_step_secs_.reset();
    start_steps_ = context.steps_done();
    shown_width_ = 0;
    if (context.epochs() > 1) {
      options_.write(absl::StrCat(
          "Epoch ", epoch + 1,
          context.epochs() == Context::kUnknown ? "" : absl::StrCat("/", context.epochs()), "\n"));
    }
    return absl::OkStatus();
  }

  absl::Status OnTrainBatchEnd(Context& context, int64_t) override {
    const double now = options_.clock();
    if (!first_step_secs_.has_value()) {
      // The first step is slower than the others.
      first_step_secs_ = now;
      start_steps_timed_ = context.steps_done();
    }
    // The last step's bar is that of the whole epoch.
    if (!terminal_ || now - last_secs_ < kIntervalSecs ||
        context.steps_done() >= context.steps_per_epoch())
      return absl::OkStatus();
    last_secs_ = now;
    EST_ASSIGN_OR_RETURN(const Logs logs, context.RunningLogs());
    std::string line = Bar(context);
    if (context.steps_per_epoch() != Context::kUnknown) {
      absl::StrAppend(
          &line, " - ETA: ",
          TimeLeft(SecondsPerStep(context, now) *
                   static_cast<double>(context.steps_per_epoch() - context.steps_done())));
    }
    Show(absl::StrCat(line, Values(logs)));
    return absl::OkStatus();
  }

  absl::Status OnEpochEnd(Context& context, int64_t, Logs& logs) override {
    const double now = options_.clock();
    const double per_unit = SecondsPerStep(context, now) / static_cast<double>(per_step_);
    Show(absl::StrCat(Bar(context), absl::StrFormat(" - %.0fs", now - start_secs_),
                      TimePerUnit(per_unit, IsSamples() ? "sample" : "step"), Values(logs)));
    options_.write("\n");
    shown_width_ = 0;
    return absl::OkStatus();
  }

 private:
  bool IsSamples() const { return options_.count_mode == CountMode::kSamples; }

  double SecondsPerStep(const Context& context, double now) const {
    const int64_t timed = context.steps_done() - start_steps_timed_;
    if (first_step_secs_.has_value() && timed > 0)
      return (now - *first_step_secs_) / static_cast<double>(timed);
    const int64_t steps = context.steps_done() - start_steps_;
    return steps > 0 ? (now - start_secs_) / static_cast<double>(steps) : 0;
  }

  std::string Bar(const Context& context) const {
    const int64_t done = context.steps_done() * per_step_;
    if (context.steps_per_epoch() == Context::kUnknown) return absl::StrFormat("%7d/Unknown", done);
    const int64_t target = context.steps_per_epoch() * per_step_;
    const std::string target_text = absl::StrCat(target);
    // A process that continues with larger batches may have done more steps than an epoch has.
    const int filled = std::min(
        kWidth, static_cast<int>(kWidth * static_cast<double>(done) / static_cast<double>(target)));
    std::string bar =
        absl::StrFormat("%*d/%s [", static_cast<int>(target_text.size()), done, target_text);
    if (filled > 0) {
      bar.append(static_cast<size_t>(filled - 1), '=');
      bar += done < target ? '>' : '=';
    }
    bar.append(static_cast<size_t>(kWidth - filled), '.');
    return bar + "]";
  }

  // Over the line before, in a terminal.
  void Show(std::string line) {
    const size_t width = line.size();
    if (width < shown_width_) line.append(shown_width_ - width, ' ');
    options_.write(terminal_ ? absl::StrCat("\r", line) : line);
    shown_width_ = terminal_ ? width : 0;
  }

  ProgbarLoggerOptions options_;
  const bool terminal_;
  int64_t per_step_ = 1;  // units that the bar counts
  double start_secs_ = 0, last_secs_ = 0;
  int64_t start_steps_ = 0;                // when the epoch, or this process, began
  std::optional<double> first_step_secs_;  // the end of the first run
  int64_t start_steps_timed_ = 0;          // the steps by then
  size_t shown_width_ = 0;
};

}  // namespace

HookPtr ProgbarLogger(const ProgbarLoggerOptions& options) {
  return std::make_shared<ProgbarLoggerCallback>(options);
}

}  // namespace estimator::callbacks
