// Runs the program as a user does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"
#include "estimator/base/file.h"
#include "estimator/base/temp_dir.h"

namespace estimator {
namespace {

using ::testing::HasSubstr;

struct Result {
  int code = -1;
  std::string output;  // stdout and stderr
};

Result RunProgram(const std::string& arguments) {
  const TempDir directory;
  const std::string output = directory.File("output");
  const std::string command =
      absl::StrCat("tools/replay/replay_reference ", arguments, " >", output, " 2>&1");
  const int status = std::system(command.c_str());
  const auto text = ReadFile(output);
  return {WEXITSTATUS(status), text.ok() ? *text : text.status().ToString()};
}

TEST(ReplayReferenceTest, PrintsATableAndExitsWithZeroIfACaseMatches) {
  const Result result = RunProgram("--case=mnist_momentum --steps=3 --rtol=1e-5 --num_shards=2");
  EXPECT_EQ(result.code, 0) << result.output;
  EXPECT_THAT(result.output, HasSubstr("matches TensorFlow 2.15.1 over 3 steps on 2 in-process"));
  EXPECT_THAT(result.output, HasSubstr("largest differences"));
}

TEST(ReplayReferenceTest, ExitsWithOneAndSaysWhereIfACaseDiffers) {
  const Result result = RunProgram("--case=mnist_momentum --rtol=0");
  EXPECT_EQ(result.code, 1) << result.output;
  EXPECT_THAT(result.output, HasSubstr("differs from TensorFlow 2.15.1 on CPU, first in step 1"));
  EXPECT_THAT(result.output, HasSubstr("1 of 1 differ from the reference: mnist_momentum"));
}

TEST(ReplayReferenceTest, AModelOfAnotherFolderIsATableOfItsVariables) {
  const Result result =
      RunProgram("--case=mnist_gradient_descent --folder=testdata/reference/mnist_momentum");
  EXPECT_EQ(result.code, 1) << result.output;
  EXPECT_THAT(result.output, HasSubstr("the model's variables are not those of"));
  EXPECT_THAT(result.output, HasSubstr("conv2d/kernel/Momentum"));
}

TEST(ReplayReferenceTest, AFolderWithTheNameOfACaseIsThatCases) {
  for (const char* folder :
       {"testdata/reference/mnist_momentum", "testdata/reference/mnist_momentum/"}) {
    const Result result = RunProgram(absl::StrCat("--steps=1 --folder=", folder));
    EXPECT_EQ(result.code, 0) << result.output;
    EXPECT_THAT(result.output, HasSubstr("over 1 step"));
  }
}

TEST(ReplayReferenceTest, BadFlagsAndFoldersHaveClearErrors) {
  const Result unknown = RunProgram("--case=mnist_moment");
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.output, HasSubstr("did you mean mnist_momentum?"));
  const Result nameless = RunProgram("--folder=/my/mnist_moment");
  EXPECT_EQ(nameless.code, 2);
  EXPECT_THAT(nameless.output, HasSubstr("no case has the folder's name mnist_moment (did you mean "
                                         "mnist_momentum?): give --case, one of "));
  EXPECT_EQ(RunProgram("--steps=-1").code, 2);
  EXPECT_EQ(RunProgram("--num_shards=0").code, 2);
  EXPECT_EQ(RunProgram("--case=mnist_momentum --folder=/nowhere").code, 1);
  EXPECT_THAT(RunProgram("--case=mnist_momentum --folder=/nowhere").output,
              HasSubstr("there is no folder /nowhere"));
  EXPECT_THAT(RunProgram("--case=mnist_momentum --steps=51").output,
              HasSubstr("has 50 steps, asked for 51"));
  EXPECT_THAT(RunProgram("--case=mnist_momentum --rtol=-5").output,
              HasSubstr("--rtol must be >= 0, or -1 for the reference's, given -5"));
  EXPECT_THAT(RunProgram("--case=mnist_momentum --num_shards=3").output,
              HasSubstr("cannot be split over 3 shards"));
}

TEST(ReplayReferenceTest, ListsItsCases) {
  const Result result = RunProgram("--list");
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.output, HasSubstr("\nmnist_gradient_descent\n"));
}

}  // namespace
}  // namespace estimator
