#include "estimator/base/name_pattern.h"

#include <absl/strings/str_join.h>

#include <cstddef>
#include <utility>

#include "estimator/base/status.h"

// Code units are bytes. pcre2.h must see this.
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

namespace estimator {
namespace {

// One step takes about 50 ns. `.*a.*b.*c` needs one million for a name of 180 characters.
constexpr uint32_t kMaxSteps = 2'000'000;
constexpr uint32_t kMaxHeapKib = 64 * 1024;  // PCRE2 recurses on the heap, not on the stack
constexpr size_t kShown = 200;               // bytes of an expression in a message

template <auto kFree>
struct Free {
  template <typename T>
  void operator()(T* object) const {
    kFree(object);
  }
};
using Code = std::unique_ptr<pcre2_code, Free<pcre2_code_free>>;
using CompileContext = std::unique_ptr<pcre2_compile_context, Free<pcre2_compile_context_free>>;
using MatchContext = std::unique_ptr<pcre2_match_context, Free<pcre2_match_context_free>>;
using MatchData = std::unique_ptr<pcre2_match_data, Free<pcre2_match_data_free>>;

// PCRE2 takes no null pointer, which an empty text may have.
PCRE2_SPTR Bytes(absl::string_view text) {
  return reinterpret_cast<PCRE2_SPTR>(text.empty() ? "" : text.data());
}

std::string Message(int error) {
  PCRE2_UCHAR text[256];
  pcre2_get_error_message(error, text, sizeof(text));
  return reinterpret_cast<const char*>(text);
}

absl::string_view Beginning(absl::string_view text) { return text.substr(0, kShown); }

const char* Dots(absl::string_view text) { return text.size() > kShown ? "..." : ""; }

// The position of a repeat {,n}, or npos. To PCRE2 10.42 it is text, which would then match
// nothing. In a character class, and between \\Q and \\E, it is text to Python too.
size_t FindRepeatWithoutLeast(absl::string_view pattern) {
  bool in_class = false;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern.substr(i, 2) == "\\Q") {
      i = pattern.find("\\E", i);
      if (i == absl::string_view::npos) break;
      ++i;
    } else if (pattern[i] == '\\') {
      ++i;
    } else if (in_class) {
      in_class = pattern[i] != ']';
    } else if (pattern[i] == '[') {
      in_class = true;
      if (pattern.substr(i + 1, 1) == "^") ++i;
      if (pattern.substr(i + 1, 1) == "]") ++i;  // the first ] belongs to the class
    } else if (pattern.substr(i, 2) == "{,") {
      const size_t end = pattern.find_first_not_of("0123456789", i + 2);
      if (end != absl::string_view::npos && end > i + 2 && pattern[end] == '}') return i;
    }
  }
  return absl::string_view::npos;
}

}  // namespace

struct NamePattern::Regex {
  Code code;
  MatchContext limits;
};

absl::StatusOr<NamePattern> NamePattern::Compile(absl::string_view option,
                                                 absl::string_view pattern) {
  const auto refuse = [&](size_t position, absl::string_view why) {
    return InvalidArgument(option, ": '", Beginning(pattern), Dots(pattern),
                           "' is not a regular expression: at position ", position, ": ", why);
  };
  if (const size_t at = FindRepeatWithoutLeast(pattern); at != absl::string_view::npos) {
    return refuse(at, "write the repeat as {0,n} in place of {,n}");
  }
  int error = 0;
  size_t position = 0;
  const CompileContext context(pcre2_compile_context_create(nullptr));
  if (!context) return ResourceExhausted("no memory for a regular expression");
#if PCRE2_MAJOR > 10 || PCRE2_MINOR >= 43
  // Python refuses a lookbehind of varying length, and so did PCRE2 before this version.
  pcre2_set_max_varlookbehind(context.get(), 0);
#endif
  auto regex = std::make_shared<Regex>();
  regex->code.reset(
      pcre2_compile(Bytes(pattern), pattern.size(),
                    PCRE2_UTF | PCRE2_UCP | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C,
                    &error, &position, context.get()));
  if (!regex->code) return refuse(position, Message(error));
  regex->limits.reset(pcre2_match_context_create(nullptr));
  if (!regex->limits) return ResourceExhausted("no memory for a regular expression");
  pcre2_set_match_limit(regex->limits.get(), kMaxSteps);
  pcre2_set_heap_limit(regex->limits.get(), kMaxHeapKib);
  NamePattern result;
  result.option_ = std::string(option);
  result.text_ = std::string(pattern);
  result.regex_ = std::move(regex);
  return result;
}

absl::StatusOr<bool> NamePattern::Match(absl::string_view name, uint32_t options) const {
  // One pair: the ends of the whole match. Those of groups are not used.
  const MatchData data(pcre2_match_data_create(1, nullptr));
  if (!data) return ResourceExhausted("no memory for a match");
  const int result = pcre2_match(regex_->code.get(), Bytes(name), name.size(), 0, options,
                                 data.get(), regex_->limits.get());
  if (result >= 0) {
    // In a name that is not UTF-8, PCRE2 anchors to each valid part. The whole name is meant.
    const size_t* const ends = pcre2_get_ovector_pointer(data.get());
    return ((options & PCRE2_ANCHORED) == 0 || ends[0] == 0) &&
           ((options & PCRE2_ENDANCHORED) == 0 || ends[1] == name.size());
  }
  if (result == PCRE2_ERROR_NOMATCH) return false;
  const bool too_long = result == PCRE2_ERROR_MATCHLIMIT || result == PCRE2_ERROR_HEAPLIMIT;
  return InvalidArgument(
      option_, ": '", Beginning(text_), Dots(text_), "' cannot be matched with the name '",
      Beginning(name), Dots(name), "': ", Message(result),
      too_long ? "; the expression can match the same text in too many ways, often by a repeat "
                 "inside a repeat, as (a+)+ does; write a+, or (?>a+)+, which tries one way only"
               : "");
}

absl::StatusOr<bool> NamePattern::FoundIn(absl::string_view name) const { return Match(name, 0); }

absl::StatusOr<bool> NamePattern::MatchesStartOf(absl::string_view name) const {
  return Match(name, PCRE2_ANCHORED);
}

absl::StatusOr<bool> NamePattern::MatchesAllOf(absl::string_view name) const {
  return Match(name, PCRE2_ANCHORED | PCRE2_ENDANCHORED);
}

absl::StatusOr<std::vector<NamePattern>> CompileNamePatterns(
    absl::string_view option, const std::vector<std::string>& patterns) {
  std::vector<NamePattern> compiled;
  std::vector<std::string> problems;
  for (const std::string& pattern : patterns) {
    absl::StatusOr<NamePattern> result = NamePattern::Compile(option, pattern);
    if (result.ok()) {
      compiled.push_back(*std::move(result));
    } else {
      problems.emplace_back(result.status().message());
    }
  }
  if (!problems.empty()) return InvalidArgument(absl::StrJoin(problems, "; "));
  return compiled;
}

absl::StatusOr<bool> AnyFoundIn(absl::string_view option, absl::string_view name,
                                const std::vector<std::string>& patterns) {
  EST_ASSIGN_OR_RETURN(const std::vector<NamePattern> compiled,
                       CompileNamePatterns(option, patterns));
  for (const NamePattern& pattern : compiled) {
    EST_ASSIGN_OR_RETURN(const bool found, pattern.FoundIn(name));
    if (found) return true;
  }
  return false;
}

}  // namespace estimator
