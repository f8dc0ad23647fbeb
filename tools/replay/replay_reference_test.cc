// Runs the program as a user does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "estimator/base/testing/run_program.h"

namespace estimator {
namespace {

using ::testing::HasSubstr;

ProgramRun Replay(const std::string& arguments) {
  return RunProgram("tools/replay/replay_reference " + arguments);
}

TEST(ReplayReferenceTest, PrintsATableAndExitsWithZeroIfACaseMatches) {
  const ProgramRun result = Replay("--case=mnist_momentum --steps=3 --rtol=1e-5 --num_shards=2");
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_THAT(result.output, HasSubstr("matches TensorFlow 2.15.1 over 3 steps on 2 in-process"));
  EXPECT_THAT(result.output, HasSubstr("largest differences"));
}

TEST(ReplayReferenceTest, ProfileListsTheOpsOfAStep) {
  const ProgramRun result = Replay("--case=mnist_momentum --steps=3 --profile");
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_THAT(result.output, HasSubstr("runs a step  kernel     op"));
  EXPECT_THAT(result.output, HasSubstr("fast       _FusedConv2D"));
}

TEST(ReplayReferenceTest, PrintsTheLossesOfAllSteps) {
  const ProgramRun result = Replay("--case=mnist_momentum --steps=3 --losses --rtol=1e-9");
  EXPECT_THAT(result.output, ::testing::ContainsRegex("step +loss +reference +difference"));
  EXPECT_THAT(result.output, ::testing::ContainsRegex("\n   3 +2\\.[0-9]+ +2\\."));
}

TEST(ReplayReferenceTest, ReplaysWithoutSomePassesAndWithDirectConvolutions) {
  const ProgramRun result = Replay(
      "--case=mnist_momentum --steps=2 --conv_algorithm=direct "
      "--disable_passes=fuse_bias,fuse_conv_block "
      "--profile");
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_THAT(result.output, ::testing::Not(HasSubstr("_FusedConv2D")));
  const ProgramRun wrong = Replay("--conv_algorithm=fft --disable_passes=fuse");
  EXPECT_EQ(wrong.exit_code, 2) << wrong.output;
  EXPECT_THAT(wrong.output, HasSubstr("--conv_algorithm must be auto, direct or winograd"));
  EXPECT_THAT(wrong.output, HasSubstr("unknown names: \"fuse\""));
}

TEST(ReplayReferenceTest, ExitsWithOneAndSaysWhereIfACaseDiffers) {
  const ProgramRun result = Replay("--case=mnist_momentum --rtol=0");
  EXPECT_EQ(result.exit_code, 1) << result.output;
  EXPECT_THAT(result.output, HasSubstr("differs from TensorFlow 2.15.1 on CPU, first in step 1"));
  EXPECT_THAT(result.output, HasSubstr("1 of 1 differ from the reference: mnist_momentum"));
}

TEST(ReplayReferenceTest, AModelOfAnotherFolderIsATableOfItsVariables) {
  const ProgramRun result =
      Replay("--case=mnist_gradient_descent --folder=testdata/reference/mnist_momentum");
  EXPECT_EQ(result.exit_code, 1) << result.output;
  EXPECT_THAT(result.output, HasSubstr("the model's variables are not those of"));
  EXPECT_THAT(result.output, HasSubstr("conv2d/kernel/Momentum"));
}

TEST(ReplayReferenceTest, AFolderWithTheNameOfACaseIsThatCases) {
  for (const char* folder :
       {"testdata/reference/mnist_momentum", "testdata/reference/mnist_momentum/"}) {
    const ProgramRun result = Replay(absl::StrCat("--steps=1 --folder=", folder));
    EXPECT_EQ(result.exit_code, 0) << result.output;
    EXPECT_THAT(result.output, HasSubstr("over 1 step"));
  }
}

TEST(ReplayReferenceTest, BadFlagsAndFoldersHaveClearErrors) {
  const ProgramRun unknown = Replay("--case=mnist_moment");
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.output, HasSubstr("did you mean 'mnist_momentum'?"));
  const ProgramRun nameless = Replay("--folder=/my/mnist_moment");
  EXPECT_EQ(nameless.exit_code, 2);
  EXPECT_THAT(nameless.output, HasSubstr("no case has the folder's name mnist_moment (did you mean "
                                         "'mnist_momentum'?): pass --case, one of "));
  EXPECT_EQ(Replay("--steps=-1").exit_code, 2);
  EXPECT_EQ(Replay("--num_shards=0").exit_code, 2);
  EXPECT_EQ(Replay("--case=mnist_momentum --folder=/nowhere").exit_code, 1);
  EXPECT_THAT(Replay("--case=mnist_momentum --folder=/nowhere").output,
              HasSubstr("there is no folder /nowhere"));
  const ProgramRun elsewhere = Replay("--case=mnist_momentum --reference_dir=elsewhere");
  EXPECT_EQ(elsewhere.exit_code, 2);
  EXPECT_THAT(elsewhere.output, HasSubstr("--reference_dir: there is no folder elsewhere; pass"));
  EXPECT_THAT(Replay("--case=mnist_momentum --steps=51").output,
              HasSubstr("has 50 steps, but num_steps is 51"));
  EXPECT_THAT(Replay("--case=mnist_momentum --rtol=-5").output,
              HasSubstr("--rtol must be >= 0, or -1 for the reference's, given -5"));
  EXPECT_THAT(Replay("--case=mnist_momentum --num_shards=3").output,
              HasSubstr("cannot be split over 3 replicas"));
}

// Fixed bug: each run named one of them.
TEST(ReplayReferenceTest, AllWrongFlagsAreNamedAtOnce) {
  const ProgramRun result =
      Replay("--case=mnist_moment --steps=-1 --rtol=-5 --atol=-2 --reference_dir=elsewhere");
  EXPECT_EQ(result.exit_code, 2);
  for (const char* part :
       {"--case=mnist_moment is not known", "--steps must be > 0", "--rtol must be >= 0",
        "--atol must be >= 0", "--reference_dir: there is no folder elsewhere"}) {
    EXPECT_THAT(result.output, HasSubstr(part));
  }
}

TEST(ReplayReferenceTest, ListsItsCases) {
  const ProgramRun result = Replay("--list");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.output, HasSubstr("\nmnist_gradient_descent\n"));
}

}  // namespace
}  // namespace estimator
