#include "models/common/run_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "estimator/base/flag_spelling.h"
#include "estimator/base/testing/status_matchers.h"
#include "tpu/rules/topology_check.h"

DECLARE_bool(detect_accelerator);
DECLARE_bool(tpu_numerics);
DECLARE_string(tpu);
DECLARE_string(tpu_zone);
DECLARE_string(master);
DEFINE_string(result_json, "", "as programs have it");

namespace estimator {
namespace {

class RunFlagsTest : public ::testing::Test {
 protected:
  // Whatever devices the machine has, there is no library that drives them.
  static void SetUpTestSuite() {
    ASSERT_EQ(setenv("TPU_LIBRARY_PATH", "/nowhere/libtpu.so", 1), 0);
    for (const char* variable : {"PJRT_NAMES_AND_LIBRARY_PATHS", "TPU_NAME", "TPU_CONFIG",
                                 "KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS"}) {
      ASSERT_EQ(unsetenv(variable), 0);
    }
  }
  static void Set(const char* flag, const char* value) {
    ASSERT_NE(gflags::SetCommandLineOption(flag, value), "") << flag;
  }
  gflags::FlagSaver saver_;
};

TEST_F(RunFlagsTest, TheReplicasAreNumShardsUnlessTheModelRunsOnTheCpu) {
  EXPECT_EQ(NumReplicasFromFlags(), 8);
  EXPECT_EQ(RunConfigFromFlags().tpu_config.replicas(), 8);
  Set("num_shards", "4");
  EXPECT_EQ(NumReplicasFromFlags(), 4);
  Set("use_tpu", "false");
  EXPECT_EQ(NumReplicasFromFlags(), 1);
  EXPECT_EQ(RunConfigFromFlags().tpu_config.replicas(), 1);
  EXPECT_TRUE(BatchRequirement("batch_size", 7).holds);
}

TEST_F(RunFlagsTest, AnUnknownTopologyIsRefusedBeforeAnythingElse) {
  Set("tpu_check", "v9-8");
  EXPECT_THAT(RequireFlags({}), ErrorHas("a topology, v2-8, v3-8, v4-8, v5e-8, v5p-8, v6e-8; "
                                         "given \"v9-8\""));
}

TEST_F(RunFlagsTest, ACheckOfATopologyNeedsTheCompiler) {
  Set("tpu_check", "v3-8");
  EXPECT_THAT(RequireFlags({}), ErrorHas("/nowhere/libtpu.so"));
  Set("tpu_check", "rules");
  EST_EXPECT_OK(RequireFlags({}));
}

TEST_F(RunFlagsTest, AProgramWithTheseFlagsHasTheCompiler) {
  EXPECT_NE(tpu::FindTopologyCheck(), nullptr);
}

TEST_F(RunFlagsTest, AProgramWithACheckOnlyChecks) {
  EXPECT_FALSE(OnlyChecks());
  for (const char* check : {"rules", "v3-8"}) {
    Set("tpu_check", check);
    EXPECT_TRUE(OnlyChecks()) << check;
  }
}

TEST_F(RunFlagsTest, TheLimitsOfACheckNeedATopology) {
  Set("tpu_check_fill", "true");
  EXPECT_THAT(RequireFlags({}), ErrorHas("--tpu_check_fill: needs a topology"));
  Set("tpu_check_fill", "false");
  Set("tpu_check_seconds", "60");
  Set("tpu_check", "rules");
  EXPECT_THAT(RequireFlags({}), ErrorHas("--tpu_check_seconds: needs a topology"));
  Set("tpu_check", "v3-8");
  for (const char* seconds : {"0", "-1", "inf", "nan"}) {
    Set("tpu_check_seconds", seconds);
    EXPECT_THAT(RequireFlags({}), ErrorHas("--tpu_check_seconds must be positive and finite"));
  }
}

TEST_F(RunFlagsTest, RunConfigFromFlagsSetsTheLimitsOfChecks) {
  Set("tpu_check_seconds", "60");
  Set("tpu_check_fill", "true");
  RunConfigFromFlags();
  EXPECT_EQ(tpu::GetTopologyCheckSettings().seconds, 60);
  EXPECT_TRUE(tpu::GetTopologyCheckSettings().fill);
}

TEST_F(RunFlagsTest, ChecksBeforeARunAreFieldsOfTheConfig) {
  EXPECT_EQ(RunConfigFromFlags().num_sanity_val_steps, RunConfig().num_sanity_val_steps);
  Set("find_learning_rate", "/nowhere/rate.png");
  Set("summary", "true");
  EXPECT_THAT(RequireFlags({}), ErrorHas("only one of --find_learning_rate, --find_batch_size, "));
  EXPECT_THAT(RequireFlags({}), ErrorHas("--overfit_batches, --summary and --dry_run can be set"));
  EXPECT_THAT(RequireFlags({}), ErrorHas("--find_learning_rate must be a file in a folder that"));
  Set("find_learning_rate", "--use_tpu=false");
  Set("summary", "false");
  EXPECT_THAT(RequireFlags({}), ErrorHas("--find_learning_rate must be the name of a .png file"));
  Set("find_learning_rate", "");
  Set("overfit_batches", "-1");
  EXPECT_THAT(RequireFlags({}), ErrorHas("--overfit_batches must be >= 0, given -1"));
  Set("overfit_batches", "3");
  Set("num_sanity_val_steps", "0");
  Set("max_compiled_shapes", "3");
  EST_EXPECT_OK(RequireFlags({}));
  EXPECT_EQ(RunConfigFromFlags().overfit_batches, 3);
  EXPECT_EQ(RunConfigFromFlags().num_sanity_val_steps, 0);
  EXPECT_EQ(RunConfigFromFlags().max_compiled_shapes, 3);
}

TEST_F(RunFlagsTest, ADryRunWritesNoResults) {
  Set("result_json", "result.json");
  EST_EXPECT_OK(RequireFlags({}));
  EXPECT_EQ(FLAGS_result_json, "result.json");
  Set("dry_run", "true");
  EST_EXPECT_OK(RequireFlags({}));
  EXPECT_EQ(FLAGS_result_json, "/dev/null");
  EXPECT_TRUE(RunConfigFromFlags().dry_run);
}

TEST_F(RunFlagsTest, AutoFallsBackToTheCpu) {
  EXPECT_EQ(MeaningOfArgument("--use_tpu=auto"), "--detect_accelerator=true");
  Set("detect_accelerator", "true");
  EXPECT_TRUE(BatchRequirement("batch_size", 7).holds);
  EST_EXPECT_OK(RequireFlags({}));
  const tpu::RunConfig config = RunConfigFromFlags();
  EXPECT_FALSE(FLAGS_use_tpu);
  EXPECT_EQ(NumReplicasFromFlags(), 1);
  EXPECT_EQ(config.tpu_config.replicas(), 1);
  EXPECT_EQ(config.master, "");
}

// On a machine without a TPU, --use_tpu=auto --tpu_check=rules checked the program for one core.
TEST_F(RunFlagsTest, ACheckIsForTheReplicasIfNoTpuIsFound) {
  Set("tpu_check", "rules");
  for (const char* flag : {"nothing", "use_tpu", "detect_accelerator"}) {
    SCOPED_TRACE(flag);
    const gflags::FlagSaver saver;
    if (flag == std::string("use_tpu")) Set(flag, "false");
    if (flag == std::string("detect_accelerator")) Set(flag, "true");
    EXPECT_EQ(NumReplicasFromFlags(), 8);
    EXPECT_EQ(RunConfigFromFlags().tpu_config.replicas(), 8);
  }
}

TEST_F(RunFlagsTest, AutoExcludesTheFlagsThatChooseToo) {
  Set("detect_accelerator", "true");
  Set("use_tpu", "true");
  Set("master", "pjrt:/lib/libtpu.so");
  Set("num_shards", "4");
  const absl::Status status = RequireFlags({});
  for (const char* part : {"--use_tpu: is given as auto and as true or false",
                           "--master: is given with --use_tpu=auto",
                           "--num_shards: is given with --tpu or --use_tpu=auto"}) {
    EXPECT_THAT(status, ErrorHas(part));
  }
}

TEST_F(RunFlagsTest, AZoneWithoutATpuIsRefused) {
  Set("tpu_zone", "us-central1-b");
  EXPECT_THAT(RequireFlags({}), ErrorHas("--tpu_zone: needs --tpu"));
}

// Fixed bug: the messages named the fields of RunConfig and TPUConfig.
TEST_F(RunFlagsTest, ErrorsOfTheConfigNameTheFlags) {
  Set("iterations", "0");
  Set("num_shards", "0");
  Set("tpu_check", "v9-8");
  Set("save_checkpoints_steps", "-1");
  Set("save_checkpoints_secs", "5");
  Set("disable_passes", "x");
  const absl::Status status = RequireFlags({});
  EXPECT_THAT(
      status,
      ErrorHas("--save_checkpoints_steps must be >= 0, given -1; --save_checkpoints_steps and "
               "--save_checkpoints_secs cannot be both set; --disable_passes has unknown names: "
               "\"x\"; the passes that can be disabled are merge_equal, sink_transposes, "));
  EXPECT_THAT(status, ErrorHas("; --iterations must be a number of steps >= 1, or a time as '30s', "
                               "'10m' or '1h'; given '0'; --num_shards must be > 0, given 0; "
                               "--tpu_check must be \"rules\" or a topology, "));
  EXPECT_THAT(status, ::testing::Not(ErrorHas("Config")));
}

TEST_F(RunFlagsTest, AMasterThatCannotBeUsedIsRefused) {
  Set("master", "grpc://10.0.0.2:8470");
  EXPECT_THAT(RequireFlags({}),
              ErrorHas("--master: the TPU at grpc://10.0.0.2:8470 is on another machine"));
  Set("master", "pjrt:");
  EXPECT_THAT(RequireFlags({}), ErrorHas("--master: pjrt: needs the path of a plugin"));
  Set("master", "local");
  EST_EXPECT_OK(RequireFlags({}));
  Set("master", "grpc://10.0.0.2:8470");
  Set("use_tpu", "false");
  EST_EXPECT_OK(RequireFlags({}));
}

TEST_F(RunFlagsTest, NumericsAreThoseOfTheFlag) {
  EXPECT_FALSE(RunConfigFromFlags().tpu_config.tpu_numerics);
  Set("tpu_numerics", "true");
  EXPECT_TRUE(RunConfigFromFlags().tpu_config.tpu_numerics);
}

}  // namespace
}  // namespace estimator
