// How TPUEstimator exports.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/export/saved_model/saved_model_show.h"
#include "estimator/training/testing/tiny_model.h"
#include "tpu/tpu_estimator.h"

namespace estimator::tpu {
namespace {

using ::testing::HasSubstr;

struct Call {
  Mode mode;
  bool use_tpu;
  int64_t batch_size;
};
std::vector<Call>& Calls() {
  static auto* const calls = new std::vector<Call>();
  return *calls;
}

TPUEstimatorSpec ModelFn(const Features& features, const Tensor& labels, Mode mode,
                         const Params& params) {
  Calls().push_back({mode, params.use_tpu, params.batch_size});
  const Tensor y = TinyNetwork(features, mode == Mode::kTrain, 0);
  if (mode == Mode::kPredict)
    return TPUEstimatorSpec::Predict({{"y", y}},
                                     {.export_outputs = {{"mine", PredictOutput({{"y", y}})}}});
  const Tensor loss = TinyLoss(labels, y);
  if (mode == Mode::kEval) {
    const auto metrics = [](const std::vector<Tensor>& tensors) -> MetricMap {
      return {{"mae", metrics::MeanAbsoluteError(tensors[0], tensors[1])}};
    };
    return TPUEstimatorSpec::Eval(loss, {metrics, {labels, y}});
  }
  return TPUEstimatorSpec::Train(loss,
                                 CrossShardOptimizer(train::GradientDescent(0.02)).Minimize(loss));
}

class TPUExportTest : public ::testing::Test {
 protected:
  TPUEstimator<> Trained(bool export_to_cpu, bool export_to_tpu) {
    RunConfig config;
    static_cast<estimator::RunConfig&>(config) = TinyConfig(dir_.File("model"));
    TPUEstimator<> estimator({.model_fn = ModelFn,
                              .config = config,
                              .train_batch_size = 16,
                              .eval_batch_size = 16,
                              .predict_batch_size = 3,  // 8 replicas do not divide it
                              .export_to_cpu = export_to_cpu,
                              .export_to_tpu = export_to_tpu});
    const absl::Status trained = estimator.Train(
        [](const Params& params) { return TinyDataset(params.batch_size, 32).Repeat(); },
        MaxSteps(2));
    EST_EXPECT_OK(trained);
    Calls().clear();
    return estimator;
  }
  std::string TagSets(const absl::StatusOr<std::string>& dir) {
    EST_EXPECT_OK(dir);
    return dir.ok() ? SavedModelShow::Open(*dir)->TagSets() : "";
  }
  std::string Base() const { return dir_.File("export"); }

  TempDir dir_;
  const ServingInputReceiverFn raw_ =
      BuildRawServingInputReceiverFn({{"x", {DType::kFloat32, {-1, 2}}}});
};

// Behaviour N5.
TEST_F(TPUExportTest, TagsFollowTheFlags) {
  EXPECT_THAT(TagSets(Trained(true, false).ExportSavedModel(Base(), raw_)),
              HasSubstr("tag-sets:\n'serve'\n"));
  EXPECT_THAT(TagSets(Trained(false, true).ExportSavedModel(Base(), raw_)),
              HasSubstr("tag-sets:\n'serve, tpu'\n"));
  EXPECT_THAT(TagSets(Trained(true, true).ExportSavedModel(Base(), raw_)),
              HasSubstr("tag-sets:\n'serve'\n'serve, tpu'\n"));
  EXPECT_THAT(Trained(false, false).ExportSavedModel(Base(), raw_),
              ErrorHas("one of export_to_cpu and export_to_tpu must be true"));
}

// Behaviour N5.
TEST_F(TPUExportTest, EvaluationIsExportedForTheCpuOnly) {
  const ServingInputReceiverFn supervised = BuildRawSupervisedInputReceiverFn(
      {{"x", {DType::kFloat32, {-1, 2}}}}, {{"", {DType::kFloat32, {-1, 1}}}});
  const auto dir = Trained(true, true).ExportSavedModel(Base(), supervised, {.mode = Mode::kEval});
  EXPECT_THAT(TagSets(dir), HasSubstr("tag-sets:\n'eval'\n"));
  EXPECT_THAT(*SavedModelShow::Open(*dir)->InputsAndOutputs("eval", "eval"),
              HasSubstr("outputs['metrics/mae/value']"));
}

// Behaviour N6.
TEST_F(TPUExportTest, BatchRulesDoNotApplyAndParamsSayWhichPassItIs) {
  auto estimator = Trained(true, true);
  EST_ASSERT_OK(estimator.ExportSavedModel(Base(), raw_));
  bool on_cpu = false, on_tpu = false;
  for (const Call& call : Calls()) {
    EXPECT_EQ(call.mode, Mode::kPredict);
    EXPECT_EQ(call.batch_size, 0);
    (call.use_tpu ? on_tpu : on_cpu) = true;
  }
  EXPECT_TRUE(on_cpu);
  EXPECT_TRUE(on_tpu);
}

TEST_F(TPUExportTest, ALoneOutputIsTheDefaultSignatureToo) {
  const auto dir = Trained(true, false).ExportSavedModel(Base(), raw_);
  EST_ASSERT_OK(dir);
  EXPECT_THAT(*SavedModelShow::Open(*dir)->SignatureKeys("serve"),
              HasSubstr("SignatureDef key: \"mine\"\nSignatureDef key: \"serving_default\"\n"));
}

TEST_F(TPUExportTest, APredictorServesAnyBatchSize) {
  const auto predictor = Trained(true, false).MakePredictor(raw_, {.signature_key = "mine"});
  EST_ASSERT_OK(predictor);
  const auto outputs = (*predictor)->Predict(TinyExamples(5).features);
  EST_ASSERT_OK(outputs);
  EXPECT_EQ(outputs->at("y").shape().dim(0), 5);
}

}  // namespace
}  // namespace estimator::tpu
