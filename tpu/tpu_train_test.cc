// Training on replicas: loops, hooks, interrupts, NaN.
#include <memory>
#include <set>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/base/interrupt.h"
#include "estimator/base/testing/captured_log.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/ops/check_range.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tpu/testing/train_fixture.h"

namespace estimator::tpu {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using TPUTrainTest = TPUTrainFixture;

// Behaviour M1: global steps that hooks see, from scratch and from step 3.
TEST_F(TPUTrainTest, TheLastLoopIsShortened) {
  const auto seen = [&](int replicas, int loop, int64_t start, const TrainLength& length) {
    TinyTPUEstimator estimator(TinyTPUOptions(Dir(), replicas, loop));
    if (start > 0) {
      EST_EXPECT_OK(estimator.Train(TinyTrainInput, Steps(start)));
    }
    const auto recorder = std::make_shared<RunRecorder>();
    const absl::Status trained = estimator.Train(TinyTrainInput, length, {.hooks = {recorder}});
    EST_EXPECT_OK(trained);
    return recorder->steps;
  };
  EXPECT_THAT(seen(2, 4, 0, Steps(10)), ElementsAre(4, 8, 10));
  EXPECT_THAT(seen(2, 4, 0, MaxSteps(10)), ElementsAre(4, 8, 10));
  EXPECT_THAT(seen(2, 4, 3, Steps(10)), ElementsAre(7, 11, 13));
  EXPECT_THAT(seen(2, 4, 3, MaxSteps(10)), ElementsAre(7, 10));
  EXPECT_THAT(seen(2, 40, 0, Steps(12)), ElementsAre(12));
  EXPECT_THAT(seen(2, 4, 3, MaxSteps(3)), ElementsAre());
  EXPECT_THAT(seen(0, 4, 0, Steps(3)), ElementsAre(1, 2, 3)) << "locally, a run is a step";
}

// Behaviour M2.
TEST_F(TPUTrainTest, StepsMustBePositive) {
  TinyTPUEstimator estimator(TinyTPUOptions(Dir(), 2));
  EXPECT_THAT(estimator.Train(TinyTrainInput, Steps(-1)),
              ErrorIs("Must specify steps > 0, given: -1"));
  EXPECT_THAT(estimator.Evaluate(TinyEvalInput, {.steps = 0}),
              ErrorIs("Must specify steps > 0, given: 0"));
}

TEST_F(TPUTrainTest, TheSameSeedGivesTheSameBitsOnReplicasWhateverTheLoop) {
  std::set<std::string> bits;
  for (const int loop : {1, 5, 5}) {
    auto options = TinyTPUOptions(Dir(), 4, loop);
    options.model_fn = [](const Features& features, const Labels& labels, Mode, const Params&) {
      const Tensor loss = TinyLoss(labels, TinyNetwork(features, true, /*dropout=*/0.4));
      return TPUEstimatorSpec::Train(loss, train::Momentum(0.02, 0.9).Minimize(loss));
    };
    TinyTPUEstimator estimator(options);
    EST_ASSERT_OK(estimator.Train(TinyTrainInput, Steps(10)));
    bits.insert(*CheckpointBits(**estimator.LatestCheckpoint()));
  }
  EXPECT_EQ(bits.size(), 1u);
}

// A run is a loop of two steps.
TEST_F(TPUTrainTest, AHookSetsTheLearningRateOfAllReplicas) {
  class SetAtFour : public SessionRunHook {
    absl::Status AfterRun(RunContext& context, const RunValues& values) override {
      return values.global_step == 4 ? context.session().SetLearningRate(0.125) : absl::OkStatus();
    }
  };
  const auto kernel_of = [this](const Schedule& rate, const Hooks& hooks) {
    auto options = TinyTPUOptions(Dir(), 4, 2);
    options.model_fn = [rate](const Features& features, const Labels& labels, Mode, const Params&) {
      const Tensor loss = TinyLoss(labels, TinyNetwork(features, true, 0));
      return TPUEstimatorSpec::Train(loss, train::GradientDescent(rate).Minimize(loss));
    };
    TinyTPUEstimator estimator(options);
    EST_EXPECT_OK(estimator.Train(TinyTrainInput, Steps(8), {.hooks = hooks}));
    const Array kernel = estimator.GetVariableValue("dense/kernel").value();
    return std::vector<float>(kernel.values<float>().begin(), kernel.values<float>().end());
  };
  const std::vector<float> scheduled =
      kernel_of(train::PiecewiseConstant({.boundaries = {3}, .values = {0.0625, 0.125}}), {});
  EXPECT_EQ(kernel_of(0.0625, {std::make_shared<SetAtFour>()}), scheduled);
  EXPECT_NE(kernel_of(0.0625, {}), scheduled);
}

TEST_F(TPUTrainTest, TheLearningRateGrowsWithTheReplicasIfAsked) {
  const auto kernel_of = [this](const Schedule& rate, bool scale) {
    auto options = TinyTPUOptions(Dir(), 4, 2);
    options.config.scale_learning_rate = scale;
    options.model_fn = [rate](const Features& features, const Labels& labels, Mode, const Params&) {
      const Tensor loss = TinyLoss(labels, TinyNetwork(features, true, 0));
      return TPUEstimatorSpec::Train(loss, train::GradientDescent(rate).Minimize(loss));
    };
    const estimator::testing::CapturedLog log;
    TinyTPUEstimator estimator(options);
    EST_EXPECT_OK(estimator.Train(TinyTrainInput, Steps(4)));
    const bool said = absl::StrContains(absl::StrJoin(log.infos, "\n"),
                                        "that of the optimizer times 4, the number of replicas");
    EXPECT_EQ(said, scale);
    const Array kernel = estimator.GetVariableValue("dense/kernel").value();
    return std::vector<float>(kernel.values<float>().begin(), kernel.values<float>().end());
  };
  EXPECT_EQ(kernel_of(0.03125, true), kernel_of(0.125, false));
  EXPECT_EQ(
      kernel_of(train::PiecewiseConstant({.boundaries = {1}, .values = {0.03125, 0.0625}}), true),
      kernel_of(train::PiecewiseConstant({.boundaries = {1}, .values = {0.125, 0.25}}), false));
  EXPECT_NE(kernel_of(0.03125, true), kernel_of(0.03125, false));
}

// Two global batches of 8 on 2 replicas are the 4 parts of a batch of 16.
TEST_F(TPUTrainTest, AnUpdateOfSeveralBatchesIsThatOfTheLargerBatch) {
  const auto losses_of = [this](int64_t batch, int64_t accumulate_steps) {
    auto options = TinyTPUOptions(Dir(), 2, 2);
    options.train_batch_size = batch;
    options.config.accumulate_steps = accumulate_steps;
    const auto recorder = std::make_shared<RunRecorder>();
    TinyTPUEstimator estimator(options);
    const auto input = [](const Params& params) {
      return TinyDataset(params.batch_size, 16).Repeat();
    };
    EST_EXPECT_OK(estimator.Train(input, Steps(6), {.hooks = {recorder}}));
    EXPECT_THAT(recorder->steps, ElementsAre(2, 4, 6));
    return recorder->losses;
  };
  EXPECT_THAT(losses_of(8, 2), ::testing::Pointwise(::testing::DoubleNear(1e-6), losses_of(16, 1)));
}

TEST_F(TPUTrainTest, SeveralBatchesAreRefusedWhereReplicasAreTakenToBeEqual) {
  auto options = TinyTPUOptions(Dir(), 2, 2);
  options.config.accumulate_steps = 2;
  options.config.tpu_config.per_host_input_for_training = InputPipelineConfig::BROADCAST;
  TinyTPUEstimator estimator(options);
  EXPECT_THAT(estimator.Train(TinyTrainInput, Steps(2)),
              ErrorHas("accumulate_steps with an input of BROADCAST"));
}

// Behaviour M6.
TEST_F(TPUTrainTest, TheSpecsHooksAreCalledOnceALoop) {
  auto options = TinyTPUOptions(Dir(), 2, 4);
  const auto hook = std::make_shared<RunRecorder>();
  options.model_fn = [hook](const Features& features, const Labels& labels, Mode mode,
                            const Params& params) {
    const ModelSpec spec = TinyTPUModel(features, labels, mode, params).spec();
    return TPUEstimatorSpec::Train(spec.loss, spec.train_op, {.training_hooks = {hook}});
  };
  Losses(options, 6);
  EXPECT_THAT(hook->steps, ElementsAre(4, 6));
  EXPECT_EQ(hook->num_ends, 1);
}

// Fixed bug: a SIGTERM waited for the end of the loop, longer than the usual 30 s until a SIGKILL.
TEST_F(TPUTrainTest, AnInterruptStopsInsideTheLoopAndTheNextStartGoesOnToTheSameBits) {
  int num_batches = 0;
  const auto input = [&num_batches](const Params& params) {
    return Dataset::FromTensorSlices(TinyExamples(24))
        .Shuffle(24)
        .Repeat()
        .Batch(params.batch_size)
        .Map([&num_batches](const Element& batch) -> absl::StatusOr<Element> {
          if (++num_batches == 12) RequestInterruptForTest();  // never again
          return batch;
        });
  };
  const auto options = TinyTPUOptions(Dir(), 2, 8);
  TinyTPUEstimator estimator(options);
  const absl::Status status = estimator.Train(input, MaxSteps(20));
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kCancelled, HasSubstr("; saved in")));
  const int64_t step = estimator.GetVariableValue("global_step")->scalar<int64_t>();
  EXPECT_GT(step, 8);
  EXPECT_LT(step, 16) << "inside the second loop";
  ClearInterrupt();
  TinyTPUEstimator restarted(options), whole(TinyTPUOptions(Dir(), 2, 8));
  EST_ASSERT_OK(restarted.Train(input, MaxSteps(20)));
  EST_ASSERT_OK(whole.Train(input, MaxSteps(20)));
  EXPECT_EQ(*CheckpointBits(**restarted.LatestCheckpoint()),
            *CheckpointBits(**whole.LatestCheckpoint()));
}

TEST_F(TPUTrainTest, ANaNInOneReplicaInTheMiddleOfALoopNamesStepTensorAndReplica) {
  auto options = TinyTPUOptions(Dir(), 4, 5);
  options.model_fn = [](const Features& features, const Labels& labels, Mode mode,
                        const Params& params) {
    const Tensor logs = Log(features["x"], "logs");
    const Tensor loss = TinyLoss(labels, layers::Dense(logs, {.units = 1}));
    if (mode == Mode::kEval) return TPUEstimatorSpec::Eval(loss);
    return TPUEstimatorSpec::Train(loss, train::GradientDescent(0.1).Minimize(loss));
    static_cast<void>(params);
  };
  TinyTPUEstimator estimator(options);
  const absl::Status status = estimator.Train(
      [](const Params& params) {
        Array x(DType::kFloat32, {24, 3});
        for (int64_t i = 0; i < 72; ++i)
          x.data<float>()[i] = i == 3 * 21 + 1 ? -1.0f : 1.0f + 0.1f * static_cast<float>(i);
        return Dataset::FromTensorSlices(
                   {.features = {{"x", x}}, .labels = TinyExamples(24).labels})
            .Batch(params.batch_size)
            .Repeat();
      },
      Steps(10));
  EXPECT_THAT(status, ErrorIs(AllOf(HasSubstr("NaN loss during training, at step 3"),
                                    HasSubstr("logs:0 (f32 [2,3]) is NaN at [1,1] on replica 2, "
                                              "row 5 of the batch of all replicas"))));
  EXPECT_EQ(estimator.GetVariableValue("global_step")->scalar<int64_t>(), 0)
      << "only the first checkpoint is there";
}

// The batch has 16 examples, two for each of 8 replicas. Example 9 is the first wrong one.
TEST_F(TPUTrainTest, AnErrorNamesTheRowOfTheBatchAndNotOnlyThatOfTheReplica) {
  enum class Wrong { kLabel, kIndex, kRange, kDivisor, kMatrix };
  const auto error = [&](Wrong wrong, int replicas) {
    auto options = TinyTPUOptions(Dir(), replicas);
    options.train_batch_size = 16;
    options.model_fn = [wrong](const Features& features, const Labels&, Mode, const Params&) {
      const Tensor code = features["code"];
      Tensor logits = layers::Dense(features["x"], {.units = 3}), codes = code;
      if (wrong == Wrong::kIndex) logits = Gather(Ones({3, 3}), code) + logits;
      if (wrong == Wrong::kRange) codes = CheckRange(code, {.high = 2, .what = "code"});
      if (wrong == Wrong::kDivisor) codes = Maximum(FloorDiv(code, code - 3), 0);
      if (wrong == Wrong::kMatrix) {
        const Tensor matrices = Reshape(Cast(3 - code, DType::kFloat32), Shape{-1, 1, 1});
        logits = logits + ReduceSum(Cholesky(matrices));
      }
      const Tensor loss = losses::SparseSoftmaxCrossEntropy(codes, logits);
      return TPUEstimatorSpec::Train(loss, train::GradientDescent(0.1).Minimize(loss));
    };
    const auto input = [](const Params& params) {
      Array x(DType::kFloat32, {16, 2}), code(DType::kInt32, {16});
      for (int i = 0; i < 32; ++i) x.data<float>()[i] = static_cast<float>(i % 5);
      for (int i = 0; i < 16; ++i) code.data<int32_t>()[i] = i == 9 ? 3 : i % 3;
      return Dataset::FromTensorSlices({.features = {{"x", x}, {"code", code}}, .labels = code})
          .Batch(params.batch_size, {.drop_remainder = true});
    };
    TinyTPUEstimator estimator(options);
    return std::string(estimator.Train(input, MaxSteps(1)).message());
  };
  EXPECT_THAT(error(Wrong::kLabel, 8),
              HasSubstr("row 9 (row 1 of replica 4) has label 3, but there are 3 classes"));
  EXPECT_THAT(error(Wrong::kLabel, 0), HasSubstr("row 9 has label 3, but there are 3 classes"));
  EXPECT_THAT(error(Wrong::kIndex, 8),
              HasSubstr("indices[9] (indices[1] of replica 4) = 3 is not in [0, 3)"));
  EXPECT_THAT(error(Wrong::kIndex, 0), HasSubstr("indices[9] = 3 is not in [0, 3)"));
  EXPECT_THAT(error(Wrong::kRange, 8),
              HasSubstr("element 9 (element 1 of replica 4) of i32 [2] is 3"));
  EXPECT_THAT(error(Wrong::kDivisor, 8),
              HasSubstr("element 9 (element 1 of replica 4) of the divisor is 0"));
  EXPECT_THAT(error(Wrong::kMatrix, 8), HasSubstr("It is matrix 9 (matrix 1 of replica 4) of 16."));
  EXPECT_THAT(error(Wrong::kMatrix, 0), HasSubstr("It is matrix 9 of 16."));
}

TEST_F(TPUTrainTest, TheBannerSaysWhereTheRunIsHowLargeAndWhereItsFilesGo) {
  for (const int replicas : {0, 4}) {
    const std::string dir = Dir();
    const auto banner = [&] {
      const testing::CapturedLog log;
      TinyTPUEstimator estimator(TinyTPUOptions(dir, replicas));
      EST_EXPECT_OK(estimator.Train(TinyTrainInput, Steps(3)));
      EST_EXPECT_OK(estimator.Train(TinyTrainInput, Steps(3)));
      std::string text;
      for (const std::string& line : log.infos) {
        if (absl::StartsWith(line, "Training\n")) text += line;
      }
      absl::RemoveExtraAsciiWhitespace(&text);
      return text;
    };
    const std::string first = banner(), second = banner();
    const std::string where = replicas == 0 ? "backend: CPU" : "backend: 4 in-process replicas",
                      batch = replicas == 0 ? "batch: 8" : "batch: 8 (4 x 2)";
    EXPECT_THAT(first, AllOf(HasSubstr(absl::StrCat(where, "\n", batch,
                                                    "\nparameters: 17 in 4 variables\nmemory: ")),
                             HasSubstr(" planned for a step\n"), HasSubstr("\nseed: 7\n"),
                             HasSubstr("\ninput: Slices > "), HasSubstr("\nmodel_dir: " + dir),
                             HasSubstr("\nstart: a new run")));
    EXPECT_EQ(first.find("backend:"), first.rfind("backend:")) << "once an estimator";
    EXPECT_THAT(second, HasSubstr("\nstart: continues after step 6"));
  }
}

}  // namespace
}  // namespace estimator::tpu
