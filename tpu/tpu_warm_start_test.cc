// Where variables begin on replicas: as on the CPU.
#include <map>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tpu/testing/tiny_tpu_model.h"

namespace estimator::tpu {
namespace {

class TPUWarmStartTest : public ::testing::Test {
 protected:
  // "old": trained on two replicas.
  void SetUp() override {
    TinyTPUEstimator old(TinyTPUOptions(dir_.File("old"), 2));
    const absl::Status trained = old.Train(TinyTrainInput, Steps(4));
    EST_ASSERT_OK(trained);
  }
  std::string Text(const std::string& directory, const std::string& name) {
    const absl::StatusOr<Array> value = LoadVariable(dir_.File(directory), name);
    EST_EXPECT_OK(value);
    return value.ok() ? value->ToString(1000) : "";
  }
  TempDir dir_;
};

TEST_F(TPUWarmStartTest, AllCountsOfReplicasBeginAtTheOldValues) {
  for (const int replicas : {0, 1, 4}) {
    const std::string name = absl::StrCat("new", replicas);
    SCOPED_TRACE(name);
    auto options = TinyTPUOptions(dir_.File(name), replicas);
    options.config.tf_random_seed = 8;
    options.warm_start_from = dir_.File("old");
    TinyTPUEstimator old(TinyTPUOptions(dir_.File("old"), replicas)), estimator(options);
    EXPECT_EQ((*estimator.Evaluate(TinyEvalInput))["loss"], (*old.Evaluate(TinyEvalInput))["loss"]);
    EST_ASSERT_OK(estimator.Train(TinyTrainInput, Steps(1)));
    EXPECT_EQ(Text(name + "/model.ckpt-0", "dense/kernel"), Text("old", "dense/kernel"));
    EXPECT_EQ(Text(name + "/model.ckpt-0", "global_step"), "0");
  }
}

// Behaviour M14.
TEST_F(TPUWarmStartTest, APlainEstimatorBeginsAtATpuCheckpoint) {
  auto options = TinyOptions(dir_.File("plain"));
  options.warm_start_from = dir_.File("old");
  Estimator<TinyParams> estimator(options);
  const absl::Status trained =
      estimator.Train([](const TinyParams&) { return TinyDataset(4).Repeat(); }, Steps(1));
  EST_ASSERT_OK(trained);
  EXPECT_EQ(Text("plain/model.ckpt-0", "dense_1/kernel"), Text("old", "dense_1/kernel"));
}

// Behaviour M12, in the form that BERT gives it: scaffold_fn runs once a model, in all three modes,
// and InitFromCheckpoint works inside it.
TEST_F(TPUWarmStartTest, ScaffoldFnRunsInAllModesAndMayInitFromACheckpoint) {
  for (const int replicas : {0, 2}) {
    const std::string name = absl::StrCat("bert", replicas);
    SCOPED_TRACE(name);
    std::map<Mode, int> calls;
    auto options = TinyTPUOptions(dir_.File(name), replicas);
    options.config.tf_random_seed = 8;
    options.model_fn = [&](const Features& features, const Labels& labels, Mode mode,
                           const Params&) {
      const Tensor y = TinyNetwork(features, mode == Mode::kTrain, 0);
      TPUEstimatorSpecOptions more;
      const auto assignment = train::GetAssignmentMapFromCheckpoint(
          Graph::Current().TrainableVariables(), dir_.File("old"));
      EXPECT_EQ(assignment.initialized_variable_names.count("dense/kernel"), 1u);
      more.scaffold_fn = [&calls, mode, map = assignment.assignment_map, path = dir_.File("old")] {
        ++calls[mode];
        train::InitFromCheckpoint(path, map);
        return Scaffold();
      };
      if (mode == Mode::kPredict) return TPUEstimatorSpec::Predict({{"y", y}}, more);
      const Tensor loss = TinyLoss(labels, y);
      if (mode == Mode::kEval)
        return TPUEstimatorSpec::Eval(loss, {TinyMetrics, {labels, y}}, more);
      return TPUEstimatorSpec::Train(loss, train::Adam(0.1).Minimize(loss), more);
    };
    TinyTPUEstimator estimator(options), old(TinyTPUOptions(dir_.File("old"), replicas));
    EXPECT_EQ((*estimator.Evaluate(TinyEvalInput))["loss"], (*old.Evaluate(TinyEvalInput))["loss"]);
    const auto rows = estimator.Predict(TinyEvalInput).All(),
               of_old = old.Predict(TinyEvalInput).All();
    EST_ASSERT_OK(rows);
    EXPECT_EQ(rows->front().at("y").AsDouble(), of_old->front().at("y").AsDouble());
    for (int call = 0; call < 3; ++call) EST_ASSERT_OK(estimator.Train(TinyTrainInput, Steps(1)));
    EXPECT_EQ(Text(name + "/model.ckpt-0", "dense/kernel"), Text("old", "dense/kernel"));
    EXPECT_EQ(calls[Mode::kTrain], 1) << "calls of Train share a model";
    EXPECT_EQ(calls[Mode::kEval], 2) << "of full batches, and of the last, smaller one";
    EXPECT_EQ(calls[Mode::kPredict], 2);
  }
}

}  // namespace
}  // namespace estimator::tpu
