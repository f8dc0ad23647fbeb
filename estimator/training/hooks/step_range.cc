#include "estimator/training/hooks/step_range.h"

#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "estimator/base/status.h"

namespace estimator {

absl::StatusOr<StepRange> StepRange::Parse(StringArg text) {
  const absl::string_view view = text;
  const std::vector<absl::string_view> parts = absl::StrSplit(view, ',');
  StepRange range;
  const bool numbers = parts.size() <= 2 && absl::SimpleAtoi(parts.front(), &range.first) &&
                       absl::SimpleAtoi(parts.back(), &range.last);
  if (!numbers) {
    return InvalidArgument(
        "\"", view, "\" is not a range of steps: give the first and the last, such as 10,20");
  }
  EST_RETURN_IF_ERROR(range.Validate("the range"));
  return range;
}

absl::Status StepRange::Validate(absl::string_view what) const {
  if (first >= 1 && last >= first) return absl::OkStatus();
  return InvalidArgument(
      what, " must begin at step 1 or later and not end before it begins, given ", ToString());
}

std::string StepRange::ToString() const { return absl::StrCat(first, ",", last); }

}  // namespace estimator
