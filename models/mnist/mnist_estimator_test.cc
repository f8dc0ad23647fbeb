// Runs the program with a plain Estimator as a user does, and compares it with that of
// TPUEstimator.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/run_program.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "models/mnist/small_mnist.h"

namespace estimator::mnist {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class MnistEstimatorTest : public testing::Test {
 protected:
  void SetUp() override { EST_ASSERT_OK(WriteSmallMnist(data_.path())); }
  // The program with the small files and `flags`, which come last and win.
  ProgramRun Program(const std::string& program, const std::string& flags) const {
    return RunProgram(absl::StrCat("models/mnist/", program, " --data_dir=", data_.path(),
                                   " --model_dir=", work_.File(program),
                                   " --batch_size=32 --train_steps=4 ", flags));
  }
  TempDir data_;
  TempDir work_;
};

TEST_F(MnistEstimatorTest, TrainsEvaluatesPredictsAndExports) {
  const ProgramRun run = Program("mnist", absl::StrCat("--result_json=", work_.File("r.json"),
                                                       " --export_dir=", work_.File("export")));
  ASSERT_EQ(run.exit_code, 0) << run.output;
  EXPECT_THAT(run.output, AllOf(HasSubstr("evaluated 50 examples at step 4"), HasSubstr("accuracy"),
                                HasSubstr("test image 4 is a"), HasSubstr("exported to: ")));
  EST_ASSERT_OK_AND_ASSIGN(const std::string json, ReadFile(work_.File("r.json")));
  EXPECT_THAT(json, AllOf(HasSubstr("\"global_step\": 4"), HasSubstr("\"images_per_second\": ")));
}

TEST_F(MnistEstimatorTest, HasTheVariablesOfTPUEstimatorBitForBit) {
  const std::string flags = "--momentum=0.9 --eval_steps=0 --enable_predict=false";
  const ProgramRun plain = Program("mnist", flags),
                   tpu = Program("mnist_tpu", "--use_tpu=false " + flags);
  ASSERT_EQ(plain.exit_code, 0) << plain.output;
  ASSERT_EQ(tpu.exit_code, 0) << tpu.output;
  const std::string variables = "model.ckpt-4.data-00000-of-00001";
  EST_ASSERT_OK_AND_ASSIGN(const std::string a, ReadFile(work_.File("mnist/" + variables)));
  EST_ASSERT_OK_AND_ASSIGN(const std::string b, ReadFile(work_.File("mnist_tpu/" + variables)));
  EXPECT_TRUE(a == b);
}

TEST_F(MnistEstimatorTest, ContinuesWhereTheOtherProgramStopped) {
  const std::string dir = absl::StrCat(" --eval_steps=1 --model_dir=", work_.File("shared"));
  const ProgramRun first = Program("mnist_tpu", "--use_tpu=false --train_steps=2" + dir);
  ASSERT_EQ(first.exit_code, 0) << first.output;
  const ProgramRun second = Program("mnist", dir);
  ASSERT_EQ(second.exit_code, 0) << second.output;
  EXPECT_THAT(second.output, AllOf(HasSubstr("continues after step 2"),
                                   HasSubstr("evaluated 32 examples at step 4")));
}

TEST_F(MnistEstimatorTest, HasNoFlagsOfReplicas) {
  const ProgramRun help = RunProgram("models/mnist/mnist --help");
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_THAT(help.output, AllOf(HasSubstr("--batch_size"), HasSubstr("--save_checkpoints_steps"),
                                 Not(HasSubstr("--use_tpu")), Not(HasSubstr("--num_shards"))));
  const ProgramRun mistake = Program("mnist", "--batch_size=-8 --keep_checkpoint_max=-1");
  EXPECT_EQ(mistake.exit_code, 2);
  EXPECT_THAT(mistake.output, AllOf(HasSubstr("--batch_size must be positive, given -8"),
                                    HasSubstr("keep_checkpoint_max")));
}

}  // namespace
}  // namespace estimator::mnist
