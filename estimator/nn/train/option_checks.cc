#include "estimator/nn/train/option_checks.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/base/name_pattern.h"
#include "estimator/base/status.h"
#include "estimator/graph/graph.h"

namespace estimator::train {

OptionChecks& OptionChecks::Positive(absl::string_view option, double value) {
  return Check(value > 0 && std::isfinite(value), option, value, "above 0");
}

OptionChecks& OptionChecks::NotNegative(absl::string_view option, double value) {
  return Check(value >= 0 && std::isfinite(value), option, value, "at least 0");
}

OptionChecks& OptionChecks::NotPositive(absl::string_view option, double value) {
  return Check(value <= 0 && std::isfinite(value), option, value, "at most 0");
}

OptionChecks& OptionChecks::Decay(absl::string_view option, double value) {
  return Check(value >= 0 && value < 1, option, value, "at least 0 and below 1");
}

OptionChecks& OptionChecks::Check(bool good, absl::string_view option, double value,
                                  absl::string_view range) {
  if (!good) errors_.push_back(absl::StrCat(option, " is ", value, ", but must be ", range));
  return *this;
}

absl::Status OptionChecks::status() const {
  if (errors_.empty()) return absl::OkStatus();
  return InvalidArgument(owner_, ": ", absl::StrJoin(errors_, "; "));
}

bool IsExcluded(const Variable& variable, absl::string_view option,
                const std::vector<std::string>& patterns) {
  const absl::StatusOr<bool> found = AnyFoundIn(option, variable.name(), patterns);
  if (!found.ok()) variable.graph()->Fail(found.status());
  return found.ok() && *found;
}

}  // namespace estimator::train
