#include "estimator/training/warm_start/name_pattern.h"

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"

namespace estimator {

absl::StatusOr<NamePattern> NamePattern::Compile(const std::string& regex) {
  try {
    return NamePattern(regex, std::regex(regex));
  } catch (const std::regex_error& error) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", regex, "' is not a regular expression: ", error.what()));
  }
}

bool NamePattern::MatchesPrefixOf(const std::string& name) const {
  const auto at_start = std::regex_constants::match_continuous;
  return std::regex_search(name, regex_, at_start) ||
         std::regex_search(absl::StrCat(name, ":0"), regex_, at_start);
}

absl::StatusOr<std::vector<NamePattern>> CompileNamePatterns(
    const std::vector<std::string>& regexes) {
  std::vector<NamePattern> patterns;
  for (const std::string& regex : regexes) {
    EST_ASSIGN_OR_RETURN(NamePattern pattern, NamePattern::Compile(regex));
    patterns.push_back(std::move(pattern));
  }
  return patterns;
}

}  // namespace estimator
