#include "estimator/training/hooks/period.h"

#include <array>
#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"

namespace estimator {
namespace {

struct UnitName {
  const char* singular;
  const char* plural;
  Period::Unit unit;
  double factor;
};

// ToString takes the first name of a unit.
constexpr std::array<UnitName, 7> kUnits = {{
    {"step", "steps", Period::Unit::kSteps, 1},
    {"epoch", "epochs", Period::Unit::kEpochs, 1},
    {"example", "examples", Period::Unit::kExamples, 1},
    {"second", "seconds", Period::Unit::kSeconds, 1},
    {"s", "secs", Period::Unit::kSeconds, 1},
    {"minute", "minutes", Period::Unit::kSeconds, 60},
    {"hour", "hours", Period::Unit::kSeconds, 3600},
}};

constexpr double kMostSteps = 9e18;  // fits into int64_t

}  // namespace

absl::StatusOr<Period> Period::Parse(StringArg text) {
  const absl::string_view all = absl::StripAsciiWhitespace(text);
  size_t end = 0;
  while (end < all.size() && (absl::ascii_isdigit(static_cast<unsigned char>(all[end])) != 0 ||
                              all[end] == '.' || all[end] == '-' || all[end] == '+')) {
    ++end;
  }
  const absl::string_view name = absl::StripLeadingAsciiWhitespace(all.substr(end));
  double value = 0;
  if (absl::SimpleAtod(all.substr(0, end), &value)) {
    for (const UnitName& unit : kUnits) {
      // Steps come first in the table, so a number alone is in steps.
      if (name == unit.singular || name == unit.plural || (name.empty() && unit.factor == 1)) {
        const Period period(value * unit.factor, unit.unit);
        EST_RETURN_IF_ERROR(period.CheckPositive());
        return period;
      }
    }
  }
  return InvalidArgument(
      "\"", all,
      "\" is not a period: write a number and steps, epochs, examples, seconds, minutes "
      "or hours, as in \"2 epochs\"");
}

std::string Period::ToString() const {
  // A double is written with six digits: 2^24 + 1 steps would be 1.67772e+07.
  const bool whole = std::floor(value_) == value_ && std::abs(value_) <= 0x1p53;
  const std::string number =
      whole ? absl::StrCat(static_cast<int64_t>(value_)) : absl::StrCat(value_);
  for (const UnitName& unit : kUnits) {
    if (unit.unit == unit_)
      return absl::StrCat(number, " ", value_ == 1 ? unit.singular : unit.plural);
  }
  return "";
}

absl::Status Period::CheckPositive() const {
  if (value_ > 0 && std::isfinite(value_)) return absl::OkStatus();
  return InvalidArgument("the period ", ToString(), " must be above 0");
}

absl::StatusOr<int64_t> Period::ToSteps(const InputSizes& sizes) const {
  EST_RETURN_IF_ERROR(CheckPositive());
  if (unit_ == Unit::kSeconds) {
    return InvalidArgument(ToString(),
                           ": this is counted in steps, epochs or examples, not in seconds");
  }
  double steps = value_;
  if (unit_ != Unit::kSteps) {
    if (sizes.examples_per_step <= 0) {
      return FailedPrecondition(ToString(),
                                ": the number of examples in a step is not known, because the "
                                "elements of the input have no batch axis; give it in steps");
    }
    if (unit_ == Unit::kEpochs && sizes.examples_per_epoch <= 0) {
      return FailedPrecondition(
          ToString(),
          ": the number of examples in an epoch is not known without reading the input; "
          "set RunConfig.examples_per_epoch, which many programs have as --examples_per_epoch "
          "(CountRecords counts the records of TFRecord files), or give it in steps");
    }
    const double examples =
        unit_ == Unit::kEpochs ? value_ * static_cast<double>(sizes.examples_per_epoch) : value_;
    steps = examples / static_cast<double>(sizes.examples_per_step);
  }
  if (steps > kMostSteps) return InvalidArgument(ToString(), " is more than 2^63 steps");
  // Rounded up, so that a period shorter than a step is one step and not 0.
  return static_cast<int64_t>(std::ceil(steps));
}

absl::StatusOr<StepsOrSeconds> Period::ToStepsOrSeconds(const InputSizes& sizes) const {
  EST_RETURN_IF_ERROR(CheckPositive());
  if (unit_ == Unit::kSeconds)
    return StepsOrSeconds{.every_steps = std::nullopt, .every_secs = value_};
  EST_ASSIGN_OR_RETURN(const int64_t steps, ToSteps(sizes));
  return StepsOrSeconds{.every_steps = steps, .every_secs = std::nullopt};
}

}  // namespace estimator
