// Groups of real processes, which are killed, stopped or missing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <fstream>
#include <future>
#include <regex>
#include <thread>

#include "absl/strings/str_cat.h"
#include "estimator/base/testing/run_program.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/distributed/launcher.h"
#include "estimator/distributed/socket.h"
#include "glog/logging.h"

namespace estimator {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kProgram[] = "estimator/distributed/testing/group_program";

// A run with the time that it took.
struct TimedRun : ProgramRun {
  double secs = 0;
};

TimedRun RunGroup(const std::string& arguments, const std::vector<ProgramSignal>& signals = {}) {
  const auto start = Clock::now();
  TimedRun run;
  static_cast<ProgramRun&>(run) = RunProgram(absl::StrCat(kProgram, " ", arguments), signals);
  run.secs = Seconds(Clock::now() - start).count();
  return run;
}

// Whether a process that printed its number still runs. One that nobody waits for (Z) or that is
// being removed (X) does not.
bool IsRunning(const std::string& pid) {
  std::ifstream file(absl::StrCat("/proc/", pid, "/stat"));
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return !text.empty() && text.find(") Z ") == std::string::npos &&
         text.find(") X ") == std::string::npos;
}

void ExpectNoProcessStays(const std::string& output) {
  const std::regex number("process ([0-9]+) has");
  int count = 0;
  for (std::sregex_iterator i(output.begin(), output.end(), number), end; i != end; ++i, ++count) {
    // The system ends the children of a killed process, at once but not before we look.
    const auto give_up = Clock::now() + std::chrono::seconds(10);
    while (IsRunning((*i)[1]) && Clock::now() < give_up) std::this_thread::yield();
    EXPECT_FALSE(IsRunning((*i)[1])) << (*i)[1];
  }
  EXPECT_GT(count, 0);
}

// A port that is free now.
std::string FreeAddress() {
  auto listener = ListenAt({"127.0.0.1", 0});
  CHECK(listener.ok()) << listener.status();
  return listener->Local().ToString();
}

TEST(Processes, TheLauncherPrefixesLinesAndPassesTheResultOfTheChief) {
  const TimedRun run = RunGroup("processes=3 steps=20");
  EXPECT_EQ(run.exit_code, 0) << run.output;
  // 20 * (1 + 2 + 3); the chief's stdout has no prefix.
  EXPECT_THAT("\n" + run.output,
              AllOf(HasSubstr("\nthe sum is 120\n"), HasSubstr("\n[1] the sum is 120\n"),
                    HasSubstr("\n[2] the sum is 120\n"), HasSubstr("\n[0] ten steps\n")));
  ExpectNoProcessStays(run.output);
}

TEST(Processes, OneThatDiesEndsAllWithinASecond) {
  const TimedRun run = RunGroup("processes=3 steps=100000000 do=kill who=1 at=50");
  EXPECT_EQ(run.exit_code, 128 + SIGKILL) << run.output;
  for (const char* rank : {"[0]", "[2]"}) {
    EXPECT_THAT(run.output, HasSubstr(absl::StrCat(rank, " error: rank 1 on host "))) << rank;
  }
  EXPECT_THAT(run.output, HasSubstr("died: it closed its connection"));
  EXPECT_THAT(run.output, HasSubstr("error: rank 1 was ended by signal 9 (Killed)"));
  EXPECT_LT(run.secs, 5);  // and not the timeout of 30
  ExpectNoProcessStays(run.output);
}

TEST(Processes, TheDeathOfTheChiefEndsAllToo) {
  const TimedRun run = RunGroup("processes=3 steps=100000000 do=kill who=0 at=50");
  EXPECT_EQ(run.exit_code, 128 + SIGKILL) << run.output;
  for (const char* rank : {"[1]", "[2]"}) {
    EXPECT_THAT(run.output, HasSubstr(absl::StrCat(rank, " error: the chief, rank 0, died")));
  }
  EXPECT_LT(run.secs, 5);
  ExpectNoProcessStays(run.output);
}

TEST(Processes, OneThatIsStoppedEndsAllAfterTheTimeout) {
  for (const char* who : {"1", "0"}) {
    const TimedRun run = RunGroup(
        absl::StrCat("processes=2 steps=100000000 timeout=2 end=1 do=stop at=50 who=", who));
    EXPECT_EQ(run.exit_code, 3) << run.output;
    EXPECT_THAT(run.output, HasSubstr("did not answer for 1."));
    EXPECT_THAT(run.output, HasSubstr(absl::StrCat("rank ", *who == '0' ? "1" : "0",
                                                   " ended with exit code 3")));
    // 2 s, and 1 until the launcher kills the process that is stopped.
    EXPECT_LT(run.secs, 10);
    ExpectNoProcessStays(run.output);
  }
}

TEST(Processes, TheExitCodeIsThatOfTheFirstThatFailed) {
  const TimedRun run = RunGroup("processes=2 steps=100000000 do=fail who=1 at=50");
  EXPECT_EQ(run.exit_code, 7) << run.output;
  EXPECT_THAT(run.output, HasSubstr("[1] error: a file is damaged"));
  EXPECT_THAT(run.output, HasSubstr("has left the group"));
}

TEST(Processes, OneThatGivesUpTellsTheOthersWhy) {
  const TimedRun run = RunGroup("processes=2 steps=100000000 do=abandon who=1 at=50");
  EXPECT_EQ(run.exit_code, 3) << run.output;
  EXPECT_THAT(run.output, HasSubstr("[0] error: rank 1 on host "));
  EXPECT_THAT(run.output, HasSubstr("): the disk is full"));
}

TEST(Processes, AllAreStartedAgainAsOftenAsTheUserSays) {
  const TempDir dir;
  const std::string kill = "processes=2 steps=60 do=kill who=1 at=50 restarts=2 once=";
  const TimedRun run = RunGroup(kill + dir.File("done"));
  EXPECT_EQ(run.exit_code, 0) << run.output;
  EXPECT_THAT(run.output, AllOf(HasSubstr("all 2 processes are started again (1 of 2)"),
                                HasSubstr("\nthe sum is 180\n")));
  const TimedRun always = RunGroup("processes=2 steps=60 do=kill who=1 at=50 restarts=1");
  EXPECT_EQ(always.exit_code, 128 + SIGKILL) << always.output;
  EXPECT_THAT(always.output, AllOf(HasSubstr("(1 of 1)"), Not(HasSubstr("(2 of"))));
}

TEST(Processes, SignalsAreForwarded) {
  for (const int signal : {SIGTERM, SIGINT}) {
    const TimedRun run =
        RunGroup("processes=2 steps=100000000 restarts=1", {{"[1] ten steps", signal}});
    EXPECT_EQ(run.exit_code, 130) << run.output;
    EXPECT_THAT(run.output, AllOf(HasSubstr("[0] error: interrupted"),
                                  HasSubstr("[1] error: interrupted"), Not(HasSubstr("again (1"))));
    ExpectNoProcessStays(run.output);
  }
}

TEST(Processes, AllStopIfNobodyReadsTheirOutput) {
  const std::string program = absl::StrCat(kProgram, " processes=2 steps=100000000 say=1");
  const ProgramRun run =
      RunProgram("bash -c '" + program + " 2>&1 | head -n 4; exit ${PIPESTATUS[0]}'");
  EXPECT_EQ(run.exit_code, 130) << run.output;
  ExpectNoProcessStays(run.output);
}

TEST(Processes, NoneStaysIfTheLauncherIsKilled) {
  const TimedRun run = RunGroup("processes=3 steps=100000000", {{"[1] ten steps", SIGKILL}});
  ExpectNoProcessStays(run.output);
}

TEST(Processes, OneThatIsMissingIsNamed) {
  const std::string all = absl::StrCat("size=4 timeout=1 rendezvous=", FreeAddress());
  auto worker = std::async(std::launch::async, [&] { return RunGroup(all + " rank=2"); });
  const TimedRun chief = RunGroup(all + " rank=0");
  EXPECT_EQ(chief.exit_code, 3);
  const std::string error = "error: rank 1, 3 of 4 did not arrive within 1 s";
  EXPECT_THAT(chief.output, HasSubstr(error));
  const TimedRun other = worker.get();
  EXPECT_EQ(other.exit_code, 3);
  EXPECT_THAT(other.output, HasSubstr(error));
}

TEST(Processes, AMissingChiefIsNamed) {
  const TimedRun run = RunGroup("size=2 rank=1 timeout=1 rendezvous=" + FreeAddress());
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_THAT(run.output,
              HasSubstr("error: rank 1 did not find the chief, rank 0 of 2, within 1 s: cannot "
                        "connect to 127.0.0.1:"));
}

TEST(Processes, OneThatDoesNotKnowTheTokenIsRefused) {
  const std::string all = absl::StrCat("size=2 timeout=3 rendezvous=", FreeAddress());
  auto stranger =
      std::async(std::launch::async, [&] { return RunGroup(all + " rank=1 token=guess"); });
  const TimedRun chief = RunGroup(all + " rank=0 token=secret");
  EXPECT_EQ(chief.exit_code, 3);
  EXPECT_THAT(chief.output,
              HasSubstr("rank 1 of 2 did not arrive within 3 s; a process at 127.0.0.1:"));
  const TimedRun refused = stranger.get();
  EXPECT_EQ(refused.exit_code, 3);
  EXPECT_THAT(refused.output, HasSubstr("error: the chief refuses this process: its "
                                        "--rendezvous_token is not that of this run"));
  EXPECT_THAT(refused.output, Not(HasSubstr("secret")));
}

TEST(DivideCores, GivesEachProcessTheSameNumber) {
  using ::testing::ElementsAre;
  EXPECT_THAT(DivideCores({0, 4, 1, 5, 2}, 2), ElementsAre(ElementsAre(0, 4), ElementsAre(1, 5)));
  EXPECT_THAT(DivideCores({0, 1}, 3), testing::IsEmpty());
  EXPECT_THAT(DivideCores({3}, 1), ElementsAre(ElementsAre(3)));
}

}  // namespace
}  // namespace estimator
