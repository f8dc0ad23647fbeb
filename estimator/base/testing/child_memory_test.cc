#include "estimator/base/testing/child_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <memory>

#include "estimator/base/testing/status_matchers.h"

namespace estimator {
namespace {

constexpr size_t kBytes = size_t{32} << 20;

// Memory that the system had to give, whatever a compiler makes of it.
std::unique_ptr<volatile char[]> Held() {
  std::unique_ptr<volatile char[]> held(new volatile char[kBytes]);
  for (size_t i = 0; i < kBytes; i += 1024) held[i] = 1;
  return held;
}

TEST(MeasureInChild, CountsWhatTheWorkHeldAtItsPeakAndNotWhatWasThereBefore) {
  const auto before = Held();
  const auto memory = MeasureInChild([] {
    const auto held = Held();
    return held[kBytes / 2] == 1 ? absl::OkStatus() : absl::InternalError("not written");
  });
  EST_ASSERT_OK(memory);
  EXPECT_GE(memory->growth_bytes, static_cast<int64_t>(kBytes));
  EXPECT_GE(memory->peak_bytes, static_cast<int64_t>(2 * kBytes));
  EXPECT_GT(memory->seconds, 0);
  if (kMemoryIsTrue) {
    EXPECT_LT(memory->growth_bytes, static_cast<int64_t>(kBytes + kBytes / 4));
  }
}

TEST(ResidentBytes, GrowsByWhatIsHeld) {
  const int64_t before = ResidentBytes();
  // Not from malloc, which may give what it has kept.
  void* const held = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  ASSERT_NE(held, MAP_FAILED);
  const int64_t after = ResidentBytes();
  ::munmap(held, kBytes);
  EXPECT_GE(after - before, static_cast<int64_t>(kBytes / 2));  // the kernel counts roughly
}

TEST(MeasureInChild, AnErrorOfTheWorkAndADeadChildAreErrors) {
  const auto failed = MeasureInChild([] { return absl::DataLossError("byte 7"); });
  EXPECT_EQ(failed.status(), absl::DataLossError("byte 7"));
  const auto died = MeasureInChild([]() -> absl::Status { ::_exit(3); });
  EXPECT_THAT(died, StatusIs(absl::StatusCode::kAborted));
}

}  // namespace
}  // namespace estimator
