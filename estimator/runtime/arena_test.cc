#include "estimator/runtime/arena.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace estimator {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kGiB = int64_t{1} << 30;
constexpr int64_t kAbsurd = int64_t{1} << 55;

std::vector<std::shared_ptr<Arena>> Arenas(int count) {
  std::vector<std::shared_ptr<Arena>> arenas;
  for (int i = 0; i < count; ++i) arenas.push_back(std::make_shared<Arena>());
  return arenas;
}

TEST(ArenaTest, GrowsAndKeepsWhatItHas) {
  Arena arena;
  ASSERT_TRUE(arena.Reserve(100).ok());
  EXPECT_GE(arena.bytes(), 100);
  char* const data = arena.data();
  ASSERT_TRUE(arena.Reserve(50).ok());
  EXPECT_EQ(arena.data(), data);
  ASSERT_TRUE(arena.Reserve(3 << 20).ok());
  EXPECT_GE(arena.bytes(), 3 << 20);
}

// A fixed bug: the program ended without a word of what to do.
TEST(ArenaTest, WhatTheSystemRefusesIsAnError) {
  Arena arena;
  const absl::Status status = arena.Reserve(kAbsurd);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()), HasSubstr("refuses 32.0 PiB for a step"));
  EXPECT_EQ(arena.bytes(), 0);
  EXPECT_TRUE(arena.Reserve(100).ok());
}

// A fixed bug: the kernel ended the process in the middle of the first step.
TEST(ArenaTest, WhatTheMachineDoesNotHaveIsAnErrorBeforeItIsUsed) {
  const AvailableMemory available{
      .bytes = 4 * kGiB, .swap_bytes = kGiB, .bound = "the machine's 16.0 GiB"};
  EXPECT_TRUE(CheckMemory(Arenas(4), kGiB, available).ok());
  EXPECT_TRUE(CheckMemory(Arenas(5), kGiB, available).ok()) << "by swapping";
  const absl::Status status = CheckMemory(Arenas(8), kGiB, available);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(),
            "out of memory: a step is planned to take 8.0 GiB (8 replicas x 1.0 GiB), but only 4.0 "
            "GiB of the machine's 16.0 GiB are free; take a smaller batch");
  EXPECT_TRUE(CheckMemory(Arenas(8), kGiB, std::nullopt).ok()) << "not known";
}

TEST(ArenaTest, OnlyWhatAnArenaLacksIsAskedFor) {
  const auto arenas = Arenas(2);
  for (const auto& arena : arenas) ASSERT_TRUE(arena->Reserve(100 << 20).ok());
  const AvailableMemory none{.bytes = 0, .swap_bytes = 0, .bound = "nothing"};
  EXPECT_TRUE(CheckMemory(arenas, 100 << 20, none).ok());
  EXPECT_FALSE(CheckMemory(arenas, 101 << 20, none).ok());
  EXPECT_TRUE(ReserveArenas(arenas, 100 << 20).ok());
  EXPECT_EQ(ReserveArenas(arenas, kAbsurd).code(), absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace estimator
