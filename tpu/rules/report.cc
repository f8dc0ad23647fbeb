#include "tpu/rules/report.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace estimator::tpu {
namespace {

std::string Count(int count, absl::string_view what) {
  return absl::StrCat(count, " ", what, count == 1 ? "" : "s");
}

}  // namespace

void Report::Add(absl::string_view rule, std::string where, std::string what, std::string cure) {
  Finding finding = {.rule = &FindRule(rule),
                     .where = std::move(where),
                     .what = std::move(what),
                     .cure = std::move(cure)};
  for (const Finding& known : findings_) {
    if (known.rule == finding.rule && known.where == finding.where && known.what == finding.what)
      return;
  }
  findings_.push_back(std::move(finding));
}

void Report::AddSection(std::string text, bool passed) {
  // ToString adds the line break after each section.
  absl::StripTrailingAsciiWhitespace(&text);
  sections_.push_back(std::move(text));
  sections_passed_ = sections_passed_ && passed;
}

int Report::num_violations() const {
  return static_cast<int>(std::count_if(
      findings_.begin(), findings_.end(),
      [](const Finding& finding) { return finding.rule->severity == Severity::kViolation; }));
}

int Report::num_notes() const { return static_cast<int>(findings_.size()) - num_violations(); }

std::vector<std::string> Report::RuleIds() const {
  std::vector<std::string> ids;
  for (const Rule& rule : Rules()) {
    const bool found = std::any_of(findings_.begin(), findings_.end(),
                                   [&](const Finding& finding) { return finding.rule == &rule; });
    if (found) ids.emplace_back(rule.id);
  }
  return ids;
}

std::string Report::ToString() const {
  std::string text;
  for (const Rule& rule : Rules()) {
    // Findings are grouped by rule, so that its reason is printed once.
    bool first = true;
    for (const Finding& finding : findings_) {
      if (finding.rule != &rule) continue;
      if (first) {
        absl::StrAppend(&text, rule.severity == Severity::kViolation ? "violation" : "note", " [",
                        rule.id, "] ", rule.name, ".\n  Why: ", rule.why, ".\n");
        first = false;
      }
      absl::StrAppend(&text, "  ", finding.where, ": ", finding.what, ".\n    Cure: ", finding.cure,
                      ".\n");
    }
  }
  for (const std::string& section : sections_) absl::StrAppend(&text, section, "\n");
  for (const std::string& line : checked_) absl::StrAppend(&text, line, "\n");
  absl::StrAppend(&text, "TPU check: ", Count(num_violations(), "violation"), ", ",
                  Count(num_notes(), "note"),
                  passed() ? "" : "; the program is not ready for a TPU", "\n");
  return text;
}

std::string Report::Refusals() const {
  std::vector<std::string> lines;
  for (const Finding& finding : findings_) {
    if (!finding.rule->refuses_run) continue;
    lines.push_back(absl::StrCat("[", finding.rule->id, "] ", finding.where, ": ", finding.what,
                                 "; ", finding.cure));
  }
  return absl::StrJoin(lines, "\n");
}

std::string NameOf(const Node& node) {
  std::string name = absl::StrCat(node.name(), " (", node.op(), ")");
  if (node.num_outputs() > 0) absl::StrAppend(&name, " ", node.outputs()[0].ToString());
  return name;
}

}  // namespace estimator::tpu
