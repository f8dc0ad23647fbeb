#include "estimator/graphdef/import/add_summaries.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/graphdef/import_train_graph.h"
#include "estimator/graphdef/testing/small_training.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using ::estimator::testing::SmallTraining;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const std::string kT = SmallTraining::TypeAttr("T");      // NOLINT: a string of a test
const TensorSpec kRows = {DType::kFloat32, Shape{4, 1}};  // NOLINT: a value of a test

// A node of `op`, such as ScalarSummary, in the collection of summaries.
void AddSummary(const std::string& op, const std::string& tag, const std::string& value,
                SmallTraining& training) {
  training.Node(tag + "/tag", "Const", {},
                absl::StrCat(SmallTraining::TypeAttr("dtype", "DT_STRING"),
                             " attr { key: 'value' value { tensor { dtype: DT_STRING tensor_shape "
                             "{ } string_val: '",
                             tag, "' } } }"));
  training.Node(tag, op, {tag + "/tag", value}, kT).AddTo("summaries", tag + ":0");
}

class AddSummariesTest : public ::testing::Test {
 protected:
  absl::StatusOr<ImportedTrainGraph> Import(const SmallTraining& training) {
    EST_ASSIGN_OR_RETURN(const TrainGraph source, TrainGraph::Parse(training.Bytes(), "test"));
    EST_ASSIGN_OR_RETURN(obstacles_, source.TryImport({}, {kRows, kRows}));
    const GraphScope scope(graph_);
    std::vector<Tensor> inputs;
    for (int i = 0; i < 2; ++i) {
      inputs.push_back(graph_.AddOp("Placeholder", {},
                                    {{"dtype", kRows.dtype}, {"shape", kRows.shape}}, "input"));
    }
    return source.Import({.inputs = inputs, .fetches = {}}, graph_);
  }

  Graph graph_;
  std::vector<TrainGraphObstacle> obstacles_;
};

TEST_F(AddSummariesTest, AddsTheKindsThatTensorFlowHas) {
  SmallTraining training = SmallTraining::Small();
  training.Node(
      "pixels", "Const", {},
      SmallTraining::TypeAttr("dtype") +
          " attr { key: 'value' value { tensor { dtype: DT_FLOAT tensor_shape { dim { "
          "size: 1 } dim { size: 2 } dim { size: 2 } dim { size: 1 } } float_val: 1 } } }");
  AddSummary("ScalarSummary", "scalar", "loss", training);
  AddSummary("HistogramSummary", "histogram", "sub", training);
  AddSummary("ImageSummary", "image", "pixels", training);
  const absl::StatusOr<ImportedTrainGraph> imported = Import(training);
  ASSERT_TRUE(imported.ok()) << imported.status();
  EXPECT_THAT(imported->warnings, IsEmpty());
  ASSERT_THAT(graph_.summaries(), SizeIs(3));
  EXPECT_EQ(graph_.summaries()[0].tag, "scalar");
  EXPECT_EQ(graph_.summaries()[0].kind, SummaryRequest::Kind::kScalar);
  EXPECT_TRUE(graph_.summaries()[0].value == imported->loss);
  EXPECT_EQ(graph_.summaries()[1].kind, SummaryRequest::Kind::kHistogram);
  EXPECT_EQ(graph_.summaries()[1].value.shape(), (Shape{4, 1}));
  EXPECT_EQ(graph_.summaries()[2].kind, SummaryRequest::Kind::kImage);
}

TEST_F(AddSummariesTest, LeavesOutWhatAKindCannotShow) {
  SmallTraining training = SmallTraining::Small();
  AddSummary("ScalarSummary", "rows", "sub", training);
  AddSummary("ImageSummary", "flat", "sub", training);
  const absl::StatusOr<ImportedTrainGraph> imported = Import(training);
  ASSERT_TRUE(imported.ok()) << imported.status();
  EXPECT_THAT(graph_.summaries(), IsEmpty());
  EXPECT_THAT(imported->warnings,
              ElementsAre("The summary 'rows' is left out: it cannot show f32 [4,1]",
                          "The summary 'flat' is left out: it cannot show f32 [4,1]"));
}

// Fixed bug: a summary whose ops do not fit the sizes of the batch prevented the training.
TEST_F(AddSummariesTest, LeavesOutWhatSizesPrevent) {
  SmallTraining training = SmallTraining::Small();
  training.Node("product", "MatMul", {"sub", "sub"}, kT);
  training.Node("mean", "Mean", {"product", "axes"},
                kT + SmallTraining::TypeAttr("Tidx", "DT_INT32"));
  training.Node("other", "MatMul", {"square", "square"}, kT);
  AddSummary("ScalarSummary", "mean_product", "mean", training);
  AddSummary("HistogramSummary", "products", "other", training);
  AddSummary("ScalarSummary", "the_loss", "loss", training);
  const absl::StatusOr<ImportedTrainGraph> imported = Import(training);
  ASSERT_TRUE(imported.ok()) << imported.status();
  EXPECT_THAT(obstacles_, IsEmpty());
  ASSERT_THAT(graph_.summaries(), SizeIs(1));
  EXPECT_EQ(graph_.summaries()[0].tag, "the_loss");
  EXPECT_THAT(
      imported->warnings,
      ElementsAre(
          AllOf(HasSubstr("The summary 'mean_product' is left out: it needs 'product' (MatMul), "),
                HasSubstr("[4,1]")),
          HasSubstr("The summary 'products' is left out: it needs 'other' (MatMul)")));
  EXPECT_EQ(graph_.FindNode("product"), nullptr);
}

TEST_F(AddSummariesTest, WhatTrainingNeedsToIsStillAnObstacle) {
  SmallTraining training = SmallTraining::Small();
  training.Variable("kept", {4, 4}, 0, false);
  training.Node("product", "MatMul", {"sub", "sub"}, kT);
  training.Node("keep", "Assign", {"kept", "product"}, kT);
  training.Node("only_shown", "MatMul", {"square", "square"}, kT);
  training.Rewire("train", {"^step", "^keep"});
  AddSummary("HistogramSummary", "products", "product", training);
  AddSummary("HistogramSummary", "shown", "only_shown", training);
  const absl::Status status = Import(training).status();
  EXPECT_THAT(status.ToString(), HasSubstr("product: inner sizes differ"));
  ASSERT_THAT(obstacles_, SizeIs(1));
  EXPECT_EQ(obstacles_[0].name, "product");
}

// Fixed bug: what only a summary reads was an obstacle to training.
TEST_F(AddSummariesTest, LeavesOutAMergeOfNoCond) {
  SmallTraining training = SmallTraining::Small();
  training.Node("merge", "Merge", {"loss", "sub"}, kT);
  AddSummary("ScalarSummary", "merged", "merge", training);
  const absl::StatusOr<ImportedTrainGraph> imported = Import(training);
  ASSERT_TRUE(imported.ok()) << imported.status();
  EXPECT_THAT(imported->warnings, ElementsAre(AllOf(HasSubstr("The summary 'merged' is left out"),
                                                    HasSubstr("not of one tf.cond"))));
}

TEST_F(AddSummariesTest, KeepsRandomNumbersInACond) {
  SmallTraining training = SmallTraining::Small();
  training.Float("limit", 1);
  training.Node("pred", "Less", {"loss", "limit"}, kT);
  training.Node("switch", "Switch", {"loss", "pred"}, kT);
  training.Node("shape", "Shape", {"switch:1"},
                kT + SmallTraining::TypeAttr("out_type", "DT_INT32"));
  training.Node("random", "RandomUniform", {"shape"},
                SmallTraining::TypeAttr("T", "DT_INT32") + SmallTraining::TypeAttr("dtype"));
  training.Node("merge", "Merge", {"switch", "random"}, kT);
  AddSummary("ScalarSummary", "noise", "merge", training);
  const absl::StatusOr<ImportedTrainGraph> imported = Import(training);
  ASSERT_TRUE(imported.ok()) << imported.status();
  ASSERT_THAT(graph_.summaries(), SizeIs(1));
  EXPECT_EQ(graph_.summaries()[0].tag, "noise");
  EXPECT_THAT(imported->warnings,
              ElementsAre(HasSubstr("'random' (RandomUniform) draws random numbers inside")));
}

}  // namespace
}  // namespace estimator
