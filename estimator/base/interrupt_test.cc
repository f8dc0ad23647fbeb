#include "estimator/base/interrupt.h"

#include <gtest/gtest.h>
#include <signal.h>

namespace estimator {
namespace {

TEST(InterruptTest, ARequestStaysUntilItIsCleared) {
  EXPECT_FALSE(InterruptRequested());
  RequestInterruptForTest();
  EXPECT_TRUE(InterruptRequested());
  ClearInterrupt();
  EXPECT_FALSE(InterruptRequested());
}

TEST(InterruptTest, TheFirstSignalOnlySetsTheFlagAndSaysSo) {
  for (const int signal : {SIGINT, SIGTERM}) {
    InstallInterruptHandlers();
    testing::internal::CaptureStderr();
    ASSERT_EQ(raise(signal), 0);
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "\nfinishing the current loop, then saving; press Ctrl-C again to stop at once\n");
    EXPECT_TRUE(InterruptRequested());
    ClearInterrupt();
  }
}

TEST(InterruptDeathTest, TheSecondSignalEndsTheProcess) {
  const auto two_signals = [] {
    InstallInterruptHandlers();
    raise(SIGTERM);
    raise(SIGINT);
  };
  EXPECT_EXIT(two_signals(), testing::ExitedWithCode(130), "press Ctrl-C again");
}

}  // namespace
}  // namespace estimator
