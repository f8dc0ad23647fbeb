#include "estimator/base/interrupt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <string>

namespace estimator {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

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

TEST(InterruptTest, TheAnswerSaysWhetherTheLoopSaves) {
  {
    InterruptibleLoop loop(/*saves=*/true);
    EXPECT_EQ(AnswerTo(SIGTERM),
              "\nstopping after this step, then saving; press Ctrl-C again to exit without "
              "saving\n");
  }
  {
    InterruptibleLoop loop(/*saves=*/false);
    EXPECT_EQ(AnswerTo(SIGINT),
              "\nstopping after this step; checkpoints are off, nothing will be saved; press "
              "Ctrl-C again to exit at once\n");
  }
  EXPECT_THAT(AnswerTo(SIGINT), HasSubstr("as soon as")) << "the loop is over";
}

// Three models that train on three threads: which of them would the answer be about?
TEST(InterruptTest, WhereOneOfSeveralLoopsSavesTheAnswerDoesNotSayWhatIsSaved) {
  InterruptibleLoop loop(/*saves=*/true);
  {
    InterruptibleLoop other(/*saves=*/false);
    EXPECT_THAT(AnswerTo(SIGINT), HasSubstr("as soon as"));
  }
  InterruptibleLoop third(/*saves=*/true);
  EXPECT_THAT(AnswerTo(SIGINT), HasSubstr("after this step, then saving"));
}

// A fixed bug: both signals ended a training, and it did not save.
TEST(InterruptTest, ALostTerminalAndALostReaderAskATrainingToStop) {
  signal(SIGHUP, SIG_DFL);
  signal(SIGPIPE, SIG_DFL);
  InterruptibleLoop loop(/*saves=*/true);
  EXPECT_EQ(AnswerTo(SIGHUP),
            "\nthe terminal or the ssh session is gone (SIGHUP): stopping after this step, then "
            "saving\n");
  EXPECT_EQ(AnswerTo(SIGPIPE),
            "\nnothing reads the output any more (SIGPIPE): stopping after this step, then "
            "saving\n");
}

// systemd sends SIGTERM and SIGHUP to a session that ends. A dead `tee` gives a SIGPIPE per write.
TEST(InterruptTest, ALostTerminalOrReaderNeverCountsAsASecondSignal) {
  signal(SIGHUP, SIG_DFL);
  signal(SIGPIPE, SIG_DFL);
  InterruptibleLoop loop(/*saves=*/true);
  InstallInterruptHandlers();
  testing::internal::CaptureStderr();
  for (const int signal : {SIGPIPE, SIGHUP, SIGHUP, SIGTERM, SIGHUP, SIGPIPE}) raise(signal);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              AllOf(HasSubstr("(SIGPIPE): stopping"), HasSubstr("press Ctrl-C again to exit"),
                    Not(HasSubstr("exited"))));
  ClearInterrupt();
}

TEST(InterruptTest, UnderNohupALostTerminalChangesNothing) {
  signal(SIGHUP, SIG_IGN);
  InstallInterruptHandlers();
  raise(SIGHUP);
  EXPECT_FALSE(InterruptRequested());
  signal(SIGHUP, SIG_DFL);
}

TEST(InterruptDeathTest, AProgramThatDoesNotTrainEndsWithItsReader) {
  const auto print = [] {
    signal(SIGPIPE, SIG_DFL);
    InstallInterruptHandlers();
    raise(SIGPIPE);
  };
  EXPECT_EXIT(print(), testing::KilledBySignal(SIGPIPE), "");
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
  signal(SIGPIPE, SIG_DFL);
  InstallInterruptHandlers();
  raise(SIGINT);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]);
  EXPECT_EQ(write(ends[1], "x", 1), -1);
  EXPECT_EQ(errno, EPIPE);
  close(ends[1]);
  ClearInterrupt();
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
    raise(SIGINT);
    raise(SIGTERM);
  };
  EXPECT_EXIT(two_signals(), testing::ExitedWithCode(130), "\nexited without saving\n");
}

}  // namespace
}  // namespace estimator
