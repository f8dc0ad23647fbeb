#include "estimator/runtime/arena_fence.h"

#include <gtest/gtest.h>

#include "estimator/base/testing/status_matchers.h"

namespace estimator {
namespace {

#ifdef ABSL_HAVE_ADDRESS_SANITIZER

TEST(ArenaFenceTest, OnlyWhatIsAllowedCanBeTouched) {
  Arena arena;
  EST_ASSERT_OK(arena.Reserve(256));
  {
    const ArenaFence fence(arena);
    fence.Allow(arena.data() + 64, 10);
    EXPECT_EQ(__asan_region_is_poisoned(arena.data() + 64, 10), nullptr);
    EXPECT_EQ(__asan_region_is_poisoned(arena.data() + 64, 11), arena.data() + 74);
    EXPECT_TRUE(__asan_address_is_poisoned(arena.data()));
    EXPECT_TRUE(__asan_address_is_poisoned(arena.data() + 128));
  }
  EXPECT_EQ(__asan_region_is_poisoned(arena.data(), 256), nullptr);
}

TEST(ArenaFenceTest, OtherMemoryIsLeftAlone) {
  Arena arena;
  EST_ASSERT_OK(arena.Reserve(64));
  const ArenaFence fence(arena);
  char elsewhere[8] = {};
  fence.Allow(elsewhere, 64);  // would take the guard of the stack away
  EXPECT_TRUE(__asan_address_is_poisoned(elsewhere + 8));
}

#else

TEST(ArenaFenceTest, IsNothingWithoutAddressSanitizer) {
  Arena arena;
  EST_ASSERT_OK(arena.Reserve(64));
  const ArenaFence fence(arena);
  arena.data()[0] = 1;
  EXPECT_FALSE(ArenaFence::kActive);
}

#endif

}  // namespace
}  // namespace estimator
