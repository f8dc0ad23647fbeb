// Runs on replicas that stop and continue, call after call and process after process.

#include "estimator/base/testing/child_memory.h"
#include "estimator/base/testing/memory.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "gtest/gtest.h"
#include "tpu/testing/tiny_tpu_model.h"

namespace estimator::tpu {
namespace {

// Each replica of PER_SHARD_V1 shuffles a part of its own.
Dataset Shuffled(const Params& params) {
  return Dataset::FromTensorSlices(TinyExamples(48))
      .Shard(params.context.num_invocations, params.context.invocation)
      .Shuffle(48)
      .Repeat()
      .Batch(params.batch_size);
}

std::string FinalBits(const TinyTPUEstimator& estimator) {
  return *CheckpointBits(**estimator.LatestCheckpoint());
}

TEST(TPUResume, SeveralProcessesAndCallsGiveTheBitsOfOneInEveryInputMode) {
  const TempDir dir;
  for (const auto mode : {InputPipelineConfig::PER_SHARD_V1, InputPipelineConfig::PER_HOST_V1,
                          InputPipelineConfig::PER_HOST_V2, InputPipelineConfig::BROADCAST}) {
    SCOPED_TRACE(static_cast<int>(mode));
    const auto options = [&](const char* name) {
      auto result = TinyTPUOptions(dir.File(name + std::to_string(static_cast<int>(mode))), 4, 3);
      result.config.tpu_config.per_host_input_for_training = mode;
      return result;
    };
    TinyTPUEstimator whole(options("whole"));
    const absl::Status trained = whole.Train(Shuffled, MaxSteps(12));
    EST_ASSERT_OK(trained);
    {
      TinyTPUEstimator first(options("parts"));
      EST_ASSERT_OK(first.Train(Shuffled, Steps(3)));
      EST_ASSERT_OK(first.Evaluate(TinyEvalInput));
      EST_ASSERT_OK(first.Train(Shuffled, Steps(2)));
    }
    TinyTPUEstimator second(options("parts"));
    EST_ASSERT_OK(second.Train(Shuffled, MaxSteps(12)));
    EXPECT_EQ(FinalBits(second), FinalBits(whole));
  }
}

// Behaviour M14: the variables have the same names and layouts, however they were trained.
TEST(TPUResume, ARunGoesOnWithAnotherNumberOfReplicasAndAPlainEstimatorReadsIt) {
  const TempDir dir;
  TinyTPUEstimator replicas(TinyTPUOptions(dir.File("m"), 4)),
      local(TinyTPUOptions(dir.File("m"), 0)), straight(TinyTPUOptions(dir.File("s"), 0));
  EST_ASSERT_OK(replicas.Train(TinyTrainInput, Steps(5)));
  EST_ASSERT_OK(local.Train(TinyTrainInput, Steps(5)));
  EST_ASSERT_OK(straight.Train(TinyTrainInput, Steps(10)));
  const auto a = local.Evaluate(TinyEvalInput), b = straight.Evaluate(TinyEvalInput);
  EST_ASSERT_OK(a);
  EST_ASSERT_OK(b);
  EXPECT_NEAR((*a)["loss"], (*b)["loss"], 1e-5 * (*b)["loss"])
      << "the input's position is the same for both";
  EXPECT_EQ(a->global_step(), 10);
  // Where the position cannot be the same one, the input starts at its beginning.
  auto per_replica = TinyTPUOptions(dir.File("m"), 2);
  per_replica.config.tpu_config.per_host_input_for_training = InputPipelineConfig::PER_SHARD_V1;
  EST_ASSERT_OK(TinyTPUEstimator(per_replica).Train(TinyTrainInput, Steps(2)));
  EST_ASSERT_OK(TinyTPUEstimator(TinyTPUOptions(dir.File("m"), 0)).Train(TinyTrainInput, Steps(2)));
  EXPECT_EQ(local.GetVariableValue("global_step")->scalar<int64_t>(), 14);
  Estimator<TinyParams> plain(TinyOptions(dir.File("plain")));
  const auto read = plain.Evaluate([](const TinyParams&) { return TinyDataset(7); },
                                   {.checkpoint_path = dir.File("m/model.ckpt-10")});
  EST_ASSERT_OK(read);
  EXPECT_NEAR((*read)["loss"], (*a)["loss"], 1e-6 * (*a)["loss"]);
}

TEST(TPUResume, AThousandRoundsOnReplicasReuseProgramsAndLeakNothing) {
  testing::PutTempDirsIntoMemory();
  for (const bool checkpoints : {false, true}) {
    SCOPED_TRACE(checkpoints ? "with checkpoints" : "without checkpoints");
    const TempDir dir;
    constexpr int kRounds = 1000;
    int num_models = 0;
    auto options = TinyTPUOptions(dir.File("m"), 2);
    if (!checkpoints) options.config.save_checkpoints_steps = 0;
    options.model_fn = [&num_models](const Features& features, const Labels& labels, Mode mode,
                                     const Params& params) {
      ++num_models;
      return TinyTPUModel(features, labels, mode, params);
    };
    TinyTPUEstimator estimator(options);
    const InputFn train = estimator.Input(TinyTrainInput);
    int64_t resident_after_warm_up = 0;
    for (int round = 0; round < kRounds; ++round) {
      if (round == kRounds / 4) resident_after_warm_up = ResidentBytes();
      EST_ASSERT_OK(estimator.Train(train, Steps(1)));
      const auto result = estimator.Evaluate(TinyEvalInput);
      EST_ASSERT_OK(result);
      ASSERT_EQ(result->global_step(), round + 1);
    }
    testing::ExpectGrowthBelow(ResidentBytes() - resident_after_warm_up, 1 << 20);
    EXPECT_EQ(num_models, 3);
    EXPECT_EQ((*estimator.LatestCheckpoint()).has_value(), checkpoints);
  }
}

}  // namespace
}  // namespace estimator::tpu
