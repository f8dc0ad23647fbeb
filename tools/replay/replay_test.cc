#include "tools/replay/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "absl/strings/str_cat.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/estimator.h"
#include "tools/replay/testing/tiny_reference.h"

namespace estimator::replay {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using testing::TinyReference;

// The model of TinyReference, with what a test puts in its place.
struct TinyModel {
  std::function<Tensor(const Tensor&)> prediction = [](const Tensor& y) { return y; };
  std::function<Tensor(const Tensor&)> loss = [](const Tensor& mean_square) { return mean_square; };
  Schedule rate = 0.1;
  std::string weight = "w";
  Shape weight_shape = {};
  std::string prediction_name = "prediction";
  std::string error_name = "error";
  bool has_frozen_shift = false;  // a variable that is not trainable

  operator Model() const {  // NOLINT
    return Model::Of<EstimatorParams>([self = *this](const Features& features, const Tensor& labels,
                                                     Mode mode, const EstimatorParams&) {
      const Variable w = GetVariable(self.weight, self.weight_shape);
      Tensor y = w * features["x"];
      if (self.has_frozen_shift) y = y + GetVariable("shift", {}, {.trainable = false});
      const Tensor prediction = Identity(self.prediction(y), self.prediction_name);
      if (mode == Mode::kPredict) return EstimatorSpec::Predict({{"y", prediction}});
      const Tensor error = Subtract(prediction, labels, self.error_name);
      const Tensor loss = self.loss(ReduceMean(Square(error)));
      if (mode == Mode::kEval) return EstimatorSpec::Eval(loss);
      return EstimatorSpec::Train(loss, train::GradientDescent(self.rate).Minimize(loss));
    });
  }
};

class ReplayTest : public ::testing::Test {
 protected:
  absl::StatusOr<ReplayReport> RunReplay(const Model& model, const ReplayOptions& options = {}) {
    reference_.Write(directory_.path());
    return Replay(model, directory_.path(), options);
  }
  // Of a replay that runs and finds a difference.
  Comparison FirstDifference(const Model& model) {
    const absl::StatusOr<ReplayReport> report = RunReplay(model);
    EST_EXPECT_OK(report);
    if (!report.ok()) return {};
    text_ = report->ToString();
    EXPECT_FALSE(report->ok()) << text_;
    return report->first_difference.value_or(Comparison());
  }
  std::string Error(const Model& model, const ReplayOptions& options = {}) {
    const absl::StatusOr<ReplayReport> report = RunReplay(model, options);
    return report.ok() ? report->ToString() : report.status().ToString();
  }

  const TempDir directory_;
  TinyReference reference_;
  std::string text_;
};

TEST_F(ReplayTest, AModelThatComputesTheSameMatches) {
  const auto report = RunReplay(TinyModel());
  EST_ASSERT_OK(report);
  EXPECT_TRUE(report->ok());
  EXPECT_EQ(report->num_steps, 3);
  EXPECT_THAT(report->ToString(),
              HasSubstr("matches Paper 1.0 over 3 steps on CPU: 2 forward tensors, 3 losses, "
                        "1 gradient, 3 variables, 3 norms of variables"));
}

TEST_F(ReplayTest, AWrongLayerIsTheFirstForwardTensorThatDiffers) {
  const Comparison first =
      FirstDifference(TinyModel{.prediction = [](const Tensor& y) { return y + 0.25f; }});
  EXPECT_EQ(first.step, 1);
  EXPECT_EQ(first.stage, Stage::kForward);
  EXPECT_EQ(first.name, "prediction:0");
  EXPECT_THAT(first.report, HasSubstr("worst at [0]: 1.25 is not 1 "));
  // What follows from it comes after it.
  EXPECT_THAT(text_, HasSubstr("then forward tensor error:0"));
}

TEST_F(ReplayTest, AWrongLossIsFoundAfterTheForwardTensors) {
  const Comparison first =
      FirstDifference(TinyModel{.loss = [](const Tensor& loss) { return loss * 2.0f; }});
  EXPECT_EQ(first.step, 1);
  EXPECT_EQ(first.stage, Stage::kLoss);
  EXPECT_THAT(first.report, HasSubstr("5 is not 2.5"));
  EXPECT_THAT(text_, HasSubstr("matched before: 2 forward tensors"));
}

TEST_F(ReplayTest, AWrongGradientIsFoundAfterTheLoss) {
  const Comparison first = FirstDifference(TinyModel{
      .loss = [](const Tensor& loss) { return loss * 0.5f + StopGradient(loss) * 0.5f; }});
  EXPECT_EQ(first.step, 1);
  EXPECT_EQ(first.stage, Stage::kGradient);
  EXPECT_EQ(first.name, "w");
  EXPECT_THAT(first.report, HasSubstr("-2.5 is not -5"));
}

TEST_F(ReplayTest, AWrongRateIsAVariableAfterTheFirstStep) {
  const Comparison first = FirstDifference(TinyModel{.rate = 0.2});
  EXPECT_EQ(first.step, 1);
  EXPECT_EQ(first.stage, Stage::kVariable);
  EXPECT_EQ(first.name, "w");
  EXPECT_THAT(first.report, HasSubstr("2 is not 1.5"));
}

TEST_F(ReplayTest, ARateThatGoesWrongLaterIsFoundInItsStep) {
  const Comparison first = FirstDifference(
      TinyModel{.rate = train::PiecewiseConstant({.boundaries = {0}, .values = {0.1, 0.05}})});
  EXPECT_EQ(first.step, 2);
  EXPECT_EQ(first.stage, Stage::kNorm);
  EXPECT_EQ(first.name, "w");
}

TEST_F(ReplayTest, WithoutNormsALaterDifferenceShowsInTheNextLoss) {
  reference_.expected.erase("norm/w");
  const Comparison first = FirstDifference(
      TinyModel{.rate = train::PiecewiseConstant({.boundaries = {0}, .values = {0.1, 0.05}})});
  EXPECT_EQ(first.step, 3);
  EXPECT_EQ(first.stage, Stage::kLoss);
}

TEST_F(ReplayTest, ANaNIsADifferenceThatNamesWhereItComesFrom) {
  // w is 1, 1.5, 1.75: the logarithm of 1.6 - w fails in step 3.
  const Comparison first = FirstDifference(TinyModel{.loss = [](const Tensor& loss) {
    return loss + Log(1.6f - Graph::Current().FindVariable("w")->read(), "poison") * 0.0f;
  }});
  EXPECT_EQ(first.step, 3);
  EXPECT_EQ(first.stage, Stage::kLoss);
  EXPECT_THAT(first.report, HasSubstr("nan is not 0.15625"));
  EXPECT_THAT(first.report, HasSubstr("first tensor that is not finite: poison:0 (f32 []) is NaN"));
}

TEST_F(ReplayTest, ANaNInAForwardTensorIsADifference) {
  const Comparison first = FirstDifference(
      TinyModel{.prediction = [](const Tensor& y) { return Sqrt(y - 1.5f) * 0.0f + y; }});
  EXPECT_EQ(first.name, "prediction:0");
  EXPECT_THAT(first.report, HasSubstr("worst at [0]: -nan is not 1"));
}

TEST_F(ReplayTest, AMissingVariableIsAnErrorWithTheNearestName) {
  const std::string error = Error(TinyModel{.weight = "weight"});
  EXPECT_THAT(error, HasSubstr("NOT_FOUND: the model's variables are not those of"));
  EXPECT_THAT(error, HasSubstr("weight    f32 []  -"));
  EXPECT_THAT(error, HasSubstr("w         -       f32 []"));
}

TEST_F(ReplayTest, AVariableOfAnotherShapeIsAnErrorWithBothTypes) {
  const std::string error = Error(TinyModel{.weight_shape = {2}});
  EXPECT_THAT(error, HasSubstr("f32 [2]"));
  EXPECT_THAT(error, HasSubstr("INVALID_ARGUMENT: checkpoint "));
}

TEST_F(ReplayTest, ASlotThatOnlyTheReferenceHasIsAnError) {
  reference_.expected["final/w/Momentum"] = Array::Scalar(0.0f);
  EXPECT_THAT(Error(TinyModel()), HasSubstr("w/Momentum  -     after the steps"));
}

TEST_F(ReplayTest, ATrainableVariableNeedsAFirstValue) {
  reference_.initial.erase("w");
  EXPECT_THAT(Error(TinyModel()), HasSubstr("NOT_FOUND: the model's variables are not those of"));
}

TEST_F(ReplayTest, AForwardTensorThatTheModelDoesNotHaveIsANote) {
  const auto report = RunReplay(TinyModel{.prediction_name = "y"});
  EST_ASSERT_OK(report);
  EXPECT_TRUE(report->ok());
  EXPECT_THAT(report->notes, ::testing::ElementsAre(HasSubstr("does not have: prediction:0")));
}

// Fixed bug: it ended the comparison.
TEST_F(ReplayTest, AForwardTensorOfAnotherShapeIsComparedInOrderOrANote) {
  reference_.expected["forward/prediction/0"] = Array::Of<float>({2, 1}, {1, 2});
  auto report = RunReplay(TinyModel());
  EST_ASSERT_OK(report);
  EXPECT_THAT(report->ToString(), HasSubstr("2 forward tensors, 3 losses"));
  EXPECT_THAT(report->notes, ::testing::IsEmpty());

  reference_.expected["forward/prediction/0"] = Array::Of<float>({2, 1}, {2, 1});
  reference_.expected["forward/error/0"] = Array::Of<float>({3}, {-1, -2, -3});
  reference_.expected["loss"] = Array::Of<float>({3}, {2.5, 0.625, 0.25});
  report = RunReplay(TinyModel());
  EST_ASSERT_OK(report);
  EXPECT_THAT(report->notes,
              ::testing::ElementsAre("forward tensors of another shape, which are not compared: "
                                     "prediction:0 (f32 [2] here, f32 [2,1] in the reference), "
                                     "error:0 (f32 [2] here, f32 [3] in the reference)"));
  ASSERT_FALSE(report->ok());
  EXPECT_EQ(report->first_difference->step, 3);
  EXPECT_EQ(report->first_difference->stage, Stage::kLoss);
}

// Fixed bug: the replay ended at the first difference, and hid the others.
TEST_F(ReplayTest, AReportNamesAllThatDiffers) {
  reference_.expected["forward/error/0"] = Array::Of<float>({2}, {-1, -1.5});
  const Comparison first = FirstDifference(
      TinyModel{.rate = train::PiecewiseConstant({.boundaries = {0}, .values = {0.1, 0.05}})});
  EXPECT_EQ(first.stage, Stage::kForward);
  EXPECT_THAT(text_, HasSubstr("other differences   first in step  difference  of tolerance\n"));
  EXPECT_THAT(text_, ContainsRegex("\nnorm of variable w +2 +0.12 "));
  EXPECT_THAT(text_, ContainsRegex("\nloss +3 "));
  EXPECT_THAT(text_, ContainsRegex("\nvariable w +3 "));
  EXPECT_THAT(text_, HasSubstr("matched before: 1 forward tensor\n"));
  // Each name is listed once, in its first step.
  EXPECT_EQ(text_.find("norm of variable w"), text_.rfind("norm of variable w"));
}

TEST_F(ReplayTest, TheLossesOfAllStepsAreATable) {
  reference_.expected["loss"] = Array::Of<float>({3}, {2.5, 0.5, 0.15625});
  auto report = RunReplay(TinyModel());
  EST_ASSERT_OK(report);
  const std::string table = report->LossTable();
  EXPECT_THAT(table, HasSubstr("step     loss  reference  difference  of tolerance\n"));
  EXPECT_THAT(table, HasSubstr("   1      2.5        2.5           0             0\n"));
  EXPECT_THAT(table, HasSubstr("   2    0.625        0.5        0.12       2.5e+04\n"));
  EXPECT_THAT(table, HasSubstr("   3  0.15625    0.15625"));
  reference_.expected.erase("loss");
  report = RunReplay(TinyModel());
  EST_ASSERT_OK(report);
  EXPECT_THAT(report->LossTable(), HasSubstr(" has no losses"));
}

// Fixed bug: notes had thousands of characters.
TEST_F(ReplayTest, NotesListAFewNames) {
  for (int i = 10; i < 60; ++i)
    reference_.expected[absl::StrCat("forward/other", i, "/0")] = Array::Scalar(0.0f);
  const auto report = RunReplay(TinyModel());
  EST_ASSERT_OK(report);
  EXPECT_THAT(report->notes, ::testing::ElementsAre(HasSubstr(", other17:0 and 42 more")));
}

TEST_F(ReplayTest, AModelWithNoneOfTheForwardTensorsIsAnError) {
  const std::string error = Error(TinyModel{.prediction_name = "y", .error_name = "e"});
  EXPECT_THAT(error, HasSubstr("INVALID_ARGUMENT: this model's graph has none of the forward "));
  EXPECT_THAT(error, HasSubstr(": error:0, prediction:0; use the names of layers"));
}

TEST_F(ReplayTest, AGradientOfAVariableThatIsNotTrainableHereIsAnError) {
  reference_.initial["shift"] = Array::Scalar(0.0f);
  reference_.expected["final/shift"] = Array::Scalar(0.0f);
  reference_.expected["gradient/shift"] = Array::Scalar(-3.0f);
  const std::string error = Error(TinyModel{.has_frozen_shift = true});
  EXPECT_THAT(error, HasSubstr("INVALID_ARGUMENT: "));
  EXPECT_THAT(
      error,
      HasSubstr("has gradients of 'shift', which are not trainable variables of this model"));
  reference_.expected.erase("gradient/shift");
  EXPECT_THAT(Error(TinyModel{.has_frozen_shift = true}), HasSubstr("matches Paper 1.0"));
}

TEST_F(ReplayTest, ALossIsOptionalWhereSomethingElseIsCompared) {
  reference_.expected.erase("loss");
  EXPECT_THAT(Error(TinyModel()), HasSubstr("matches Paper 1.0 over 3 steps on CPU: 2 forward"));
}

TEST_F(ReplayTest, AReplayThatComparedNothingIsAnErrorAndNoMatch) {
  reference_.expected = {{"final/w", Array::Scalar(1.875f)},
                         {"final/global_step", Array::Scalar<int64_t>(3)}};
  const std::string error = Error(TinyModel(), {.num_steps = 2});
  EXPECT_THAT(error, HasSubstr("INVALID_ARGUMENT: nothing was compared in 2 of 3 steps of"));
  EXPECT_THAT(
      error,
      HasSubstr("which expects final/global_step, final/w; if it has only final/, run all steps"));
  EXPECT_THAT(Error(TinyModel()), HasSubstr("matches Paper 1.0 over 3 steps on CPU: 2 variables"));
  reference_.expected = {{"losses", Array::Of<float>({3}, {2.5, 0.625, 0.15625})}};
  EXPECT_THAT(Error(TinyModel()), HasSubstr("which expects losses; "));
}

TEST_F(ReplayTest, OnReplicasTheBatchIsSplitAndTheNumbersAreThoseOfTheWhole) {
  const auto report = RunReplay(TinyModel(), {.num_shards = 2});
  EST_ASSERT_OK(report);
  EXPECT_TRUE(report->ok()) << report->ToString();
  EXPECT_THAT(report->ToString(),
              HasSubstr("2 in-process replicas: 2 forward tensors, 3 losses, 1"));
  EXPECT_THAT(Error(TinyModel(), {.num_shards = 3}), HasSubstr("cannot be split over 3 replicas"));
}

TEST_F(ReplayTest, FewerStepsLeaveTheLastVariablesOut) {
  reference_.expected["final/w"] = Array::Scalar(7.0f);
  const auto report = RunReplay(TinyModel(), {.num_steps = 2});
  EST_ASSERT_OK(report);
  EXPECT_TRUE(report->ok()) << report->ToString();
  EXPECT_EQ(FirstDifference(TinyModel()).step, 3);
  EXPECT_THAT(Error(TinyModel(), {.num_steps = 4}), HasSubstr("has 3 steps, but num_steps is 4"));
}

TEST_F(ReplayTest, TolerancesComeFromTheReferenceOrTheCaller) {
  reference_.expected["loss"] = Array::Of<float>({3}, {2.501f, 0.625f, 0.15625f});
  EXPECT_EQ(FirstDifference(TinyModel()).stage, Stage::kLoss);
  auto report = RunReplay(TinyModel(), {.rtol = 1e-3});
  EXPECT_TRUE(report.ok() && report->ok());
  reference_.manifest += "rtol: 1e-3\n";
  report = RunReplay(TinyModel());
  EXPECT_TRUE(report.ok() && report->ok());
  report = RunReplay(TinyModel(), {.rtol = 1e-4});
  EXPECT_TRUE(report.ok() && !report->ok());
  EXPECT_THAT(Error(TinyModel(), {.atol = -1}), HasSubstr("must be 0 or more, given -1"));
}

TEST_F(ReplayTest, EvaluationComparesLossesAndChangesNothing) {
  reference_.manifest += "mode: EVAL\n";
  reference_.manifest.erase(reference_.manifest.find("mode: TRAIN\n"), 12);
  reference_.expected = {{"loss", Array::Of<float>({3}, {2.5, 2.5, 2.5})}};
  const auto report = RunReplay(TinyModel());
  EST_ASSERT_OK(report);
  EXPECT_TRUE(report->ok()) << report->ToString();
  EXPECT_EQ(report->matches.size(), 3u);
}

TEST_F(ReplayTest, PredictionComparesEachStepsPredictions) {
  reference_.manifest += "mode: PREDICT\n";
  reference_.manifest.erase(reference_.manifest.find("mode: TRAIN\n"), 12);
  reference_.expected = {{"prediction/y", Array::Of<float>({3, 2}, {1, 2, 1, 2, 1, 3})}};
  const Comparison first = FirstDifference(TinyModel());
  EXPECT_EQ(first.step, 3);
  EXPECT_EQ(first.stage, Stage::kPrediction);
  EXPECT_THAT(first.report, HasSubstr("worst at [1]: 2 is not 3"));
  reference_.expected = {{"prediction/z", Array::Of<float>({3, 2}, {1, 2, 1, 2, 1, 2})}};
  EXPECT_THAT(Error(TinyModel()), HasSubstr("has predictions 'z', but this model does not"));
}

TEST_F(ReplayTest, ResultsOfAnotherNumberOfStepsAreAnError) {
  reference_.expected["loss"] = Array::Of<float>({2}, {2.5, 0.625});
  EXPECT_THAT(Error(TinyModel()), HasSubstr("'loss' is f32 [2], but there are 3 steps"));
}

}  // namespace
}  // namespace estimator::replay
