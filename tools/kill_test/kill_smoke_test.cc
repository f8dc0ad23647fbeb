// Runs the kill test as a user does, with a few kills. They come at random instants, and the result
// is the same for any of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "estimator/base/testing/run_program.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "models/mnist/small_mnist.h"

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

TEST(KillTest, AKilledRankOfASmallTrainingChangesNothing) {
  const TempDir data;
  EST_ASSERT_OK(mnist::WriteSmallMnist(data.path()));
  const ProgramRun run = RunProgram(absl::StrCat(
      "tools/kill_test/kill_test --kills=1 --processes=2 --command='models/mnist/mnist_tpu "
      "--num_shards=2 --batch_size=32 --iterations=2 --train_steps=12 --save_checkpoints_steps=3 "
      "--eval_steps=0 --enable_predict=false --data_dir=",
      data.path(), "'"));
  EXPECT_EQ(run.exit_code, 0) << run.output;
  EXPECT_THAT(run.output, AllOf(HasSubstr("in 2 processes was killed 1 times and gave the same"),
                                HasSubstr("1 kills changed nothing")));
}

TEST(KillTest, RefusesWhatIsNoNumberOfProcesses) {
  const ProgramRun run = RunProgram("tools/kill_test/kill_test --command=true --processes=1,none");
  EXPECT_EQ(run.exit_code, 2) << run.output;
  EXPECT_THAT(run.output, HasSubstr("--processes must be numbers such as 1,2,4, given \"1,none"));
}

TEST(KillTest, RefusesAnUnknownModel) {
  const ProgramRun run = RunProgram("tools/kill_test/kill_test --model=lenet");
  EXPECT_EQ(run.exit_code, 2) << run.output;
  EXPECT_THAT(run.output, HasSubstr("--model must be mnist or resnet, given \"lenet\""));
}

}  // namespace
}  // namespace estimator
