#include "tpu/tpu_config.h"

#include "absl/strings/str_cat.h"
#include "estimator/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator::tpu {
namespace {

TEST(TPUConfig, DefaultsAreTensorFlowsAndEightReplicas) {
  const TPUConfig config;
  EXPECT_EQ(config.iterations_per_loop.value(), 2);
  EXPECT_EQ(config.replicas(), 8);
  EST_EXPECT_OK(config.Validate());
}

TEST(TPUConfig, ACheckIsOfTheRulesOrOfAKnownTopology) {
  TPUConfig config;
  for (const char* check : {"", "rules", "v2-8", "v3-8", "v4-8", "v5e-8", "v5p-8", "v6e-8"}) {
    config.check = check;
    EST_EXPECT_OK(config.Validate());
  }
  for (const char* check : {"rule", "v9-8", "v3-32", "v3"}) {
    config.check = check;
    EXPECT_THAT(config.Validate(),
                ErrorHas(absl::StrCat("check must be \"rules\" or a topology, v2-8, v3-8, v4-8, "
                                      "v5e-8, v5p-8, v6e-8; given \"",
                                      check, "\"")));
  }
}

// Behaviours K2 and K3.
TEST(TPUConfig, ListsAllThatIsOutOfRange) {
  TPUConfig config{.iterations_per_loop = "0s", .num_shards = 0};
  config.per_host_input_for_training =
      static_cast<InputPipelineConfig>(9);  // TensorFlow takes it silently
  const absl::Status status = config.Validate();
  for (const char* part :
       {"iterations_per_loop", "num_shards must be > 0, given 0", "per_host_input_for_training"}) {
    EXPECT_THAT(status, ErrorHas(part));
  }
}

TEST(TPUConfig, MoreShardsThan32BitsCountAreRefusedAndNotCut) {
  const TPUConfig config{.num_shards = (int64_t{1} << 32) + 1};
  EXPECT_THAT(config.Validate(), ErrorHas("num_shards must be <= 2147483647, given 4294967297"));
}

// Behaviour K3, its first part.
TEST(TPUConfig, ModelParallelismIsRefused) {
  TPUConfig config;
  for (const int64_t cores : {int64_t{0}, int64_t{7}, int64_t{256}}) {
    config.num_cores_per_replica = cores;
    EXPECT_THAT(config.Validate(),
                ErrorHas("num_cores_per_replica must be 1, 2, 4, 8, 16, 32, 64"));
  }
  config.num_cores_per_replica = 2;
  EXPECT_THAT(config.Validate(),
              ErrorHas("num_cores_per_replica is 2, but model parallelism is not supported"));
  config.num_cores_per_replica = 1;
  EST_EXPECT_OK(config.Validate());
}

// Behaviour K4. What TensorFlow accepts is refused as well, because there is no model parallelism.
TEST(TPUConfig, PartitionDimsAreRefusedWithAllThatIsWrong) {
  TPUConfig config{.input_partition_dims = {{1, 2}, {1}, {1}}};
  const absl::Status status = config.Validate();
  for (const char* part :
       {"input_partition_dims must have one element, for features, or two, for features and "
        "labels, given 3",
        "input_partition_dims needs per_host_input_for_training = PER_HOST_V2",
        "input_partition_dims needs num_cores_per_replica"}) {
    EXPECT_THAT(status, ErrorHas(part));
  }
  config = {.num_cores_per_replica = 2,
            .per_host_input_for_training = InputPipelineConfig::PER_HOST_V2,
            .input_partition_dims = {{1, 2}}};
  EXPECT_THAT(config.Validate(), ErrorHas("model parallelism is not supported; leave it out"));
}

TEST(RunConfig, ChecksItsOwnFieldsAndTPUConfigs) {
  RunConfig config;
  EST_EXPECT_OK(config.Validate());
  config.tpu_config = {.iterations_per_loop = 50, .num_shards = -8};
  EXPECT_FALSE(config.Validate().ok());
  config.save_summary_steps = -1;
  // Fixed bug: the second was said when the first was mended.
  const absl::Status both = config.Validate();
  EXPECT_THAT(both,
              ErrorHas("save_summary_steps must be >= 0, given -1; TPUConfig: num_shards must be"));
  config.tpu_config = {};
  EXPECT_FALSE(config.Validate().ok());
}

}  // namespace
}  // namespace estimator::tpu
