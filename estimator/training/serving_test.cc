// How Estimator serves: predictors, frozen graphs, and which batches an export takes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <set>

#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/export/saved_model/saved_model_show.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/reduction.h"
#include "estimator/training/estimator.h"
#include "estimator/training/testing/tiny_model.h"

namespace estimator {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class ServingTest : public ::testing::Test {
 protected:
  Estimator<TinyParams> Trained() {
    Estimator<TinyParams> estimator(TinyOptions(dir_.File("model")));
    const absl::Status trained =
        estimator.Train([](const TinyParams&) { return TinyDataset(5).Repeat(); }, MaxSteps(10));
    EST_EXPECT_OK(trained);
    return estimator;
  }

  TempDir dir_;
  const ServingInputReceiverFn raw_ =
      BuildRawServingInputReceiverFn({{"x", {DType::kFloat32, {-1, 2}}}});
  const ServingInputReceiverFn supervised_ = BuildRawSupervisedInputReceiverFn(
      {{"x", {DType::kFloat32, {-1, 2}}}}, {{"", {DType::kFloat32, {-1, 1}}}});
};

TEST_F(ServingTest, APredictorGivesWhatPredictGives) {
  auto estimator = Trained();
  const auto predictor = estimator.MakePredictor(raw_);
  EST_ASSERT_OK(predictor);
  const auto rows = estimator.Predict([](const TinyParams&) { return TinyDataset(20); }).All();
  EST_ASSERT_OK(rows);
  const auto outputs = (*predictor)->Predict(TinyExamples(20).features);
  EST_ASSERT_OK(outputs);
  for (int64_t i = 0; i < 20; ++i) {
    EXPECT_EQ(outputs->at("y").Row(i).AsDouble(),
              (*rows)[static_cast<size_t>(i)].at("y").AsDouble());
  }
}

TEST_F(ServingTest, APredictorOutlivesItsEstimator) {
  std::unique_ptr<Predictor> predictor;
  {
    auto estimator = Trained();
    auto made = estimator.MakePredictor(raw_);
    EST_ASSERT_OK(made);
    predictor = *std::move(made);
  }
  EST_EXPECT_OK(predictor->Predict(TinyExamples(7).features));
}

TEST_F(ServingTest, AFrozenGraphIsOneFile) {
  auto estimator = Trained();
  const auto frozen = estimator.WriteFrozenGraph(dir_.File("frozen.pb"), raw_);
  EST_ASSERT_OK(frozen);
  EXPECT_EQ(*ReadFile(dir_.File("frozen.pb")), frozen->graph_def);
  EXPECT_EQ(frozen->inputs.at("x"), "x");
  EXPECT_EQ(frozen->outputs.at("y"), "dense_1/BiasAdd");
}

TEST_F(ServingTest, TheSameModelIsTheSameBytes) {
  auto estimator = Trained();
  std::set<std::string> frozen, models, texts, variables;
  for (int i = 0; i < 5; ++i) {
    const auto graph = estimator.WriteFrozenGraph(dir_.File("frozen.pb"), raw_);
    EST_ASSERT_OK(graph);
    frozen.insert(graph->graph_def);
    for (const bool as_text : {false, true}) {
      const auto dir = estimator.ExperimentalExportAllSavedModels(
          dir_.File(absl::StrCat("export", i, as_text)),
          {{Mode::kTrain, supervised_}, {Mode::kEval, supervised_}, {Mode::kPredict, raw_}},
          {.as_text = as_text});
      EST_ASSERT_OK(dir);
      (as_text ? texts : models)
          .insert(*ReadFile(JoinPath(*dir, as_text ? "saved_model.pbtxt" : "saved_model.pb")));
      variables.insert(*ReadFile(JoinPath(*dir, "variables/variables.index")));
    }
  }
  EXPECT_EQ(frozen.size(), 1u);
  EXPECT_EQ(models.size(), 1u);
  EXPECT_EQ(texts.size(), 1u);
  EXPECT_EQ(variables.size(), 1u);
}

TEST_F(ServingTest, RequestsCallNoModelFnAndReadNoFile) {
  Trained();
  auto options = TinyOptions(dir_.File("model"));
  const auto calls = std::make_shared<int>(0);
  options.model_fn = [calls](const Features& features, const Labels& labels, Mode mode,
                             const TinyParams& params) {
    ++*calls;
    return TinyModel(features, labels, mode, params);
  };
  Estimator<TinyParams> estimator(std::move(options));
  const auto predictor = estimator.MakePredictor(raw_);
  EST_ASSERT_OK(predictor);
  const int before = *calls;
  EST_ASSERT_OK(RemoveDirectoryRecursively(dir_.File("model")));
  for (const int64_t rows : {1, 2, 33, 500})
    EST_ASSERT_OK((*predictor)->Predict(TinyExamples(rows).features));
  EXPECT_EQ(*calls, before);
}

// Zeros of a large batch are more nodes than those of a small one, and random initial values after
// them are the same nevertheless.
TEST_F(ServingTest, ARandomInitializerAfterZerosTiesNoModelToItsBatch) {
  Trained();
  auto options = TinyOptions(dir_.File("model"));
  options.config.tf_random_seed = std::nullopt;
  options.model_fn = [](const Features& features, const Labels& labels, Mode mode,
                        const TinyParams& params) {
    const Tensor& x = features["x"];
    const Tensor more = x + ReduceSum(Zeros({x.dim(0), 2, 30}), {2});
    return TinyModel(Features(x.graph(), "features", {{"x", more}}), labels, mode, params);
  };
  Estimator<TinyParams> estimator(std::move(options));
  const auto predictor = estimator.MakePredictor(raw_);
  EST_ASSERT_OK(predictor);
  EXPECT_EQ((*predictor)->inputs().at("x").ToString(), "f32 [?,2]");
}

TEST_F(ServingTest, AModelThatTakesMultiplesIsExportedOrTheCureIsNamed) {
  Trained();
  auto options = TinyOptions(dir_.File("model"));
  const auto modulus = std::make_shared<int64_t>(4);
  options.model_fn = [modulus](const Features& features, const Labels& labels, Mode mode,
                               const TinyParams& params) {
    const Tensor& x = features["x"];
    if (x.dim(0) % *modulus != 0)
      x.graph()->Fail(absl::InvalidArgumentError("groups of rows, please"));
    return TinyModel(features, labels, mode, params);
  };
  Estimator<TinyParams> estimator(std::move(options));
  const auto dir = estimator.ExportSavedModel(dir_.File("export"), raw_);
  EST_ASSERT_OK(dir);
  const auto show = SavedModelShow::Open(*dir);
  EXPECT_THAT(*show->InputsAndOutputs("serve", "serving_default"), HasSubstr("shape: (-1, 2)"));
  EST_EXPECT_OK((*estimator.MakePredictor(raw_))->Predict(TinyExamples(4).features));
  EST_EXPECT_OK(estimator.WriteFrozenGraph(dir_.File("frozen.pb"), raw_));
  *modulus = 77;
  EXPECT_THAT(estimator.ExportSavedModel(dir_.File("export"), raw_),
              ErrorIs(AllOf(HasSubstr("groups of rows, please"), HasSubstr("default_batch_size"))));
  const auto fixed = estimator.ExportSavedModel(
      dir_.File("export"), BuildRawServingInputReceiverFn({{"x", {DType::kFloat32, {-1, 2}}}}, 77));
  EST_EXPECT_OK(fixed);
}

}  // namespace
}  // namespace estimator
