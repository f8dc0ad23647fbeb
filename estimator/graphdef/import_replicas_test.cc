// Imported training graphs on replicas: where gradients are averaged.
#include <string>

#include "estimator/base/status.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/graphdef/import_train_graph.h"
#include "estimator/graphdef/testing/import_train_fixture.h"
#include "estimator/graphdef/testing/small_training.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using ::estimator::testing::ImportTrainFixture;
using ::estimator::testing::SmallTraining;

const std::string kT = SmallTraining::TypeAttr("T");  // NOLINT: a string of a test

class ImportReplicasTest : public ImportTrainFixture {};

TEST_F(ImportReplicasTest, AveragesGradientsOverReplicasWhereTheyLeaveTheirScope) {
  SmallTraining training = SmallTraining::Small();
  training.Float("limit", 1);
  training.Node("clip", "Minimum", {"gradients/MatMul", "limit"}, kT);
  training.Rewire("apply", {"w", "rate", "clip"});
  const absl::StatusOr<ImportedTrainGraph> imported = Import(training, 2);
  ASSERT_TRUE(imported.ok()) << imported.status();
  const Node* const clip = graph_.FindNode("clip");
  ASSERT_NE(clip, nullptr);
  EXPECT_EQ(clip->input(0).node()->op(), "Mul");
  EXPECT_EQ(clip->input(0).node()->input(0).node()->op(), "CrossReplicaSum");
  EXPECT_EQ(clip->input(0).node()->input(0).node()->input(0).node()->name(), "gradients/MatMul");
}

TEST_F(ImportReplicasTest, RefusesReplicasIfThePlaceOfTheGradientsIsUnknown) {
  SmallTraining training = SmallTraining::Small();
  training.Node("own/MatMul", "MatMul", {"IteratorGetNext", "sub"},
                kT + " attr { key: 'transpose_a' value { b: true } }");
  training.Rewire("apply", {"w", "rate", "own/MatMul"});
  EST_EXPECT_OK(Import(training, 1));
  EXPECT_THAT(Import(training, 2), ErrorHas("train on one replica"));
}

TEST_F(ImportReplicasTest, ABranchReadsGradientsThatAreAveragedOutside) {
  SmallTraining training = SmallTraining::WithCondition();
  training.Node("switch", "Switch", {"gradients/MatMul", "pred"}, kT);
  training.Node("product", "MatMul", {"switch:1", "switch:1"}, kT);
  training.Node("merge", "Merge", {"switch", "product"}, kT);
  training.Rewire("apply", {"w", "rate", "merge"});
  const absl::StatusOr<ImportedTrainGraph> imported = Import(training, 2);
  ASSERT_TRUE(imported.ok()) << imported.status();
  const Node* const branch = ValueOf(*imported, "w")->input(2).node();
  ASSERT_EQ(branch->op(), "If");
  EXPECT_EQ(branch->inputs().back().node()->name(), "mean_over_shards");
}

// Both Merges are of one condition, and neither depends on the other.
TEST_F(ImportReplicasTest, AGradientThatAMergeChoosesIsAveragedOutsideOfTheBranch) {
  SmallTraining training = SmallTraining::WithCondition();
  training.Node("rates", "Switch", {"loss", "pred"}, kT);
  training.Node("squared", "Square", {"rates:1"}, kT);
  training.Node("cond/Merge", "Merge", {"rates", "squared"}, kT);
  training.Node("gradients/switch", "Switch", {"gradients/MatMul", "pred"}, kT);
  training.Node("gradients/product", "MatMul", {"gradients/switch:1", "gradients/switch:1"}, kT);
  training.Node("gradients/Merge", "Merge", {"gradients/switch", "gradients/product"}, kT);
  training.Rewire("apply", {"w", "cond/Merge", "gradients/Merge"});
  const absl::StatusOr<ImportedTrainGraph> imported = Import(training, 2);
  ASSERT_TRUE(imported.ok()) << imported.status();
  const Node* const mean = ValueOf(*imported, "w")->input(2).node();
  ASSERT_EQ(mean->name(), "mean_over_shards");
  EXPECT_EQ(mean->input(0).node()->input(0).node()->op(), "If");
}

// tf.gradients in a branch, and the gradient of what the branch computes of them. The mean over the
// replicas has to be that of the second gradient only.
TEST_F(ImportReplicasTest, RefusesTheGradientOfAGradientInABranch) {
  SmallTraining training = SmallTraining::WithCondition();
  training.Node("losses", "Switch", {"loss", "pred"}, kT);
  training.Node("squared", "Square", {"losses:1"}, kT);
  training.Node("scale", "Merge", {"losses", "squared"}, kT);
  training.Node("cond/gradients/mul", "Mul", {"losses:1", "w/read"}, kT);
  training.Node("cond/norm", "MatMul", {"cond/gradients/mul", "cond/gradients/mul"}, kT);
  training.Node("cond/tanh", "Tanh", {"cond/norm"}, kT);
  training.Node("cond/none", "Mul", {"losses", "w/read"}, kT);
  training.Node("cond/merge", "Merge", {"cond/none", "cond/tanh"}, kT);
  training.Variable("penalty", {1, 1}, 0, false);
  training.Node("keep", "Assign", {"penalty", "cond/merge"}, kT);
  training.Node("gradients_1/switch", "Switch", {"scale", "pred"}, kT);
  training.Node("gradients_1/mul", "Mul", {"cond/norm", "gradients_1/switch:1"}, kT);
  training.Node("gradients_1/product", "MatMul", {"gradients_1/mul", "gradients_1/mul"}, kT);
  training.Node("gradients_1/none", "Mul", {"gradients_1/switch", "w/read"}, kT);
  training.Node("gradients_1/merge", "Merge", {"gradients_1/none", "gradients_1/product"}, kT);
  training.Rewire("apply", {"w", "rate", "gradients_1/merge"});
  training.Rewire("train", {"^step", "^keep"});
  EST_EXPECT_OK(Import(training, 1));
  EXPECT_THAT(Import(training, 2),
              ErrorHas("'gradients_1/mul' (Mul) is a gradient of a gradient: with 2 replicas"));
}

}  // namespace
}  // namespace estimator
