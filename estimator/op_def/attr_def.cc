#include "estimator/op_def/attr_def.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace estimator {
namespace {

using Halves = std::pair<absl::string_view, absl::string_view>;

AttrValue FromText(char kind, absl::string_view text) {
  switch (kind) {
    case 'b':
      return text == "true";
    case 'i': {
      int64_t value = 0;
      // The text is a literal of our own table, and not something that a user wrote.
      (void)absl::SimpleAtoi(text, &value);
      return value;
    }
    case 'f': {
      float value = 0;
      (void)absl::SimpleAtof(text, &value);
      return value;
    }
    case 't':
      return DTypeFromName(text).value_or(DType::kInvalid);
    case 'l': {
      std::vector<int64_t> values;
      for (const absl::string_view item : absl::StrSplit(text, ',', absl::SkipEmpty()))
        values.push_back(std::get<int64_t>(FromText('i', item)));
      return values;
    }
    default:
      return std::string(text);
  }
}

}  // namespace

std::vector<AttrDef> ParseAttrs(absl::string_view attrs) {
  std::vector<AttrDef> defs;
  for (absl::string_view word : absl::StrSplit(attrs, ' ', absl::SkipEmpty())) {
    if (!absl::StrContains(word, ':')) continue;
    const bool only = absl::ConsumeSuffix(&word, "!");
    const Halves parts = absl::StrSplit(word, absl::MaxSplits('=', 1));
    const Halves name = absl::StrSplit(parts.first, ':');
    AttrDef def{std::string(name.first), name.second[0], std::nullopt, only};
    if (absl::StrContains(word, '=')) def.default_value = FromText(def.kind, parts.second);
    defs.push_back(std::move(def));
  }
  return defs;
}

std::vector<ImpliedAttr> ParseImpliedAttrs(absl::string_view attrs, int num_inputs) {
  std::vector<ImpliedAttr> implied;
  // A row without operands has no input 0 whose dtype T could be.
  bool none = num_inputs == 0;
  for (const absl::string_view word : absl::StrSplit(attrs, ' ', absl::SkipEmpty())) {
    if (absl::StrContains(word, ':')) continue;
    if (word == "-") {
      none = true;
      continue;
    }
    const Halves parts = absl::StrSplit(word, '=');
    implied.push_back({std::string(parts.first), std::string(parts.second)});
  }
  if (implied.empty() && !none) implied.push_back({"T", "i0"});
  return implied;
}

}  // namespace estimator
