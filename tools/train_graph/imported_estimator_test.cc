// An imported model_fn in TPUEstimator: on eight replicas, and exported.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/checkpoint/load.h"
#include "estimator/graphdef/testing/small_training.h"
#include "estimator/training/import_model_fn.h"
#include "tpu/tpu_estimator.h"

namespace estimator {
namespace {

using ::estimator::testing::SmallTraining;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int64_t kRows = 16;

// x = 0, 0.125, ..., 1.875 and y = 0: replicas have different gradients.
Dataset Rows(const tpu::Params& params) {
  Array x(DType::kFloat32, {kRows, 1});
  for (int64_t i = 0; i < kRows; ++i) x.data<float>()[i] = static_cast<float>(i) / 8;
  return Dataset::FromTensorSlices({.features = x, .labels = Array(DType::kFloat32, {kRows, 1})})
      .Repeat()
      .Batch(params.batch_size, {.drop_remainder = true});
}

class ImportedEstimator : public ::testing::Test {
 protected:
  void SetUp() override {
    EST_ASSERT_OK(WriteFileAtomically(dir_.File("graph.meta"), SmallTraining::Small().Bytes()));
  }
  tpu::TPUEstimator<>::Options Options(const std::string& model, int num_shards) {
    const auto model_fn =
        ImportModelFn(dir_.File("graph.meta"), {.predictions = {{"y", "MatMul:0"}}});
    EXPECT_TRUE(model_fn.ok()) << model_fn.status();
    tpu::RunConfig config;
    config.model_dir = dir_.File(model);
    if (num_shards > 0) config.tpu_config.num_shards = num_shards;
    return {.model_fn = *model_fn,
            .config = config,
            .use_tpu = num_shards > 0,
            .train_batch_size = kRows,
            .predict_batch_size = kRows};
  }
  float Trained(const tpu::TPUEstimator<>::Options& options) {
    tpu::TPUEstimator<> estimator(options);
    EST_EXPECT_OK(estimator.Train(Rows, Steps(4)));
    return LoadVariable(*estimator.config().model_dir, "w").value().data<float>()[0];
  }
  TempDir dir_;
};

// The loss is a mean, so the mean of the replicas' gradients is that of the whole batch.
TEST_F(ImportedEstimator, EightReplicasTrainAsOneDoes) {
  const float whole = Trained(Options("local", 0));
  EXPECT_LT(whole, 1.9f);
  EXPECT_NEAR(Trained(Options("eight", 8)), whole, 1e-6);
}

TEST_F(ImportedEstimator, ExportsItsPredictions) {
  tpu::TPUEstimator<> estimator(Options("model", 8));
  EST_ASSERT_OK(estimator.Train(Rows, Steps(4)));
  const float w = LoadVariable(dir_.File("model"), "w").value().data<float>()[0];
  const auto folder = estimator.ExportSavedModel(
      dir_.File("export"),
      BuildRawServingInputReceiverFn({{"x", {DType::kFloat32, {Shape::kUnknownDim, 1}}}}));
  ASSERT_TRUE(folder.ok()) << folder.status();
  const auto predictor = LoadPredictor(*folder);
  ASSERT_TRUE(predictor.ok()) << predictor.status();
  for (const int64_t rows : {1, 3}) {  // of any batch size
    const Array x = Array::Of<float>({3, 1}, {1.f, 2.f, -1.f}).Slice(0, rows);
    const auto result = (*predictor)->Predict({{"x", x}});
    ASSERT_TRUE(result.ok()) << result.status();
    for (int64_t i = 0; i < rows; ++i)
      EXPECT_NEAR(result->at("y").AsDouble(i), w * x.AsDouble(i), 1e-6);
  }
}

// An error of the import has no hint on batch sizes, which would not help.
TEST_F(ImportedEstimator, AFailedExportSaysOnlyItsReason) {
  const auto model_fn = ImportModelFn("testdata/train_graph/tiny/model.ckpt-5.meta",
                                      {.predictions = {{"logits", "dense_1/BiasAdd:0"}}});
  ASSERT_TRUE(model_fn.ok()) << model_fn.status();
  tpu::RunConfig config;
  config.model_dir = "testdata/train_graph/tiny";
  tpu::TPUEstimator<> estimator({.model_fn = *model_fn, .config = config, .use_tpu = false});
  const absl::Status status =
      estimator
          .ExportSavedModel(
              dir_.File("export"),
              BuildRawServingInputReceiverFn({{"x", {DType::kUint8, {Shape::kUnknownDim, 8, 8}}}}))
          .status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented) << status;
  EXPECT_THAT(status.message(), HasSubstr("fixed to training"));
  EXPECT_THAT(status.message(), Not(HasSubstr("batches of")));
}

}  // namespace
}  // namespace estimator
