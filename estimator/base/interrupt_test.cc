#include "estimator/base/interrupt.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <limits>
#include <string>

namespace estimator {
namespace {

TEST(InterruptTest, ARequestStaysUntilItIsCleared) {
  EXPECT_FALSE(InterruptRequested());
  RequestInterruptForTest();
  EXPECT_TRUE(InterruptRequested());
  ClearInterrupt();
  EXPECT_FALSE(InterruptRequested());
}

std::string AnswerTo(int signal) {
  InstallInterruptHandlers();
  testing::internal::CaptureStderr();
  EXPECT_EQ(raise(signal), 0);
  EXPECT_TRUE(InterruptRequested());
  ClearInterrupt();
  return testing::internal::GetCapturedStderr();
}

TEST(InterruptTest, TheFirstSignalOnlySetsTheFlagAndSaysSo) {
  for (const int signal : {SIGINT, SIGTERM}) {
    EXPECT_EQ(AnswerTo(signal),
              "\nstopping as soon as the current work is done; press Ctrl-C again to exit at "
              "once\n");
  }
}

TEST(InterruptTest, TheAnswerNamesTheStepThatTheLoopEndsAtAndWhetherItIsSaved) {
  {
    InterruptibleLoop loop(/*saves=*/true);
    loop.set_end(1050);
    EXPECT_EQ(AnswerTo(SIGTERM),
              "\nstopping after this loop (step 1050), then saving; press Ctrl-C again to exit "
              "without saving\n");
  }
  {
    InterruptibleLoop loop(/*saves=*/false);
    loop.set_end(0);
    EXPECT_EQ(AnswerTo(SIGINT),
              "\nstopping after this loop (step 0); checkpoints are off, nothing will be saved; "
              "press Ctrl-C again to exit at once\n");
  }
  {
    InterruptibleLoop loop(/*saves=*/true);
    loop.set_end(std::numeric_limits<int64_t>::max());
    EXPECT_NE(AnswerTo(SIGINT).find("(step 9223372036854775807), then"), std::string::npos);
  }
  EXPECT_NE(AnswerTo(SIGINT).find("as soon as"), std::string::npos) << "the loop is over";
}

// Three models that train on three threads: which of them would the answer be about?
TEST(InterruptTest, WhereSeveralLoopsRunTheAnswerNamesNoStepUntilOneIsLeft) {
  InterruptibleLoop loop(/*saves=*/true);
  loop.set_end(50);
  {
    InterruptibleLoop other(/*saves=*/false);
    other.set_end(700);
    EXPECT_NE(AnswerTo(SIGINT).find("as soon as"), std::string::npos);
  }
  EXPECT_NE(AnswerTo(SIGINT).find("as soon as"), std::string::npos) << "the other's end is past";
  loop.set_end(60);
  EXPECT_NE(AnswerTo(SIGINT).find("(step 60), then saving"), std::string::npos);
}

// timeout(1) sends its SIGTERM twice; now and then both arrive, and the second is not impatience.
TEST(InterruptTest, TheSameSignalSentTwiceInOneMomentIsOneRequest) {
  EXPECT_NE(AnswerTo(SIGTERM), "");
  InstallInterruptHandlers();
  testing::internal::CaptureStderr();
  raise(SIGTERM);
  raise(SIGTERM);
  const std::string answer = testing::internal::GetCapturedStderr();
  EXPECT_EQ(answer.find("stopping"), answer.rfind("stopping")) << "said once";
  EXPECT_TRUE(InterruptRequested());
  ClearInterrupt();
}

TEST(InterruptTest, AfterTheFirstSignalAPipeWithoutAReaderIsHarmless) {
  AnswerTo(SIGINT);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]);
  EXPECT_EQ(write(ends[1], "x", 1), -1);
  EXPECT_EQ(errno, EPIPE);
  close(ends[1]);
}

TEST(InterruptDeathTest, TheSecondSignalEndsTheProcess) {
  const auto two_signals = [] {
    InstallInterruptHandlers();
    raise(SIGTERM);
    raise(SIGINT);
  };
  EXPECT_EXIT(two_signals(), testing::ExitedWithCode(130),
              "press Ctrl-C again to exit at once\n\nexited at once\n");
}

TEST(InterruptDeathTest, TheSecondSignalDoesNotWaitForTheLoop) {
  const auto two_signals = [] {
    InstallInterruptHandlers();
    InterruptibleLoop loop(/*saves=*/true);
    loop.set_end(50);
    raise(SIGINT);
    raise(SIGTERM);
  };
  EXPECT_EXIT(two_signals(), testing::ExitedWithCode(130), "\nexited without saving\n");
}

}  // namespace
}  // namespace estimator
