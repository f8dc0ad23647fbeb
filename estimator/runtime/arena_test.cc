#include "estimator/runtime/arena.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "estimator/base/testing/status_matchers.h"

namespace estimator {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kGiB = int64_t{1} << 30;
constexpr int64_t kAbsurd = int64_t{1} << 55;

TEST(ArenaTest, GrowsAndKeepsWhatItHas) {
  Arena arena;
  EST_ASSERT_OK(arena.Reserve(100));
  EXPECT_GE(arena.bytes(), 100);
  char* const data = arena.data();
  EST_ASSERT_OK(arena.Reserve(50));
  EXPECT_EQ(arena.data(), data);
  EST_ASSERT_OK(arena.Reserve(3 << 20));
  EXPECT_GE(arena.bytes(), 3 << 20);
}

// A fixed bug: the program ended without a word of what to do.
TEST(ArenaTest, WhatTheSystemRefusesIsAnError) {
  Arena arena;
  const absl::Status status = arena.Reserve(kAbsurd);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kResourceExhausted,
                               HasSubstr("refuses to allocate 32.0 PiB for a step")));
  EXPECT_EQ(arena.bytes(), 0);
  EST_EXPECT_OK(arena.Reserve(100));
}

// A fixed bug: the kernel ended the process in the middle of the first step.
TEST(ArenaTest, WhatTheMachineDoesNotHaveIsAnErrorBeforeItIsUsed) {
  const AvailableMemory available{
      .bytes = 4 * kGiB, .swap_bytes = kGiB, .bound = "the machine's 16.0 GiB"};
  EST_EXPECT_OK(CheckMemory(Arenas(4), kGiB, 0, available));
  EST_EXPECT_OK(CheckMemory(Arenas(5), kGiB, 0, available)) << "by swapping";
  const absl::Status status = CheckMemory(Arenas(8), kGiB, 0, available);
  EXPECT_THAT(
      status,
      StatusIs(
          absl::StatusCode::kResourceExhausted,
          "out of memory: a step is planned to take 8.0 GiB (8 replicas x 1.0 GiB), but only 4.0 "
          "GiB of the machine's 16.0 GiB are free; take a smaller batch"));
  EST_EXPECT_OK(CheckMemory(Arenas(8), kGiB, 0, std::nullopt)) << "not known";
}

TEST(ArenaTest, WhatAProgramKeepsIsCountedOnce) {
  const AvailableMemory available{
      .bytes = 4 * kGiB, .swap_bytes = 0, .bound = "the machine's 16.0 GiB"};
  EST_EXPECT_OK(CheckMemory(Arenas(2), kGiB, kGiB, available, kGiB));
  EXPECT_THAT(CheckMemory(Arenas(2), kGiB, kGiB, available, 2 * kGiB),
              ErrorHas("is planned to take 5.0 GiB (2 replicas x 1.0 GiB + 3.0 GiB), but only"));
}

TEST(ArenaTest, WhatReplicasShareIsCountedOnce) {
  const AvailableMemory available{
      .bytes = 4 * kGiB, .swap_bytes = 0, .bound = "the machine's 16.0 GiB"};
  EST_EXPECT_OK(CheckMemory(Arenas(2), kGiB, 2 * kGiB, available));
  EXPECT_THAT(CheckMemory(Arenas(2), kGiB, 3 * kGiB, available),
              ErrorHas("is planned to take 5.0 GiB (2 replicas x 1.0 GiB + 3.0 GiB), but only"));
}

TEST(ArenaTest, OnlyWhatAnArenaLacksIsAskedFor) {
  const Arenas arenas(2);
  for (const auto& arena : arenas.own) EST_ASSERT_OK(arena->Reserve(100 << 20));
  const AvailableMemory none{.bytes = 0, .swap_bytes = 0, .bound = "nothing"};
  EST_EXPECT_OK(CheckMemory(arenas, 100 << 20, 0, none));
  EXPECT_FALSE(CheckMemory(arenas, 101 << 20, 0, none).ok());
  EST_EXPECT_OK(ReserveArenas(arenas, 100 << 20));
  EXPECT_FALSE(CheckMemory(arenas, 100 << 20, 1 << 20, none).ok());
  EXPECT_THAT(ReserveArenas(arenas, kAbsurd), StatusIs(absl::StatusCode::kResourceExhausted));
}

}  // namespace
}  // namespace estimator
