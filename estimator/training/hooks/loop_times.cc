#include "estimator/training/hooks/loop_times.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace estimator {

std::string FormatShares(const LoopTimes& times, double seconds) {
  if (!(seconds > 0)) return "";
  std::vector<std::pair<double, const char*>> parts = {
      {times.compute, "compute"},
      {times.input, "input"},
      {times.checkpoint, "checkpoint"},
      {times.evaluation, "evaluation"},
      {std::max(seconds - times.sum(), 0.0), "other"},
  };
  std::stable_sort(parts.begin(), parts.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::string> texts;
  for (const auto& [part, name] : parts) {
    const auto percent = static_cast<int>(std::lround(100 * part / seconds));
    if (percent >= 1) texts.push_back(absl::StrCat(name, " ", percent, " %"));
  }
  return absl::StrJoin(texts, ", ");
}

}  // namespace estimator
