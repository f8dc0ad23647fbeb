#include "tools/replay/report.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "estimator/base/strings.h"

namespace estimator::replay {
namespace {

// In the order of Stage.
constexpr const char* kStageNames[] = {"forward tensor", "prediction", "loss",
                                       "gradient",       "variable",   "norm of variable"};
constexpr size_t kTableRows = 12;
constexpr size_t kShownDifferences = 5;
constexpr size_t kDifferenceRows = 40;

std::string Describe(const Comparison& comparison) {
  return comparison.name.empty() ? StageName(comparison.stage)
                                 : absl::StrCat(StageName(comparison.stage), " ", comparison.name);
}

// Returns for example "9 forward tensors, 50 losses, 8 gradients".
std::string Count(const std::vector<Comparison>& comparisons) {
  std::map<Stage, int> counts;
  for (const Comparison& comparison : comparisons) ++counts[comparison.stage];
  std::vector<std::string> parts;
  for (const auto& [stage, count] : counts) {
    const char* plural = stage == Stage::kLoss ? "es" : "s";
    parts.push_back(stage == Stage::kNorm
                        ? absl::StrCat(count, " norms of variables")
                        : absl::StrCat(count, " ", StageName(stage), count == 1 ? "" : plural));
  }
  return parts.empty() ? "nothing" : absl::StrJoin(parts, ", ");
}

std::string LargestDifferences(const std::vector<Comparison>& comparisons) {
  std::map<std::pair<Stage, std::string>, const Comparison*> worst;
  for (const Comparison& comparison : comparisons) {
    const Comparison*& held = worst[{comparison.stage, comparison.name}];
    if (held == nullptr || comparison.of_tolerance > held->of_tolerance) held = &comparison;
  }
  std::vector<const Comparison*> sorted;
  for (const auto& [key, comparison] : worst) sorted.push_back(comparison);
  std::stable_sort(sorted.begin(), sorted.end(), [](const Comparison* a, const Comparison* b) {
    return a->of_tolerance > b->of_tolerance;
  });
  std::vector<std::vector<std::string>> rows = {
      {"largest differences", "step", "difference", "of tolerance"}};
  for (size_t i = 0; i < std::min(kTableRows, sorted.size()); ++i) {
    rows.push_back({Describe(*sorted[i]), absl::StrCat(sorted[i]->step),
                    absl::StrFormat("%.2g", sorted[i]->max_absolute),
                    absl::StrFormat("%.3f", sorted[i]->of_tolerance)});
  }
  return FormatTable(rows);
}

// The names that differ, each with its first difference, except for the first num_shown.
std::string OtherDifferences(const std::vector<Comparison>& differences, size_t num_shown) {
  std::set<std::pair<Stage, std::string>> seen;
  std::vector<std::vector<std::string>> rows = {
      {"other differences", "first in step", "difference", "of tolerance"}};
  size_t num_names = 0;
  for (size_t i = 0; i < differences.size(); ++i) {
    const Comparison& difference = differences[i];
    const bool is_new = seen.emplace(difference.stage, difference.name).second;
    if (i < num_shown || !is_new || ++num_names > kDifferenceRows) continue;
    rows.push_back({Describe(difference), absl::StrCat(difference.step),
                    absl::StrFormat("%.2g", difference.max_absolute),
                    absl::StrFormat("%.3g", difference.of_tolerance)});
  }
  if (num_names == 0) return "";
  std::string text = FormatTable(rows);
  if (num_names > kDifferenceRows)
    absl::StrAppend(&text, "and ", num_names - kDifferenceRows, " more\n");
  return text;
}

}  // namespace

const char* StageName(Stage stage) { return kStageNames[static_cast<size_t>(stage)]; }

std::string ReplayReport::ToString() const {
  std::string text;
  if (ok()) {
    absl::StrAppendFormat(&text, "%s: matches %s over %d step%s on %s: %s\n", reference, made_by,
                          num_steps, num_steps == 1 ? "" : "s", backend, Count(matches));
    absl::StrAppend(&text, LargestDifferences(matches));
  } else {
    absl::StrAppendFormat(&text, "%s: differs from %s on %s, first in step %d, %s:\n  %s\n",
                          reference, made_by, backend, first_difference->step,
                          Describe(*first_difference), first_difference->report);
    std::vector<Comparison> differences = {*first_difference};
    differences.insert(differences.end(), more_differences.begin(), more_differences.end());
    size_t shown = 1;
    for (; shown < differences.size() && shown <= kShownDifferences; ++shown) {
      const Comparison& next = differences[shown];
      if (next.step != first_difference->step || next.stage != first_difference->stage) break;
      absl::StrAppend(&text, "then ", Describe(next), ":\n  ", next.report, "\n");
    }
    absl::StrAppend(&text, OtherDifferences(differences, shown));
    absl::StrAppend(
        &text, "matched before: ",
        Count({matches.begin(), matches.begin() + static_cast<ptrdiff_t>(num_matches_before)}),
        "\n");
  }
  for (const std::string& note : notes) absl::StrAppend(&text, "note: ", note, "\n");
  return text;
}

std::string ReplayReport::LossTable() const {
  std::vector<std::vector<std::string>> rows = {
      {"step", "loss", "reference", "difference", "of tolerance"}};
  for (const LossOfStep& loss : losses) {
    rows.push_back({absl::StrCat(rows.size()), absl::StrFormat("%.9g", loss.actual),
                    absl::StrFormat("%.9g", loss.expected),
                    absl::StrFormat("%.2g", std::abs(loss.actual - loss.expected)),
                    absl::StrFormat("%.3g", loss.of_tolerance)});
  }
  return losses.empty() ? absl::StrCat(reference, " has no losses\n") : FormatTable(rows);
}

}  // namespace estimator::replay
