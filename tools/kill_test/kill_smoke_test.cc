// Runs the kill test as a user does, with a few kills. They come at random instants, and the result
// is the same for any of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "estimator/base/testing/run_program.h"

namespace estimator {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(KillTest, AFewKillsOfASmallTrainingChangeNothing) {
  const ProgramRun run = RunProgram(
      "tools/kill_test/kill_test --kills=3 --max_steps=12 --save_checkpoints_steps=3 "
      "--use_tpu=false");
  EXPECT_EQ(run.exit_code, 0) << run.output;
  EXPECT_THAT(run.output, AllOf(HasSubstr("for 12 steps and has"), HasSubstr("gave the same bits"),
                                HasSubstr("of 3 kills"), HasSubstr("changed nothing")));
}

TEST(KillTest, RefusesAnUnknownModel) {
  const ProgramRun run = RunProgram("tools/kill_test/kill_test --model=lenet");
  EXPECT_EQ(run.exit_code, 2) << run.output;
  EXPECT_THAT(run.output, HasSubstr("--model must be mnist or resnet, given \"lenet\""));
}

}  // namespace
}  // namespace estimator
