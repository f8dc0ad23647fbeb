// Which variables an option leaves out: exclude_from_weight_decay and its like.
#ifndef ESTIMATOR_NN_TRAIN_NAME_PATTERNS_H_
#define ESTIMATOR_NN_TRAIN_NAME_PATTERNS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace estimator::train {

// INVALID_ARGUMENT naming the pattern that is no regular expression (ECMAScript).
absl::Status CheckPatterns(absl::string_view option, const std::vector<std::string>& patterns);

// Whether a pattern is found in `name`, as Python's re.search. A pattern that is none matches
// nothing: see CheckPatterns.
bool MatchesAny(absl::string_view name, const std::vector<std::string>& patterns);

}  // namespace estimator::train

#endif  // ESTIMATOR_NN_TRAIN_NAME_PATTERNS_H_
