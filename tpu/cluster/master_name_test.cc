#include "tpu/cluster/master_name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "estimator/base/testing/status_matchers.h"

namespace estimator::tpu {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kRemote[] = "grpc://10.0.0.2:8470";

// Behaviour K6.
TEST(TPUJobName, IsThatOfTheWorkersOfTheCluster) {
  EXPECT_EQ(*TPUJobName("", {}, ""), "");
  EXPECT_EQ(*TPUJobName("local", {{"worker", {"a:1"}}}, ""), "");
  EXPECT_EQ(*TPUJobName("pjrt:/lib/libtpu.so", {}, ""), "");
  EXPECT_EQ(*TPUJobName(kRemote, {}, ""), "tpu_worker");
  EXPECT_EQ(*TPUJobName(kRemote, {{"worker", {"a:1"}}}, ""), "worker");
  EXPECT_EQ(*TPUJobName(kRemote, {{"worker", {"a:1"}}, {"coordinator", {"b:1"}}}, ""), "worker");
  EXPECT_EQ(*TPUJobName(kRemote, {{"worker", {"a:1"}}, {"other", {"b:1"}}}, "mine"), "mine");
}

// Behaviour K6.
TEST(TPUJobName, JobsThatLeaveAChoiceAreRefused) {
  EXPECT_THAT(TPUJobName(kRemote, {{"worker", {"a:1"}}, {"other", {"b:1"}}}, ""),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("the jobs of the cluster (other, worker)"),
                             HasSubstr("TPUConfig.tpu_job_name"))));
  EXPECT_THAT(TPUJobName(kRemote, {{"tpu_worker", {"a:1"}}}, ""),
              ErrorHas("\"tpu_worker\" is not an allowed name"));
}

TEST(CannotDrive, SaysHowToRunOnTheTpuInstead) {
  EXPECT_THAT(CannotDrive(kRemote, "TPU_NAME"),
              StatusIs(absl::StatusCode::kUnimplemented,
                       AllOf(HasSubstr("grpc://10.0.0.2:8470 (from TPU_NAME)"),
                             HasSubstr("--master=pjrt:/path/libtpu.so"))));
}

TEST(Masters, AreLocalOrAPluginOrRemote) {
  for (const char* master : {"", "local"}) EXPECT_TRUE(IsLocalMaster(master));
  EXPECT_FALSE(IsLocalMaster(kRemote));
  EXPECT_TRUE(IsPluginMaster("pjrt:/lib/libtpu.so"));
  EXPECT_FALSE(IsPluginMaster("local"));
}

}  // namespace
}  // namespace estimator::tpu
