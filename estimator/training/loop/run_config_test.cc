#include "estimator/training/loop/run_config.h"

#include "estimator/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

// Behaviour B1.
TEST(RunConfig, DefaultsAreTensorFlows) {
  const RunConfig config;
  EXPECT_EQ(config.save_summary_steps, 100);
  EXPECT_FALSE(config.save_checkpoints_steps.has_value());
  EXPECT_EQ(RunConfig::kDefaultSaveCheckpointsSecs, 600);
  EXPECT_EQ(config.keep_checkpoint_max, 5);
  EXPECT_EQ(config.keep_checkpoint_every_n_hours, 10000);
  EXPECT_EQ(config.log_step_count_steps, 100);
  EXPECT_TRUE(config.checkpoint_save_graph_def);
  EST_EXPECT_OK(config.Validate());
}

// Behaviour B2.
TEST(RunConfig, StepsAndSecsTogetherAreRefused) {
  RunConfig config;
  config.save_checkpoints_steps = 10;
  EST_EXPECT_OK(config.Validate());
  config.save_checkpoints_secs = 10;
  EXPECT_THAT(config.Validate(), StatusIs(absl::StatusCode::kInvalidArgument));
}

// Behaviours B3 and B5: all violations in one message.
TEST(RunConfig, EveryValueOutOfRangeIsNamedAtOnce) {
  RunConfig config;
  config.model_dir = "";
  config.save_summary_steps = -1;
  config.keep_checkpoint_max = -2;
  config.keep_checkpoint_every_n_hours = 0;
  config.log_step_count_steps = 0;
  const absl::Status status = config.Validate();
  for (const char* field :
       {"model_dir", "save_summary_steps", "keep_checkpoint_max must be >= 0, given -2",
        "keep_checkpoint_every_n_hours", "log_step_count_steps"}) {
    EXPECT_THAT(status, ErrorHas(field)) << field;
  }
}

TEST(RunConfig, UnknownPassesAndABackwardRangeAreRefused) {
  RunConfig config;
  config.disable_passes = {"fuse_bias", "fuse_everything"};
  config.profile_steps = StepRange{.first = 9, .last = 3};
  const absl::Status status = config.Validate();
  for (const char* part : {"\"fuse_everything\"", "can be disabled are merge_equal",
                           "profile_steps must begin at step 1 or later", "given 9,3"}) {
    EXPECT_THAT(status, ErrorHas(part)) << part;
  }
}

TEST(RunConfig, ItsCompilerSettingsReachCompileOptions) {
  RunConfig config;
  config.conv_algorithm = ConvAlgorithm::kDirect;
  config.compute_dtype = DType::kBfloat16;
  config.disable_passes = {"fuse_bias"};
  config.print_plan = true;
  config.step_timeout_secs = 3;
  const CompileOptions options = WithRunConfig({.disable_passes = {"fuse_pool"}}, config);
  EXPECT_EQ(options.conv_algorithm, ConvAlgorithm::kDirect);
  EXPECT_EQ(options.compute_dtype, DType::kBfloat16);
  EXPECT_TRUE(options.print_plan);
  EXPECT_EQ(options.step_timeout_secs, 3);
  EXPECT_FALSE(options.check_kernels);
  EXPECT_FALSE(Runs(options, "fuse_bias"));
  EXPECT_FALSE(Runs(options, "fuse_pool"));
  // A config that says nothing changes nothing.
  const CompileOptions own{.conv_algorithm = ConvAlgorithm::kWinograd, .check_kernels = true};
  EXPECT_EQ(WithRunConfig(own, {}).conv_algorithm, ConvAlgorithm::kWinograd);
  EXPECT_TRUE(WithRunConfig(own, {}).check_kernels);
  EXPECT_EQ(WithRunConfig({.compute_dtype = DType::kBfloat16}, {}).compute_dtype, DType::kBfloat16);
}

TEST(RunConfig, OnlyFloat32AndBfloat16AreTypesToComputeIn) {
  RunConfig config;
  config.compute_dtype = DType::kBfloat16;
  EST_EXPECT_OK(config.Validate());
  config.compute_dtype = DType::kFloat16;
  EXPECT_THAT(config.Validate(),
              ErrorHas("compute_dtype must be float32 or bfloat16, given float16"));
}

// Behaviour B4.
TEST(RunConfig, EveryNullableFieldAcceptsNone) {
  RunConfig config;
  config.save_summary_steps = std::nullopt;
  config.keep_checkpoint_max = std::nullopt;
  config.log_step_count_steps = std::nullopt;
  config.tf_random_seed = std::nullopt;
  EST_EXPECT_OK(config.Validate());
}

}  // namespace
}  // namespace estimator
