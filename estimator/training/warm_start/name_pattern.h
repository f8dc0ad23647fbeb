// Regular expressions over variable names, compiled once, with an error instead of an exception.
#ifndef ESTIMATOR_TRAINING_WARM_START_NAME_PATTERN_H_
#define ESTIMATOR_TRAINING_WARM_START_NAME_PATTERN_H_

#include <regex>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace estimator {

// An ECMAScript expression.
class NamePattern {
 public:
  // Errors: INVALID_ARGUMENT with the expression and what is wrong with it.
  static absl::StatusOr<NamePattern> Compile(const std::string& regex);

  const std::string& text() const { return text_; }
  // At the beginning of the name, as Python's re.match. Names in TensorFlow end in ":0", so an
  // expression that asks for it matches too.
  bool MatchesPrefixOf(const std::string& name) const;
  bool MatchesAllOf(const std::string& name) const { return std::regex_match(name, regex_); }

 private:
  NamePattern(std::string text, std::regex regex)
      : text_(std::move(text)), regex_(std::move(regex)) {}

  std::string text_;
  std::regex regex_;
};

// Errors: INVALID_ARGUMENT for the first expression that is not one.
absl::StatusOr<std::vector<NamePattern>> CompileNamePatterns(
    const std::vector<std::string>& regexes);

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_WARM_START_NAME_PATTERN_H_
