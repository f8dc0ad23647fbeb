#include "estimator/nn/train/adam_weight_decay.h"

#include <regex>

#include "absl/strings/str_cat.h"
#include "estimator/graph/graph.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"

namespace estimator::train {

bool MatchesAny(absl::string_view name, const std::vector<std::string>& patterns) {
  for (const std::string& pattern : patterns) {
    try {
      if (std::regex_search(name.begin(), name.end(), std::regex(pattern))) return true;
    } catch (const std::regex_error& error) {
      Graph::Current().Fail(absl::InvalidArgumentError(
          absl::StrCat("'", pattern, "' is not a regular expression: ", error.what())));
      return false;
    }
  }
  return false;
}

std::vector<Operation> AdamWeightDecay::ApplyDense(const Tensor& gradient,
                                                   const Variable& variable) {
  const Variable m = GetSlot(variable, "adam_m"), v = GetSlot(variable, "adam_v");
  const Tensor next_m = options_.beta1 * m + (1 - options_.beta1) * gradient;
  const Tensor next_v = options_.beta2 * v + (1 - options_.beta2) * Square(gradient);
  Tensor update = next_m / (Sqrt(next_v) + options_.epsilon);
  if (options_.weight_decay_rate != 0 &&
      !MatchesAny(variable.name(), options_.exclude_from_weight_decay)) {
    update += options_.weight_decay_rate * variable;
  }
  return {Assign(variable, variable - Rate(variable) * update), Assign(m, next_m),
          Assign(v, next_v)};
}

}  // namespace estimator::train
