#include "tpu/rules/report.h"

#include "estimator/graph/graph.h"
#include "estimator/ops/activations.h"
#include "estimator/ops/constant.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator::tpu {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ReportTest, ListsViolationsBeforeNotesWithTheReasonOnce) {
  Report report;
  report.Add("few-rows", "train: batch", "a core has 2 rows", "use 64");
  report.Add("float64", "train: a", "one op", "use float32");
  report.Add("float64", "eval: a", "one op", "use float32");
  report.Add("float64", "eval: a", "one op", "use float32");
  report.AddChecked("train: checked");
  EXPECT_EQ(report.num_violations(), 2);
  EXPECT_EQ(report.num_notes(), 1);
  EXPECT_FALSE(report.passed());
  EXPECT_THAT(report.RuleIds(), ElementsAre("float64", "few-rows"));
  EXPECT_EQ(report.ToString(),
            "violation [float64] The model does not compute in float64.\n"
            "  Why: a TPU has no float64 units; XLA refuses such ops or emulates them many times "
            "slower.\n"
            "  train: a: one op.\n"
            "    Cure: use float32.\n"
            "  eval: a: one op.\n"
            "    Cure: use float32.\n"
            "note [few-rows] A core has at least 8 rows.\n"
            "  Why: a tile has 8 rows, and a smaller batch leaves most of each tile empty.\n"
            "  train: batch: a core has 2 rows.\n"
            "    Cure: use 64.\n"
            "train: checked\n"
            "TPU check: 2 violations, 1 note; the program is not ready for a TPU\n");
}

TEST(ReportTest, NotesAloneAndSectionsThatPassedArePassed) {
  Report report;
  report.Add("few-rows", "train: batch", "a core has 2 rows", "use 64");
  report.AddSection("train on v3-8: compiles\n\n", /*passed=*/true);
  EXPECT_TRUE(report.passed());
  EXPECT_THAT(report.ToString(), HasSubstr("train on v3-8: compiles\nTPU check: 0 violations"));
  report.AddSection("eval on v3-8: too large", /*passed=*/false);
  EXPECT_FALSE(report.passed());
}

TEST(ReportTest, OnlyRulesThatRefuseARunAreRefusals) {
  Report report;
  report.Add("float64", "train: a", "one op", "use float32");
  EXPECT_EQ(report.Refusals(), "");
  report.Add("predictions-too-large", "predict: p", "2 GiB", "use a smaller batch");
  EXPECT_EQ(report.Refusals(), "[predictions-too-large] predict: p: 2 GiB; use a smaller batch");
}

TEST(ReportTest, AnOpIsNamedWithItsScopeAndShape) {
  Graph graph;
  const GraphScope graph_scope(graph);
  const NameScope scope("tower");
  EXPECT_EQ(NameOf(*Relu(Zeros({2, 3})).node()), "tower/Relu (Relu) f32 [2,3]");
}

}  // namespace
}  // namespace estimator::tpu
