#include "tpu/cluster/tpu_slice.h"

#include <gtest/gtest.h>

#include "estimator/base/testing/status_matchers.h"

namespace estimator::tpu {
namespace {

TEST(TPUSlice, TheTypeSaysChipsReplicasAndHosts) {
  struct Case {
    const char* type;
    int64_t chips, replicas, hosts;
  };
  for (const Case& c : {Case{"v2-8", 4, 8, 1}, Case{"v3-8", 4, 8, 1}, Case{"v3-32", 16, 32, 4},
                        Case{"v4-8", 4, 4, 1}, Case{"v4-16", 8, 8, 2}, Case{"v5p-8", 4, 4, 1},
                        Case{"v5litepod-1", 1, 1, 1}, Case{"v5litepod-8", 8, 8, 1},
                        Case{"v5e-16", 16, 16, 4}, Case{"v6e-4", 4, 4, 1}}) {
    EST_ASSERT_OK_AND_ASSIGN(const TPUSlice slice, ParseAcceleratorType(c.type));
    EXPECT_EQ(slice.num_chips, c.chips) << c.type;
    EXPECT_EQ(slice.num_replicas, c.replicas) << c.type;
    EXPECT_EQ(slice.num_hosts, c.hosts) << c.type;
  }
}

TEST(TPUGeneration, TheCompilerOfAV4HasADeviceForEachCore) {
  const TPUGeneration* const v4 = FindTPUGeneration("v4");
  ASSERT_NE(v4, nullptr);
  EXPECT_EQ(v4->devices_per_chip, 1);
  EXPECT_EQ(v4->compiler_devices_per_chip, 2);
  EXPECT_EQ(FindTPUGeneration("v9"), nullptr);
}

TEST(TPUSlice, AnotherTextIsRefusedWithTheTypes) {
  for (const char* type : {"", "v3", "v3-", "v3-0", "v3-7", "v3--8", "v9-8", "a100-8", "-8"}) {
    EXPECT_THAT(ParseAcceleratorType(type), ErrorHas("is not a TPU's accelerator type")) << type;
  }
}

}  // namespace
}  // namespace estimator::tpu
