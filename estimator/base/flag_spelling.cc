#include "estimator/base/flag_spelling.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/strip.h>

#include <map>

namespace estimator {
namespace {

std::map<std::string, std::string>& Spellings() {
  static auto* const spellings = new std::map<std::string, std::string>;
  return *spellings;
}

}  // namespace

FlagSpelling::FlagSpelling(StringArg spelling, StringArg meaning) : spelling_(spelling) {
  Spellings()[spelling_] = std::string(meaning);
}

FlagSpelling::~FlagSpelling() { Spellings().erase(spelling_); }

std::string MeaningOfArgument(StringArg argument) {
  absl::string_view text = argument;
  if (absl::ConsumePrefix(&text, "-")) {
    absl::ConsumePrefix(&text, "-");
    const auto found = Spellings().find(std::string(text));
    if (found != Spellings().end()) return absl::StrCat("--", found->second);
  }
  return std::string(argument);
}

std::vector<std::string> SpelledValues(StringArg flag) {
  std::vector<std::string> values;
  for (const auto& [spelling, meaning] : Spellings()) {
    absl::string_view value = spelling;
    if (absl::ConsumePrefix(&value, absl::StrCat(absl::string_view(flag), "=")))
      values.emplace_back(value);
  }
  return values;
}

}  // namespace estimator
