// RunConfig.average_weights: evaluation, prediction and exports use averages.
#include "estimator/training/model/average_weights.h"

#include <map>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/checkpoint/load.h"
#include "estimator/export/signature/input_receiver.h"
#include "estimator/runtime/variable_store.h"
#include "estimator/training/testing/tiny_model.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

constexpr auto Endless = [](const TinyParams&) { return TinyDataset(4).Repeat(); };
constexpr auto Once = [](const TinyParams&) { return TinyDataset(4); };

class KernelRecorder : public SessionRunHook {
 public:
  std::string kernel;

  absl::Status AfterCreateSession(Session& session) override {
    kernel = session.variables().Peek("dense/kernel")->ToString();
    return absl::OkStatus();
  }
};

class AverageWeightsTest : public ::testing::Test {
 protected:
  Estimator<TinyParams>::Options Options(const AverageWeights& average_weights) {
    auto options = TinyOptions(dir_.File("m"));
    options.config.average_weights = average_weights;
    return options;
  }
  std::string Value(const std::string& name) {
    return LoadVariable(dir_.File("m"), name).value().ToString();
  }
  // Evaluations from memory and from the checkpoint, and an export, have `name`'s value.
  void ExpectInPlaceOfTheKernel(const Estimator<TinyParams>::Options& options,
                                const std::string& name) {
    Estimator<TinyParams> trained(options), reader(options);
    EST_ASSERT_OK(trained.Train(Endless, Steps(8)));
    const std::string average = Value(name);
    EXPECT_NE(average, Value("dense/kernel"));
    for (Estimator<TinyParams>* each : {&trained, &reader}) {
      const auto seen = std::make_shared<KernelRecorder>();
      EST_ASSERT_OK(each->Evaluate(Once, {.hooks = {seen}}));
      EXPECT_EQ(seen->kernel, average);
    }
    const auto exported = reader.ExportSavedModel(
        dir_.File("export"), BuildRawServingInputReceiverFn({{"x", {DType::kFloat32, {-1, 2}}}}));
    EST_ASSERT_OK(exported);
    EXPECT_EQ(LoadVariable(*exported, "dense/kernel").value().ToString(), average);
    EXPECT_FALSE(LoadVariable(*exported, name).ok()) << "an export has the average as the weight";
  }
  TempDir dir_;
};

TEST_F(AverageWeightsTest, ExponentialAveragesAreEvaluatedAndExported) {
  ExpectInPlaceOfTheKernel(Options(AverageWeights::Exponential(0.7)),
                           "dense/kernel/ExponentialMovingAverage");
}

TEST_F(AverageWeightsTest, StochasticAveragesAreEvaluatedAndExported) {
  ExpectInPlaceOfTheKernel(
      Options(AverageWeights::Stochastic({.start_averaging = 4, .average_period = 2})),
      "dense/kernel/average");
}

// The mean of three checkpoints.
TEST_F(AverageWeightsTest, StochasticAveragesAreTheMeanOfTheCheckpoints) {
  auto options = Options(AverageWeights::Stochastic({.start_averaging = 4, .average_period = 2}));
  options.config.save_checkpoints_steps = 2;
  EST_ASSERT_OK(Estimator<TinyParams>(options).Train(Endless, Steps(8)));
  const Array average = LoadVariable(dir_.File("m"), "dense/kernel/average").value();
  for (int64_t i = 0; i < average.num_elements(); ++i) {
    double sum = 0;
    for (const int step : {4, 6, 8}) {
      sum += LoadVariable(dir_.File(absl::StrCat("m/model.ckpt-", step)), "dense/kernel")
                 .value()
                 .AsDouble(i);
    }
    EXPECT_NEAR(average.AsDouble(i), sum / 3, 1e-6);
  }
}

TEST_F(AverageWeightsTest, TrainingHasTheSameWeightsWithAndWithoutThem) {
  Estimator<TinyParams> with(Options(AverageWeights::Exponential(0.7)));
  EST_ASSERT_OK(with.Train(Endless, Steps(8)));
  const std::string kernel = Value("dense/kernel");
  Estimator<TinyParams> without(TinyOptions(dir_.File("plain")));
  EST_ASSERT_OK(without.Train(Endless, Steps(8)));
  EXPECT_EQ(LoadVariable(dir_.File("plain"), "dense/kernel").value().ToString(), kernel);
}

TEST_F(AverageWeightsTest, ACheckpointWithoutAveragesIsRefused) {
  EST_ASSERT_OK(Estimator<TinyParams>(TinyOptions(dir_.File("m"))).Train(Endless, Steps(2)));
  Estimator<TinyParams> estimator(Options(AverageWeights::Exponential(0.7)));
  EXPECT_THAT(estimator.Evaluate(Once), ErrorHas("dense/kernel/ExponentialMovingAverage"));
}

TEST(AverageWeights, AreParsed) {
  EST_EXPECT_OK(AverageWeights::Parse("0.999"));
  EST_EXPECT_OK(AverageWeights::Parse("1000:100"));
  EXPECT_THAT(AverageWeights::Parse("1.5"), ErrorHas("must be in (0, 1), given 1.5"));
  for (const char* end : {"0", "1"})
    EXPECT_THAT(AverageWeights::Parse(end), ErrorHas("must be in (0, 1), given "));
  EXPECT_THAT(AverageWeights::Parse("10:0"), ErrorHas("average_period >= 1, given 10 and 0"));
  EXPECT_THAT(AverageWeights::Parse("ema"), ErrorHas("1000:100, given \"ema\""));
}

}  // namespace
}  // namespace estimator
