// RunConfig.accumulate_steps: an update of several batches is that of the larger batch.
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "estimator/base/testing/captured_log.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/checkpoint/load.h"
#include "estimator/nn/layers/dense.h"
#include "estimator/nn/layers/normalization.h"
#include "estimator/nn/train/gradient_descent.h"
#include "estimator/training/testing/tiny_model.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pointwise;

class AccumulateStepsTest : public ::testing::Test {
 protected:
  Estimator<TinyParams>::Options Options(const std::string& name, int64_t accumulate_steps) {
    auto options = TinyOptions(dir_.File(name));
    options.config.accumulate_steps = accumulate_steps;
    return options;
  }
  struct Result {
    std::vector<float> kernel;
    std::vector<double> losses;
    std::vector<int64_t> steps;
  };
  Result Train(const Estimator<TinyParams>::Options& options, int64_t batch, int64_t max_steps) {
    Estimator<TinyParams> estimator(options);
    const auto recorder = std::make_shared<RunRecorder>();
    EST_EXPECT_OK(estimator.Train([=] { return TinyDataset(batch).Repeat(); }, MaxSteps(max_steps),
                                  {.hooks = {recorder}}));
    const Array kernel = estimator.GetVariableValue("dense/kernel").value();
    return {.kernel = {kernel.values<float>().begin(), kernel.values<float>().end()},
            .losses = recorder->losses,
            .steps = recorder->steps};
  }
  TempDir dir_;
};

TEST_F(AccumulateStepsTest, AnUpdateIsThatOfTheLargerBatch) {
  const Result small = Train(Options("small", 4), 5, 8), large = Train(Options("large", 1), 20, 8);
  EXPECT_THAT(small.steps, ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_THAT(small.losses, Pointwise(::testing::DoubleNear(1e-6), large.losses));
  EXPECT_THAT(small.kernel, Pointwise(::testing::FloatNear(1e-6f), large.kernel));
  EXPECT_GT(std::abs(small.kernel[0] - Train(Options("none", 1), 5, 8).kernel[0]), 1e-4f)
      << "without it, the result is another one";
}

TEST_F(AccumulateStepsTest, AResumedRunHasTheBitsOfAnUndisturbedOne) {
  const Result whole = Train(Options("whole", 3), 5, 10);
  Train(Options("killed", 3), 5, 5);
  const Result rest = Train(Options("killed", 3), 5, 10);
  EXPECT_THAT(rest.steps, ElementsAre(6, 7, 8, 9, 10));
  EXPECT_EQ(rest.kernel, whole.kernel);
}

// Two updates have 40 of the 50 examples; the last two batches are no whole update.
TEST_F(AccumulateStepsTest, BatchesThatDoNotFillAnUpdateAreDropped) {
  Estimator<TinyParams> estimator(Options("m", 4));
  EST_ASSERT_OK(estimator.Train([] { return TinyDataset(5, 50); }));
  EXPECT_EQ(*LoadGlobalStep(dir_.File("m")), 2);
}

TEST_F(AccumulateStepsTest, BatchesOfTwoSizesAreRefused) {
  Estimator<TinyParams> estimator(Options("m", 2));
  EXPECT_THAT(estimator.Train([] { return TinyDataset(6).Repeat(); }, Steps(10)),
              ErrorHas("batches of 6 and of 2 rows, but those of accumulate_steps must be equal"));
}

// Its moments are those of the small batches, and it follows the first one.
TEST_F(AccumulateStepsTest, MovingAveragesFollowTheFirstBatch) {
  const auto mean_of = [this](const std::string& name, int64_t accumulate_steps) {
    auto options = Options(name, accumulate_steps);
    options.model_fn = [](const Features& features, const Labels& labels, Mode mode,
                          const TinyParams&) {
      const Tensor x = layers::BatchNormalization(
          features["x"], {.momentum = 0.5, .training = mode == Mode::kTrain});
      const Tensor loss = TinyLoss(labels, layers::Dense(x, {.units = 1}));
      return EstimatorSpec::Train(loss, train::GradientDescent(0.1).Minimize(loss));
    };
    Estimator<TinyParams> estimator(options);
    EST_EXPECT_OK(estimator.Train([] { return TinyDataset(5).Repeat(); }, Steps(1)));
    return estimator.GetVariableValue("batch_normalization/moving_mean").value().ToString();
  };
  EXPECT_EQ(mean_of("accumulated", 2), mean_of("single", 1));
}

TEST_F(AccumulateStepsTest, TheBannerSaysWhatABatchIs) {
  const testing::CapturedLog log;
  Train(Options("m", 4), 5, 1);
  EXPECT_THAT(log.infos, Contains(HasSubstr("20 (4 accumulated x 5)")));
  EXPECT_THAT(log.infos, Contains(HasSubstr("backend:     CPU")));
}

TEST_F(AccumulateStepsTest, ItIsAtLeastOne) {
  Estimator<TinyParams> estimator(Options("m", 0));
  EXPECT_THAT(estimator.Train([] { return TinyDataset(5); }),
              ErrorHas("accumulate_steps must be >= 1, given 0"));
}

}  // namespace
}  // namespace estimator
