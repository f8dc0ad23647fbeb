// Two runs in one model_dir: a second training is refused; an evaluation beside a training is not.
#include <functional>
#include <memory>

#include "absl/strings/str_cat.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/base/testing/captured_log.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/checkpoint/bundle/bundle_format.h"
#include "estimator/training/testing/tiny_model.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

Dataset Endless(const TinyParams&) { return TinyDataset(5).Repeat(); }
Dataset Once(const TinyParams&) { return TinyDataset(8); }

// Calls a function after a step of a run.
class AtStep : public SessionRunHook {
 public:
  AtStep(int64_t step, std::function<void()> call) : step_(step), call_(std::move(call)) {}
  absl::Status AfterRun(RunContext&, const RunValues& values) override {
    if (values.global_step == step_) call_();
    return absl::OkStatus();
  }

 private:
  const int64_t step_;
  const std::function<void()> call_;
};

class SecondRunTest : public ::testing::Test {
 protected:
  std::string Prefix(int64_t step) const { return dir_.File(absl::StrCat("model.ckpt-", step)); }
  Estimator<TinyParams> NewEstimator() const {
    auto options = TinyOptions(dir_.path());
    options.config.keep_checkpoint_max = 1;
    return Estimator<TinyParams>(options);
  }

  TempDir dir_;
};

// Fixed bug: both trained, and overwrote each other's checkpoints without a word.
TEST_F(SecondRunTest, ASecondTrainingInOneModelDirIsRefusedAndTheFirstContinues) {
  Estimator<TinyParams> first = NewEstimator(), second = NewEstimator();
  const auto try_second = std::make_shared<AtStep>(7, [&] {
    EXPECT_THAT(second.Train(Endless, MaxSteps(20)),
                StatusIs(absl::StatusCode::kFailedPrecondition,
                         HasSubstr("another run is training in " + dir_.path())));
  });
  EST_ASSERT_OK(first.Train(Endless, MaxSteps(10), {.hooks = {try_second}}));
  EXPECT_TRUE(FileExists(IndexPath(Prefix(10))));
  EST_EXPECT_OK(second.Train(Endless, MaxSteps(12))) << "the first run has ended";
  EST_EXPECT_OK(first.Train(Endless, MaxSteps(14))) << "so has the second";
  EXPECT_TRUE(FileExists(IndexPath(Prefix(14))));
}

TEST_F(SecondRunTest, ARunThatFailedHoldsNothing) {
  Estimator<TinyParams> first = NewEstimator(), second = NewEstimator();
  const auto fails = [](const TinyParams&) -> absl::StatusOr<Dataset> {
    return absl::NotFoundError("no data");
  };
  EXPECT_THAT(first.Train(fails, MaxSteps(5)), StatusIs(absl::StatusCode::kNotFound));
  EST_EXPECT_OK(second.Train(Endless, MaxSteps(5)));
}

TEST_F(SecondRunTest, EvaluationPredictionAndATrainingThatIsDoneWorkBesideATraining) {
  auto options = TinyOptions(dir_.path());
  options.config.async_checkpoint = false;  // the checkpoint of step 5 is written before step 7
  Estimator<TinyParams> first(options), second = NewEstimator();
  const auto evaluate = std::make_shared<AtStep>(7, [&] {
    EXPECT_EQ(second.Evaluate(Once)->global_step(), 5);
    EST_EXPECT_OK(second.Predict(Once).All());
    EST_EXPECT_OK(second.Train(Endless, MaxSteps(5))) << "it has nothing to train";
    EST_EXPECT_OK(second.GetVariableValue("dense/kernel"));
  });
  EST_ASSERT_OK(first.Train(Endless, MaxSteps(10), {.hooks = {evaluate}}));
}

// Fixed bug: NOT_FOUND, because the training deleted the checkpoint after it was chosen.
TEST_F(SecondRunTest, AnEvaluationBesideATrainingThatKeepsOneCheckpointTakesTheNewer) {
  Estimator<TinyParams> trained = NewEstimator(), evaluated = NewEstimator();
  EST_ASSERT_OK(trained.Train(Endless, MaxSteps(5)));
  const testing::CapturedLog log;
  // The checkpoint is chosen before the input is opened, and read after that.
  const auto result = evaluated.Evaluate([&](const TinyParams& params) -> absl::StatusOr<Dataset> {
    EST_RETURN_IF_ERROR(trained.Train(Endless, MaxSteps(10)));
    EXPECT_FALSE(FileExists(IndexPath(Prefix(5))));
    return Once(params);
  });
  EST_ASSERT_OK(result);
  EXPECT_EQ(result->global_step(), 10);
  EXPECT_EQ(result->checkpoint_path, Prefix(10));
  EXPECT_THAT(log.warnings, IsEmpty()) << "that is no damage";
}

}  // namespace
}  // namespace estimator
