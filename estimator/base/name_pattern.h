// Regular expressions over names (of variables, mostly), with an error in place of an exception.
#ifndef ESTIMATOR_BASE_NAME_PATTERN_H_
#define ESTIMATOR_BASE_NAME_PATTERN_H_

#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace estimator {

// An expression of PCRE2, compiled once. Immutable.
// It means what it means to Python's `re`: groups, (?P<name>...), \1, (?i), \d, \w, look-ahead and
// look-behind, repeats that are greedy or not. Characters are Unicode's. The differences:
//   {,n}    is an error. Write {0,n}.
//   \Z      also matches before a newline at the end. \z is Python's \Z.
//   \uXXXX  is an error. Write \x{XXXX}.
//   (?a)    is an error: \d and \w always mean Unicode's digits and letters.
class NamePattern {
 public:
  // `option`: what the user calls it: "--include", "vars_to_warm_start".
  // Errors: INVALID_ARGUMENT with the option, the expression, the position and what is wrong there.
  static absl::StatusOr<NamePattern> Compile(absl::string_view option, absl::string_view pattern);

  const std::string& text() const { return text_; }

  // Errors: INVALID_ARGUMENT, after about 0.1 s, if the expression tries too many ways to match
  // `name`. An expression with a repeat inside a repeat can need a time that is exponential in the
  // length of the name.
  absl::StatusOr<bool> FoundIn(absl::string_view name) const;         // as Python's re.search
  absl::StatusOr<bool> MatchesStartOf(absl::string_view name) const;  // as re.match
  absl::StatusOr<bool> MatchesAllOf(absl::string_view name) const;    // as re.fullmatch

 private:
  struct Regex;  // PCRE2's

  absl::StatusOr<bool> Match(absl::string_view name, uint32_t options) const;

  std::string option_, text_;
  std::shared_ptr<const Regex> regex_;
};

// Errors: as Compile, for all bad expressions together.
absl::StatusOr<std::vector<NamePattern>> CompileNamePatterns(
    absl::string_view option, const std::vector<std::string>& patterns);

// Whether one of the expressions finds something in `name`.
// Errors: as those of CompileNamePatterns and FoundIn.
absl::StatusOr<bool> AnyFoundIn(absl::string_view option, absl::string_view name,
                                const std::vector<std::string>& patterns);

}  // namespace estimator

#endif  // ESTIMATOR_BASE_NAME_PATTERN_H_
