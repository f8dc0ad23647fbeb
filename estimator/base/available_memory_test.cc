#include "estimator/base/available_memory.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"

namespace estimator {
namespace {

constexpr int64_t kMiB = 1 << 20;

// A machine of 1000 MiB with 600 MiB available and 50 MiB of free swap.
class AvailableMemoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Write("proc/meminfo",
          "MemTotal:        1024000 kB\nMemFree:  1 kB\nMemAvailable:     614400 kB\n"
          "SwapFree:          51200 kB\n");
  }
  void Write(const std::string& path, const std::string& text) {
    EST_ASSERT_OK(CreateDirectories(Dirname(root_.File(path))));
    EST_ASSERT_OK(WriteFileAtomically(root_.File(path), text));
  }
  AvailableMemory Read() { return ReadAvailableMemory(root_.path()).value(); }

  const TempDir root_;
};

TEST_F(AvailableMemoryTest, IsWhatTheMachineHasWhereNothingElseLimitsIt) {
  EXPECT_EQ(Read().bytes, 600 * kMiB);
  EXPECT_EQ(Read().swap_bytes, 50 * kMiB);
  EXPECT_EQ(Read().bound, "the machine's 1000.0 MiB");
}

TEST_F(AvailableMemoryTest, IsTheTightestLimitOfTheControlGroupsAboveTheProcess) {
  Write("proc/self/cgroup", "0::/slice/job\n");
  Write("sys/fs/cgroup/slice/job/memory.max", "max\n");
  Write("sys/fs/cgroup/slice/job/memory.current", "104857600\n");
  Write("sys/fs/cgroup/slice/memory.max", "314572800\n");
  Write("sys/fs/cgroup/slice/memory.current", "209715200\n");
  EXPECT_EQ(Read().bytes, 100 * kMiB);
  EXPECT_EQ(Read().swap_bytes, 0) << "the group may have none";
  EXPECT_EQ(Read().bound, "a limit of 300.0 MiB on its control group");
}

TEST_F(AvailableMemoryTest, CachesOfAGroupCanBeTaken) {
  Write("proc/self/cgroup", "0::/\n");
  Write("sys/fs/cgroup/memory.max", "314572800\n");
  Write("sys/fs/cgroup/memory.current", "209715200\n");
  Write("sys/fs/cgroup/memory.stat", "anon 5\ninactive_file 52428800\nactive_file 52428800\n");
  EXPECT_EQ(Read().bytes, 200 * kMiB);
}

// In a container the path of the group is the host's, and is not there.
TEST_F(AvailableMemoryTest, KnowsTheFirstVersionOfControlGroupsInAContainer) {
  Write("proc/self/cgroup", "7:cpu,cpuacct:/docker/abc\n4:memory:/docker/abc\n0::/\n");
  Write("sys/fs/cgroup/memory/memory.limit_in_bytes", "314572800\n");
  Write("sys/fs/cgroup/memory/memory.usage_in_bytes", "104857600\n");
  Write("sys/fs/cgroup/memory/memory.stat", "total_inactive_file 52428800\ninactive_file 1\n");
  EXPECT_EQ(Read().bytes, 250 * kMiB);
}

TEST_F(AvailableMemoryTest, AGroupWithoutALimitIsNone) {
  Write("proc/self/cgroup", "4:memory:/\n");
  Write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  Write("sys/fs/cgroup/memory/memory.usage_in_bytes", "104857600\n");
  EXPECT_EQ(Read().bytes, 600 * kMiB);
}

// A fixed bug: a step that could not be allocated was not refused before it ran.
TEST_F(AvailableMemoryTest, TheLimitOfTheAddressSpaceOfTheProcessCounts) {
  const std::string head = "Limit                     Soft Limit           Hard Limit    Units\n";
  Write("proc/self/statm", "25600 100 50 1 0 1 0\n");
  Write("proc/self/limits", head + "Max address space         unlimited   unlimited     bytes\n");
  EXPECT_EQ(Read().bytes, 600 * kMiB);
  Write("proc/self/limits", head + "Max address space         314572800   unlimited     bytes\n");
  EXPECT_EQ(Read().bytes, 300 * kMiB - 25600 * sysconf(_SC_PAGESIZE));
  EXPECT_EQ(Read().swap_bytes, 0);
  EXPECT_EQ(Read().bound, "a limit of 300.0 MiB on its address space (ulimit -v)");
}

TEST(AvailableMemory, IsUnknownWhereTheKernelDoesNotSay) {
  const TempDir nothing;
  EXPECT_FALSE(ReadAvailableMemory(nothing.path()).has_value());
}

TEST(AvailableMemory, OfThisMachineIsPlausible) {
  const auto available = ReadAvailableMemory();
  if (!available.has_value()) GTEST_SKIP();
  EXPECT_GT(available->bytes, kMiB);
}

}  // namespace
}  // namespace estimator
