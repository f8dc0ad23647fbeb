#include "tpu/rules/rule.h"

#include <set>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator::tpu {
namespace {

using ::testing::ElementsAreArray;

// "| `id` | violation | name | why |"
std::string RowOf(const Rule& rule) {
  return absl::StrCat("| `", rule.id, "` | ",
                      rule.severity == Severity::kViolation ? "violation" : "note", " | ",
                      rule.name, " | ", rule.why, " |");
}

TEST(RuleTest, IdsAreUniqueAndViolationsComeFirst) {
  std::set<std::string> ids;
  bool notes = false;
  for (const Rule& rule : Rules()) {
    EXPECT_TRUE(ids.insert(rule.id).second) << rule.id;
    EXPECT_FALSE(absl::EndsWith(rule.why, ".")) << rule.id;
    notes = notes || rule.severity == Severity::kNote;
    EXPECT_EQ(notes, rule.severity == Severity::kNote) << rule.id;
    EXPECT_TRUE(!rule.refuses_run || rule.severity == Severity::kViolation) << rule.id;
    EXPECT_EQ(&FindRule(rule.id), &rule);
  }
}

TEST(RuleTest, ThePageHasTheTableOfTheCode) {
  const absl::StatusOr<std::string> page = ReadFile("docs/tpu.md");
  EST_ASSERT_OK(page);
  std::vector<std::string> rows, expected;
  for (const absl::string_view line : absl::StrSplit(*page, '\n')) {
    if (absl::StartsWith(line, "| `") &&
        (absl::StrContains(line, "` | violation |") || absl::StrContains(line, "` | note |")))
      rows.emplace_back(line);
  }
  for (const Rule& rule : Rules()) expected.push_back(RowOf(rule));
  EXPECT_THAT(rows, ElementsAreArray(expected));
}

}  // namespace
}  // namespace estimator::tpu
