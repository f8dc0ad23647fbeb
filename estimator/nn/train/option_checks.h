// Checks of an optimizer's options. A message lists every option that is out of range.
//
//   return OptionChecks(name()).NotNegative("epsilon", options_.epsilon).status();
#ifndef ESTIMATOR_NN_TRAIN_OPTION_CHECKS_H_
#define ESTIMATOR_NN_TRAIN_OPTION_CHECKS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "estimator/graph/variable.h"

namespace estimator::train {

// NaN and infinity are out of every range.
class OptionChecks {
 public:
  // owner: the optimizer's name, which begins the message.
  explicit OptionChecks(absl::string_view owner) : owner_(owner) {}

  OptionChecks& Positive(absl::string_view option, double value);     // > 0
  OptionChecks& NotNegative(absl::string_view option, double value);  // >= 0
  OptionChecks& NotPositive(absl::string_view option, double value);  // <= 0
  // The share of the old value that a moving average keeps, in [0, 1).
  OptionChecks& Decay(absl::string_view option, double value);

  // Returns OK, or INVALID_ARGUMENT such as
  // "Ftrl: learning_rate_power is 0.5, but must be at most 0; beta is -1, but must be at least 0".
  absl::Status status() const;

 private:
  OptionChecks& Check(bool good, absl::string_view option, double value, absl::string_view range);

  const std::string owner_;
  std::vector<std::string> errors_;
};

// Whether one of the regular expressions of `option` is found in the variable's name. If one of
// them cannot be matched, the variable's graph keeps the error.
bool IsExcluded(const Variable& variable, absl::string_view option,
                const std::vector<std::string>& patterns);

}  // namespace estimator::train

#endif  // ESTIMATOR_NN_TRAIN_OPTION_CHECKS_H_
