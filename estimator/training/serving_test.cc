// How Estimator serves: predictors, frozen graphs, and which batches an export takes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <set>

#include "estimator/base/file.h"
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
    EXPECT_TRUE(trained.ok()) << trained;
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
  ASSERT_TRUE(predictor.ok()) << predictor.status();
  const auto rows = estimator.Predict([](const TinyParams&) { return TinyDataset(20); }).All();
  ASSERT_TRUE(rows.ok()) << rows.status();
  const auto outputs = (*predictor)->Predict(TinyExamples(20).features);
  ASSERT_TRUE(outputs.ok()) << outputs.status();
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
    ASSERT_TRUE(made.ok()) << made.status();
    predictor = *std::move(made);
  }
  EXPECT_TRUE(predictor->Predict(TinyExamples(7).features).ok());
}

TEST_F(ServingTest, AFrozenGraphIsOneFile) {
  auto estimator = Trained();
  const auto frozen = estimator.WriteFrozenGraph(dir_.File("frozen.pb"), raw_);
  ASSERT_TRUE(frozen.ok()) << frozen.status();
  EXPECT_EQ(*ReadFile(dir_.File("frozen.pb")), frozen->graph_def);
  EXPECT_EQ(frozen->inputs.at("x"), "x");
  EXPECT_EQ(frozen->outputs.at("y"), "dense_1/BiasAdd");
}

TEST_F(ServingTest, TheSameModelIsTheSameBytes) {
  auto estimator = Trained();
  std::set<std::string> frozen, models, texts, variables;
  for (int i = 0; i < 5; ++i) {
    const auto graph = estimator.WriteFrozenGraph(dir_.File("frozen.pb"), raw_);
    ASSERT_TRUE(graph.ok()) << graph.status();
    frozen.insert(graph->graph_def);
    for (const bool as_text : {false, true}) {
      const auto dir = estimator.ExperimentalExportAllSavedModels(
          dir_.File(absl::StrCat("export", i, as_text)),
          {{Mode::kTrain, supervised_}, {Mode::kEval, supervised_}, {Mode::kPredict, raw_}},
          {.as_text = as_text});
      ASSERT_TRUE(dir.ok()) << dir.status();
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
  ASSERT_TRUE(predictor.ok()) << predictor.status();
  const int before = *calls;
  ASSERT_TRUE(RemoveDirectoryRecursively(dir_.File("model")).ok());
  for (const int64_t rows : {1, 2, 33, 500})
    ASSERT_TRUE((*predictor)->Predict(TinyExamples(rows).features).ok());
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
  ASSERT_TRUE(predictor.ok()) << predictor.status();
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
  ASSERT_TRUE(dir.ok()) << dir.status();
  const auto show = SavedModelShow::Open(*dir);
  EXPECT_THAT(*show->InputsAndOutputs("serve", "serving_default"), HasSubstr("shape: (-1, 2)"));
  EXPECT_TRUE((*estimator.MakePredictor(raw_))->Predict(TinyExamples(4).features).ok());
  EXPECT_TRUE(estimator.WriteFrozenGraph(dir_.File("frozen.pb"), raw_).ok());
  *modulus = 77;
  EXPECT_THAT(std::string(estimator.ExportSavedModel(dir_.File("export"), raw_).status().message()),
              AllOf(HasSubstr("groups of rows, please"), HasSubstr("default_batch_size")));
  const auto fixed = estimator.ExportSavedModel(
      dir_.File("export"), BuildRawServingInputReceiverFn({{"x", {DType::kFloat32, {-1, 2}}}}, 77));
  EXPECT_TRUE(fixed.ok()) << fixed.status();
}

}  // namespace
}  // namespace estimator
