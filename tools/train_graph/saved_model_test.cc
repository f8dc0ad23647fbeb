// Continues the training of a SavedModel that TensorFlow 2.15.1 wrote, testdata/train_graph/saved,
// and compares losses, variables, metrics and predictions with those of TensorFlow.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/array/npy.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/checkpoint/load.h"
#include "estimator/training/import_model_fn.h"
#include "estimator/training/import_saved_model.h"
#include "estimator/training/testing/loss_recorder.h"
#include "tpu/tpu_estimator.h"

namespace estimator {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kSaved[] = "testdata/train_graph/saved";
constexpr int64_t kSteps = 10, kBatch = 8;

std::string Saved(const std::string& name) { return absl::StrCat(kSaved, "/", name); }

Dataset Rows() {
  const auto x = LoadNpy(Saved("x.npy")), y = LoadNpy(Saved("y.npy"));
  EXPECT_TRUE(x.ok() && y.ok());
  return Dataset::FromTensorSlices({.features = {{"x", *x}}, .labels = *y});
}

class SavedModelTest : public ::testing::Test {
 protected:
  void SetUp() override {
    absl::StatusOr<ImportedModelFn> imported = ImportModelFn(kSaved);
    ASSERT_TRUE(imported.ok()) << imported.status();
    model_fn_ = std::make_unique<ImportedModelFn>(*std::move(imported));
    EST_ASSERT_OK(StartFromSavedModel(kSaved, dir_.path()));
  }
  tpu::TPUEstimator<>::Options Options() {
    tpu::RunConfig config;
    config.model_dir = dir_.path();
    return {.model_fn = *model_fn_,
            .config = config,
            .use_tpu = false,
            .train_batch_size = kBatch,
            .eval_batch_size = kBatch,
            .predict_batch_size = kBatch};
  }
  std::vector<double> Train() {
    const auto losses = std::make_shared<LossRecorder>(model_fn_->info().loss);
    tpu::TPUEstimator<> estimator(Options());
    EST_EXPECT_OK(estimator.Train([](const tpu::Params&) { return Rows().Repeat().Batch(kBatch); },
                                  Steps(kSteps), {.hooks = {losses}}));
    return losses->losses;
  }

  TempDir dir_;
  std::unique_ptr<ImportedModelFn> model_fn_;
};

TEST_F(SavedModelTest, DescribesItsGraphs) {
  const TrainGraphInfo& train = model_fn_->info(Mode::kTrain);
  ASSERT_EQ(train.inputs.size(), 2u);
  EXPECT_EQ(train.inputs[0].key, "x");
  EXPECT_EQ(train.inputs[1].key, "label");
  EXPECT_THAT(model_fn_->info(Mode::kEval).metrics,
              ElementsAre("accuracy", "auc", "recall", "top"));
  EXPECT_EQ(model_fn_->info(Mode::kPredict).outputs.count("logits"), 1u);
  EST_EXPECT_OK(model_fn_->Check(Mode::kTrain));
  EST_EXPECT_OK(model_fn_->Check(Mode::kEval));
  EST_EXPECT_OK(model_fn_->Check(Mode::kPredict));
}

TEST_F(SavedModelTest, ContinuesAsTensorFlowDid) {
  EXPECT_EQ(LoadGlobalStep(dir_.path()).value(), 5);
  const std::vector<double> losses = Train();
  const Array golden = LoadNpy(Saved("losses.npy")).value();
  ASSERT_EQ(losses.size(), static_cast<size_t>(kSteps));
  for (int64_t i = 0; i < kSteps; ++i)
    EXPECT_NEAR(losses[static_cast<size_t>(i)], golden.AsDouble(i), 1e-5) << "step " << 6 + i;
  const auto expected = ListVariables(Saved("final"));
  ASSERT_TRUE(expected.ok()) << expected.status();
  for (const auto& [name, spec] : *expected) {
    const Array ours = LoadVariable(dir_.path(), name).value();
    const Array theirs = LoadVariable(Saved("final"), name).value();
    ASSERT_EQ(ours.num_elements(), theirs.num_elements()) << name;
    for (int64_t j = 0; j < ours.num_elements(); ++j)
      ASSERT_NEAR(ours.AsDouble(j), theirs.AsDouble(j), 1e-4) << name << ", element " << j;
  }

  // Each evaluation begins with new totals.
  tpu::TPUEstimator<> estimator(Options());
  const auto input = [](const tpu::Params&) { return Rows().Batch(kBatch); };
  std::istringstream lines(ReadFile(Saved("metrics.txt")).value());
  std::map<std::string, double> metrics;
  std::string name;
  for (double value = 0; lines >> name >> value;) metrics[name] = value;
  ASSERT_EQ(metrics.size(), 6u);
  for (int repetition = 0; repetition < 2; ++repetition) {
    const auto result = estimator.Evaluate(input);
    ASSERT_TRUE(result.ok()) << result.status();
    for (const auto& [key, value] : metrics) EXPECT_NEAR((*result)[key], value, 1e-5) << key;
  }

  const auto rows = estimator.Predict(input).All();
  ASSERT_TRUE(rows.ok()) << rows.status();
  const Array logits = LoadNpy(Saved("logits.npy")).value();
  ASSERT_EQ(static_cast<int64_t>(rows->size()), logits.shape()[0]);
  for (size_t i = 0; i < rows->size(); ++i) {
    const Array& row = (*rows)[i].at("logits");
    for (int64_t j = 0; j < row.num_elements(); ++j)
      EXPECT_NEAR(row.AsDouble(j), logits.AsDouble(static_cast<int64_t>(i) * 3 + j), 1e-4);
  }
}

// The last batch has 4 rows, and its model has the same totals.
TEST_F(SavedModelTest, MetricsDoNotDependOnTheBatchSize) {
  std::vector<double> accuracies;
  for (const int64_t batch : {40, 12}) {
    auto options = Options();
    options.eval_batch_size = batch;
    tpu::TPUEstimator<> estimator(options);
    const auto result =
        estimator.Evaluate([batch](const tpu::Params&) { return Rows().Batch(batch); });
    ASSERT_TRUE(result.ok()) << result.status();
    accuracies.push_back((*result)["accuracy"]);
  }
  EXPECT_NEAR(accuracies[0], accuracies[1], 1e-6);
}

TEST_F(SavedModelTest, RefusesMetricsOnReplicas) {
  auto options = Options();
  options.use_tpu = true;
  options.config.tpu_config.num_shards = 2;
  const auto input = [](const tpu::Params&) { return Rows().Batch(kBatch); };
  EXPECT_THAT(tpu::TPUEstimator<>(options).Evaluate(input).status().message(),
              AllOf(HasSubstr("eval_metric_ops"), HasSubstr("eval_on_tpu = false")));
  options.eval_on_tpu = false;
  tpu::TPUEstimator<> on_one(options);
  const auto result = on_one.Evaluate(input);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_GT((*result)["accuracy"], 0);
}

TEST_F(SavedModelTest, KeepsACheckpointThatIsThere) {
  Train();
  EST_ASSERT_OK(StartFromSavedModel(kSaved, dir_.path()));
  EXPECT_EQ(LoadGlobalStep(dir_.path()).value(), 15);
}

TEST(SavedModelErrors, NameTheTagsAndTheCure) {
  const absl::Status status = ImportModelFn("testdata/train_graph/saved_serve_only").status();
  EXPECT_TRUE(absl::IsNotFound(status)) << status;
  EXPECT_THAT(status.message(), AllOf(HasSubstr("{serve}"), HasSubstr("experimental_mode")));
  EXPECT_THAT(ImportModelFn("testdata/train_graph/tiny").status().message(),
              HasSubstr("SavedModel file does not exist"));
  EXPECT_THAT(ImportModelFn(kSaved, {.serving_signature = "classify"}).status().message(),
              AllOf(HasSubstr("no signature 'classify'"), HasSubstr("serving_default")));
}

}  // namespace
}  // namespace estimator
