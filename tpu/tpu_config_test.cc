#include "tpu/tpu_config.h"

#include "estimator/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator::tpu {
namespace {

TEST(TPUConfig, DefaultsAreTensorFlowsAndEightShards) {
  const TPUConfig config;
  EXPECT_EQ(config.iterations_per_loop.value(), 2);
  EXPECT_EQ(config.replicas(), 8);
  EST_EXPECT_OK(config.Validate());
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
