// Regular expressions over names (of variables, mostly), with an error in place of an exception.
#ifndef ESTIMATOR_BASE_NAME_PATTERN_H_
#define ESTIMATOR_BASE_NAME_PATTERN_H_

#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>

#include <memory>
#include <string>
#include <vector>

namespace estimator {

// An ECMAScript expression, compiled once. The time that a match takes is polynomial in the length
// of the name, except where the expression refers back to a group (\1). Immutable.
class NamePattern {
 public:
  // `option`: what the user calls it: "--include", "vars_to_warm_start".
  // Errors: INVALID_ARGUMENT with the option, the expression, what is wrong with it, and, where it
  // has what Python knows and ECMAScript does not, that.
  static absl::StatusOr<NamePattern> Compile(absl::string_view option, absl::string_view pattern);

  const std::string& text() const { return text_; }
  bool FoundIn(absl::string_view name) const;         // as Python's re.search
  bool MatchesStartOf(absl::string_view name) const;  // as re.match
  bool MatchesAllOf(absl::string_view name) const;    // as re.fullmatch

 private:
  struct Regex;  // std::regex

  std::string text_;
  std::shared_ptr<const Regex> regex_;
};

// Errors: as Compile, for all expressions that are none together.
absl::StatusOr<std::vector<NamePattern>> CompileNamePatterns(
    absl::string_view option, const std::vector<std::string>& patterns);

// Whether an expression finds something in `name`. One that is none finds nothing: whoever keeps
// options as text checks them with CompileNamePatterns first.
bool AnyFoundIn(absl::string_view name, const std::vector<std::string>& patterns);

}  // namespace estimator

#endif  // ESTIMATOR_BASE_NAME_PATTERN_H_
