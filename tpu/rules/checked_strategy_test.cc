// What TPUEstimator does with the rules: before a run, and with TPUConfig::check.
#include "tpu/rules/checked_strategy.h"

#include <string>

#include "absl/strings/str_join.h"
#include "estimator/base/exit_code.h"
#include "estimator/base/testing/captured_log.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tpu/testing/tiny_tpu_model.h"

namespace estimator::tpu {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class CheckedStrategyTest : public ::testing::Test {
 protected:
  TinyTPUEstimator::Options Options(int num_shards, const std::string& check) {
    TinyTPUEstimator::Options options = TinyTPUOptions(dir_.File("m"), num_shards);
    options.config.tpu_config.check = check;
    return options;
  }
  static Dataset Input(const Params& params) {
    return Dataset::FromTensorSlices(TinyExamples(16))
        .Repeat()
        .Batch(params.batch_size, {.drop_remainder = true});
  }

  TempDir dir_;
};

TEST_F(CheckedStrategyTest, ACheckPrintsAReportAndRunsNothing) {
  for (const int num_shards : {0, 8}) {
    TinyTPUEstimator estimator(Options(num_shards, "rules"));
    ::testing::internal::CaptureStdout();
    const absl::Status trained = estimator.Train(Input, MaxSteps(3));
    const absl::Status evaluated = estimator.Evaluate(Input).status();
    const absl::Status predicted = estimator.Predict(Input).All().status();
    const std::string text = ::testing::internal::GetCapturedStdout();
    for (const absl::Status& status : {trained, evaluated, predicted})
      EXPECT_TRUE(IsFinishedEarly(status)) << num_shards << " " << status << text;
    EXPECT_THAT(text, AllOf(HasSubstr("note [few-rows]"), HasSubstr("1 rows on each of 8 cores"),
                            HasSubstr("predict: checked"), HasSubstr("TPU check: 0 violations")));
    EXPECT_FALSE(estimator.LatestCheckpoint()->has_value());
  }
}

TEST_F(CheckedStrategyTest, ATopologyNeedsACompiler) {
  TinyTPUEstimator estimator(Options(8, "v3-8"));
  ::testing::internal::CaptureStdout();
  const absl::Status status = estimator.Train(Input, MaxSteps(3));
  EXPECT_THAT(::testing::internal::GetCapturedStdout(),
              HasSubstr("train on v3-8: not compiled, because this program is built without"));
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(CheckedStrategyTest, AnUnknownCheckIsAnError) {
  for (const char* check : {"rule", "v3", "3-8", "v3-0", "vx-8", "v9-8", "v3-32"}) {
    TinyTPUEstimator estimator(Options(8, check));
    EXPECT_THAT(std::string(estimator.Train(Input, MaxSteps(3)).message()),
                HasSubstr("check must be \"rules\" or a topology, v2-8, v3-8, v4-8"));
  }
}

TEST_F(CheckedStrategyTest, ARunCountsItsNotesOnce) {
  const testing::CapturedLog log;
  TinyTPUEstimator estimator(Options(2, ""));
  EST_EXPECT_OK(estimator.Train(Input, Steps(1)));
  EST_EXPECT_OK(estimator.Train(Input, Steps(1)));
  const std::string infos = absl::StrJoin(log.infos, "\n");
  const std::string note = "Notes on train on a TPU: features-not-of-128, few-rows";
  EXPECT_THAT(infos, HasSubstr(note));
  EXPECT_EQ(infos.find(note), infos.rfind(note));
}

TEST_F(CheckedStrategyTest, ARunWarnsOfAViolationThatTheReplicasAllow) {
  const testing::CapturedLog log;
  TinyTPUEstimator::Options options = Options(8, "");
  options.model_fn = [](const Features& features, const Labels& labels, Mode mode,
                        const Params&) -> TPUEstimatorSpec {
    const Tensor y = Cast(Cast(TinyNetwork(features, mode == Mode::kTrain, 0), DType::kFloat64),
                          DType::kFloat32);
    const Tensor loss = TinyLoss(labels, y);
    return TPUEstimatorSpec::Train(loss,
                                   CrossShardOptimizer(train::Momentum(0.02, 0.9)).Minimize(loss));
  };
  TinyTPUEstimator estimator(options);
  EST_EXPECT_OK(estimator.Train(Input, Steps(1)));
  EXPECT_THAT(
      absl::StrJoin(log.warnings, "\n"),
      AllOf(HasSubstr("A TPU would not run this program: [float64]"), Not(HasSubstr("few-rows"))));
}

TEST_F(CheckedStrategyTest, ANanOnReplicasNamesTheShapeOfTheBatch) {
  TinyTPUEstimator::Options options = Options(8, "");
  options.model_fn = [](const Features& features, const Labels& labels, Mode mode,
                        const Params&) -> TPUEstimatorSpec {
    const Tensor y = TinyNetwork(features, mode == Mode::kTrain, 0);
    const Tensor loss = TinyLoss(labels, y) * Log(Constant(Array::Scalar<float>(-1)));
    return TPUEstimatorSpec::Train(loss,
                                   CrossShardOptimizer(train::Momentum(0.02, 0.9)).Minimize(loss));
  };
  TinyTPUEstimator estimator(options);
  EXPECT_THAT(std::string(estimator.Train(Input, Steps(1)).message()),
              AllOf(HasSubstr("NaN loss during training"),
                    HasSubstr("Each of 8 cores has 1 of the 8 rows of a batch, and 1 is not a "
                              "multiple of 8. Give each core a multiple of 8 rows")));
}

}  // namespace
}  // namespace estimator::tpu
