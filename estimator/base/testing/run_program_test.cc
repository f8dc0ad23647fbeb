#include "estimator/base/testing/run_program.h"

#include <gtest/gtest.h>

namespace estimator {
namespace {

TEST(RunProgram, GivesBothStreamsAndTheExitCode) {
  const ProgramRun run = RunProgram("sh -c 'echo out; echo err >&2; exit 3'");
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_EQ(run.output, "out\nerr\n");
}

TEST(RunProgram, ArgumentsAreQuotedAsForAShell) {
  EXPECT_EQ(RunProgram("printf '%s|' 'a b' c").output, "a b|c|");
}

TEST(RunProgram, AProgramThatIsNotThereHasTheShellsExitCode) {
  EXPECT_EQ(RunProgram("./no_such_program").exit_code, 127);
}

TEST(RunProgram, WordsInTheOutputBringSignalsInTurn) {
  const ProgramRun run = RunProgram(
      "sh -c 'trap \"echo caught\" INT; trap \"echo end; exit 130\" TERM; echo ready; "
      "while :; do sleep 0.05; done'",
      {{.when = "ready"}, {.when = "caught", .signal = SIGTERM}});
  EXPECT_EQ(run.exit_code, 130);
  EXPECT_EQ(run.output, "ready\ncaught\nend\n");
}

TEST(RunProgram, AProgramThatASignalEndsHasNoExitCode) {
  EXPECT_EQ(RunProgram("sh -c 'kill -9 $$'").exit_code, -1);
}

}  // namespace
}  // namespace estimator
