#include "estimator/training/hooks/learning_rate_plot_hook.h"

#include <gtest/gtest.h>

#include <string>

#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/image/line_chart.h"
#include "estimator/image/png/png.h"
#include "estimator/nn/train/momentum.h"
#include "estimator/nn/train/rate_by_name.h"
#include "estimator/training/testing/tiny_model.h"

namespace estimator {
namespace {

// A call of Train for `max_steps` that draws the rate. Returns its error.
absl::Status TrainAndDraw(const TempDir& dir, const Schedule& rate, const TrainLength& length,
                          const Dataset& dataset = TinyDataset(4).Repeat()) {
  auto options = TinyOptions(dir.path());
  options.config.plot_learning_rate = dir.File("rate.png");
  options.model_fn = [rate](const Features& features, const Labels& labels, Mode,
                            const TinyParams&) {
    const Tensor loss = TinyLoss(labels, TinyNetwork(features, true, 0));
    return EstimatorSpec::Train(loss, train::Momentum(rate, 0.9).Minimize(loss));
  };
  return Estimator<TinyParams>(options).Train([=](const TinyParams&) { return dataset; }, length);
}

// 20 examples in batches of 4: an epoch has 5 steps. The second call draws what is left.
TEST(LearningRatePlot, HasTheRateOfEachStepByEpoch) {
  const TempDir dir;
  const Schedule rate = train::RateByName(
      {{"kernel", train::PiecewiseConstant({.boundaries = {3}, .values = {0.5, 0.25}})},
       {"bias", 0.125}});
  for (const int first : {0, 4}) {
    EST_ASSERT_OK(TrainAndDraw(dir, rate, MaxSteps(first + 4)));
    image::LineChart expected{.title = "learning rate", .x_label = "epoch"};
    expected.curves.resize(2);
    for (int step = first; step < first + 4; ++step) {
      expected.curves[0].emplace_back(step / 5.0, step <= 3 ? 0.5 : 0.25);
      expected.curves[1].emplace_back(step / 5.0, 0.125);
    }
    EXPECT_EQ(*ReadFile(dir.File("rate.png")), *image::EncodePng(*image::DrawLineChart(expected)));
  }
}

TEST(LearningRatePlot, NeedsTheNumberOfSteps) {
  const TempDir dir;
  EXPECT_THAT(TrainAndDraw(dir, 0.1, {}, TinyDataset(4)),
              ErrorHas("plot_learning_rate: the number of steps is not known"));
}

}  // namespace
}  // namespace estimator
