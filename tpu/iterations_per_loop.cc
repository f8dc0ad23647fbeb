#include "tpu/iterations_per_loop.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"

namespace estimator::tpu {
namespace {

absl::Status Invalid(absl::string_view given) {
  return InvalidArgument(
      "iterations_per_loop must be a number of steps >= 1, or a time as '30s', '10m' "
      "or '1h'; given '",
      given, "'");
}

}  // namespace

IterationsPerLoop::IterationsPerLoop(int64_t steps) : value_(steps) {
  if (steps < 1) status_ = Invalid(absl::StrCat(steps));
}

void IterationsPerLoop::Parse(absl::string_view text) {
  absl::string_view digits = text;
  int64_t unit_seconds = 1;
  if (!digits.empty() && !(digits.back() >= '0' && digits.back() <= '9')) {
    in_seconds_ = true;
    unit_seconds = digits.back() == 's'   ? 1
                   : digits.back() == 'm' ? 60
                   : digits.back() == 'h' ? 3600
                                          : 0;
    digits.remove_suffix(1);
  }
  // As in TensorFlow, whose pattern has no leading zero.
  const bool well_formed =
      !digits.empty() && digits[0] != '0' &&
      std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
  constexpr int64_t kMost = int64_t{1} << 40;  // more than any run needs, and safe to multiply
  if (!well_formed || unit_seconds == 0 || !absl::SimpleAtoi(digits, &value_) || value_ > kMost) {
    status_ = Invalid(text);
    return;
  }
  value_ *= unit_seconds;
}

void IterationsTuner::Observe(int64_t steps, double seconds) {
  // A settled number never changes again, as in TensorFlow. This also refuses a time that is NaN.
  if (steps <= 0 || !(seconds > 0) || settled_) return;
  step_seconds_.push_back(seconds / static_cast<double>(steps));
  if (step_seconds_.size() > kWindow) step_seconds_.pop_front();
  double mean = 0;
  for (const double value : step_seconds_) mean += value;
  mean /= static_cast<double>(step_seconds_.size());
  double variance = 0;
  for (const double value : step_seconds_) variance += (value - mean) * (value - mean);
  const double deviation = std::sqrt(variance / static_cast<double>(step_seconds_.size()));
  const bool near_target =
      std::abs(seconds - target_seconds_) <= 0.1 * target_seconds_ ||
      std::abs(mean * static_cast<double>(steps) - target_seconds_) <= 0.05 * target_seconds_;
  settled_ = near_target && deviation < 0.03 && step_seconds_.size() == kWindow;
  // The small addend prevents rounding errors from turning 10 steps of 0.1 s into 9.
  constexpr double kMost = 0x1p40;  // as above
  if (!settled_) {
    const double fitting = std::min(target_seconds_ / mean + 1e-6, kMost);
    iterations_ = std::max<int64_t>(1, static_cast<int64_t>(fitting));
  }
}

}  // namespace estimator::tpu
