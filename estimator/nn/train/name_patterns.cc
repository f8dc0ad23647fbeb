#include "estimator/nn/train/name_patterns.h"

#include <optional>
#include <regex>

#include "absl/strings/str_cat.h"
#include "glog/logging.h"

namespace estimator::train {
namespace {

// std::regex throws. `error` may be null.
std::optional<std::regex> Compile(const std::string& pattern, std::string* error) {
  try {
    return std::regex(pattern);
  } catch (const std::regex_error& thrown) {
    if (error != nullptr) *error = thrown.what();
    return std::nullopt;
  }
}

// False where the search takes too long or too much stack.
bool Finds(const std::regex& regex, absl::string_view name) {
  try {
    return std::regex_search(name.begin(), name.end(), regex);
  } catch (const std::regex_error&) {
    LOG(WARNING) << "a regular expression is too complex for the name " << name;
    return false;
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
    if (regex.has_value() && Finds(*regex, name)) return true;
  }
  return false;
}

}  // namespace estimator::train
