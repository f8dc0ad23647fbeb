#include "estimator/training/loop/eval_result.h"

#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace estimator {

double EvalResult::operator[](StringArg name) const {
  const auto found = values.find(std::string(name));
  if (found == values.end() || found->second.num_elements() != 1 ||
      found->second.dtype() == DType::kString)
    return std::numeric_limits<double>::quiet_NaN();
  return found->second.AsDouble();
}

int64_t EvalResult::global_step() const {
  const auto found = values.find("global_step");
  return found == values.end() ? 0 : found->second.scalar<int64_t>();
}

std::string EvalResult::ToString() const {
  std::vector<std::string> parts;
  for (const auto& [name, value] : values) {
    if (value.dtype() != DType::kString)
      parts.push_back(absl::StrCat(name, " = ", value.ToString()));
  }
  return absl::StrJoin(parts, ", ");
}

}  // namespace estimator
