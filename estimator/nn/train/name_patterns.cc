#include "estimator/nn/train/name_patterns.h"

#include <optional>
#include <regex>

#include "absl/strings/str_cat.h"

namespace estimator::train {
namespace {

// std::regex throws: nowhere but here. `error` may be null.
std::optional<std::regex> Compile(const std::string& pattern, std::string* error) {
  try {
    return std::regex(pattern);
  } catch (const std::regex_error& thrown) {
    if (error != nullptr) *error = thrown.what();
    return std::nullopt;
  }
}

}  // namespace

absl::Status CheckPatterns(absl::string_view option, const std::vector<std::string>& patterns) {
  for (const std::string& pattern : patterns) {
    std::string error;
    if (!Compile(pattern, &error).has_value()) {
      return absl::InvalidArgumentError(
          absl::StrCat(option, ": '", pattern, "' is not a regular expression: ", error));
    }
  }
  return absl::OkStatus();
}

bool MatchesAny(absl::string_view name, const std::vector<std::string>& patterns) {
  for (const std::string& pattern : patterns) {
    const std::optional<std::regex> regex = Compile(pattern, nullptr);
    if (regex.has_value() && std::regex_search(name.begin(), name.end(), *regex)) return true;
  }
  return false;
}

}  // namespace estimator::train
