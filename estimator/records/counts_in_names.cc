#include "estimator/records/counts_in_names.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "estimator/base/path.h"

namespace estimator {
namespace {

std::optional<int64_t> CountInName(const std::string& path) {
  absl::string_view name = Basename(path);
  if (!absl::ConsumeSuffix(&name, ".tfrec")) return std::nullopt;
  const size_t dash = name.find_last_of('-');
  if (dash == absl::string_view::npos || absl::EndsWith(name.substr(0, dash), "-of")) {
    return std::nullopt;
  }
  const absl::string_view digits = name.substr(dash + 1);
  int64_t count = 0;
  const bool all_digits = digits.find_first_not_of("0123456789") == absl::string_view::npos;
  if (!all_digits || !absl::SimpleAtoi(digits, &count)) return std::nullopt;
  return count;
}

}  // namespace

std::vector<std::optional<int64_t>> CountsInNames(const std::vector<std::string>& files) {
  std::vector<std::optional<int64_t>> counts;
  std::vector<int64_t> sorted;
  for (const std::string& file : files) {
    counts.push_back(CountInName(file));
    if (counts.back()) sorted.push_back(*counts.back());
  }
  std::sort(sorted.begin(), sorted.end());
  bool numbered = !sorted.empty() && sorted[0] <= 1;
  for (size_t i = 0; numbered && i < sorted.size(); ++i) {
    numbered = sorted[i] == sorted[0] + static_cast<int64_t>(i);
  }
  if (numbered) counts.assign(files.size(), std::nullopt);
  return counts;
}

std::optional<int64_t> SumOfCountsInNames(const std::vector<std::string>& files) {
  int64_t sum = 0;
  for (const std::optional<int64_t>& count : CountsInNames(files)) {
    if (!count || __builtin_add_overflow(sum, *count, &sum)) return std::nullopt;
  }
  return files.empty() ? std::nullopt : std::make_optional(sum);
}

}  // namespace estimator
