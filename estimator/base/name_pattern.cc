// std::regex recurses, once for each state of its automaton: this keeps it within a thread's stack.
// It is libstdc++'s own macro, and no other file of ours includes <regex>.
#define _GLIBCXX_REGEX_STATE_LIMIT 20000

#include "estimator/base/name_pattern.h"

#include <absl/status/status.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <glog/logging.h>

#include <algorithm>
#include <cstddef>
#include <regex>
#include <utility>

namespace estimator {

struct NamePattern::Regex {
  std::regex regex;
};

namespace {

// Reading an expression recurses too.
constexpr size_t kMaxLength = 10000;
constexpr int kMaxDepth = 200;

int DeepestGroup(absl::string_view pattern) {
  int depth = 0, deepest = 0;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '\\')
      ++i;
    else if (pattern[i] == '(')
      deepest = std::max(deepest, ++depth);
    else if (pattern[i] == ')')
      --depth;
  }
  return deepest;
}

// What people bring from Python's re that is not ECMAScript's; empty if there is none of it.
std::string PythonOnly(absl::string_view pattern) {
  std::vector<std::string> found;
  for (const absl::string_view part :
       {"(?P", "(?<", "(?i", "(?s", "(?m", "(?x", "(?a", "(?#", "(?(", "\\A", "\\Z"}) {
    if (absl::StrContains(pattern, part)) found.emplace_back(part);
  }
  if (found.empty()) return "";
  return absl::StrCat("; ", absl::StrJoin(found, " and "),
                      " of Python's expressions are not known here (ECMAScript's are)");
}

// libstdc++'s words, without its advice to those who compile it.
std::string Reason(const std::regex_error& error) {
  if (error.code() == std::regex_constants::error_space) {
    return "it repeats too much; use smaller numbers in {}";
  }
  return error.what();
}

// Matching does not throw in the mode below; the standard allows it to.
template <typename Match>
bool Contained(absl::string_view name, const std::string& pattern, const Match& match) {
  try {
    return match(name.begin(), name.end());
  } catch (const std::regex_error& error) {
    LOG(ERROR) << "'" << pattern << "' is too complex for the name " << name
               << ", which counts as no match: " << error.what();
    return false;
  }
}

}  // namespace

absl::StatusOr<NamePattern> NamePattern::Compile(absl::string_view option,
                                                 absl::string_view pattern) {
  const auto refuse = [&](absl::string_view why) {
    return absl::InvalidArgumentError(
        absl::StrCat(option, ": '", pattern.substr(0, 200), pattern.size() > 200 ? "..." : "",
                     "' is not a regular expression that can be used: ", why, PythonOnly(pattern)));
  };
  if (pattern.size() > kMaxLength) {
    return refuse(absl::StrCat("it has ", pattern.size(), " characters, the most is ", kMaxLength,
                               "; split it"));
  }
  if (DeepestGroup(pattern) > kMaxDepth) {
    return refuse(
        absl::StrCat("its groups are ", DeepestGroup(pattern), " deep, the most is ", kMaxDepth));
  }
  // libstdc++'s own: breadth first, so that no expression takes exponential time. It refuses
  // references to groups, which only the other way can do.
  constexpr auto kPolynomial = std::regex::ECMAScript | std::regex_constants::__polynomial;
  NamePattern result;
  result.text_ = std::string(pattern);
  for (const auto mode : {kPolynomial, std::regex::ECMAScript}) {
    try {
      result.regex_ = std::make_shared<Regex>(Regex{std::regex(result.text_, mode)});
      break;
    } catch (const std::regex_error& error) {
      const bool refers_back = error.code() == std::regex_constants::error_complexity;
      if (mode != kPolynomial || !refers_back) return refuse(Reason(error));
    }
  }
  return result;
}

bool NamePattern::FoundIn(absl::string_view name) const {
  return Contained(name, text_, [this](auto begin, auto end) {
    return std::regex_search(begin, end, regex_->regex);
  });
}

bool NamePattern::MatchesStartOf(absl::string_view name) const {
  return Contained(name, text_, [this](auto begin, auto end) {
    return std::regex_search(begin, end, regex_->regex, std::regex_constants::match_continuous);
  });
}

bool NamePattern::MatchesAllOf(absl::string_view name) const {
  return Contained(name, text_, [this](auto begin, auto end) {
    return std::regex_match(begin, end, regex_->regex);
  });
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
  if (!problems.empty()) return absl::InvalidArgumentError(absl::StrJoin(problems, "; "));
  return compiled;
}

bool AnyFoundIn(absl::string_view name, const std::vector<std::string>& patterns) {
  return std::any_of(patterns.begin(), patterns.end(), [name](const std::string& pattern) {
    const absl::StatusOr<NamePattern> compiled = NamePattern::Compile("", pattern);
    return compiled.ok() && compiled->FoundIn(name);
  });
}

}  // namespace estimator
