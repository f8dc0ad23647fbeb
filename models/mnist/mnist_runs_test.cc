// Whole runs of the program that go wrong or go twice: stopped by a signal, with the same seed
// again, in another network's model_dir, with a learning rate that ruins it, on damaged files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "estimator/base/file.h"
#include "estimator/base/file_lock.h"
#include "estimator/base/testing/run_program.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/checkpoint/load.h"
#include "estimator/checkpoint/saver.h"
#include "models/mnist/small_mnist.h"

namespace estimator::mnist {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

class MnistRunsTest : public testing::Test {
 protected:
  void SetUp() override { EST_ASSERT_OK(WriteSmallMnist(data_.path())); }
  // Runs the program with the small files, batches of 32 and `flags`. As soon as its output has the
  // words of the first of `signals`, it gets that one, and so on.
  ProgramRun Run(const std::string& flags, const std::vector<ProgramSignal>& signals = {}) const {
    return RunProgram(absl::StrCat("models/mnist/mnist_tpu --batch_size=32 --data_dir=",
                                   data_.path(), " ", flags),
                      signals);
  }
  std::string Dir(const std::string& name) const { return work_.File(name); }
  // Every file of a folder, by path.
  static std::map<std::string, std::string> Contents(const std::string& directory) {
    std::map<std::string, std::string> contents;
    const absl::StatusOr<std::vector<std::string>> paths = Glob(directory + "/*");
    for (const std::string& path : *paths) contents[path] = *ReadFile(path);
    return contents;
  }

  TempDir data_;
  TempDir work_;
};

TEST_F(MnistRunsTest, CtrlCFinishesTheStepSavesAndExits130AndTheNextStartGoesOn) {
  for (const auto& [flags, loop] : std::vector<std::pair<std::string, int64_t>>{
           {"--use_tpu=false", 1}, {"--use_tpu --num_shards=2 --iterations=3", 3}}) {
    SCOPED_TRACE(flags);
    const std::string dir = Dir(absl::StrCat("m", loop));
    const std::string all = absl::StrCat(flags, " --model_dir=", dir);
    const ProgramRun stopped = Run(all + " --train_steps=1000000", {{.when = "/1000000, loss = "}});
    EXPECT_EQ(stopped.exit_code, 130) << stopped.output;
    EXPECT_THAT(stopped.output, AllOf(HasSubstr("\nstopping after this step, then saving; press "),
                                      HasSubstr("stopped: interrupted at step "),
                                      HasSubstr(absl::StrCat("The next start with model_dir ", dir,
                                                             " continues from there"))));
    EXPECT_THAT(stopped.output, Not(HasSubstr("evaluated")));
    const absl::StatusOr<int64_t> step = LoadGlobalStep(dir);
    EST_ASSERT_OK(step);
    EXPECT_GE(*step, loop);
    EXPECT_THAT(stopped.output, HasSubstr(absl::StrCat("saved in ", dir, "/model.ckpt-", *step)));

    const ProgramRun next = Run(absl::StrCat(all, " --train_steps=", *step + 2));
    EXPECT_EQ(next.exit_code, 0) << next.output;
    EXPECT_THAT(next.output,
                AllOf(HasSubstr(absl::StrCat("continues after step ", *step)),
                      HasSubstr(absl::StrCat("evaluated 50 examples at step ", *step + 2))));
  }
}

TEST_F(MnistRunsTest, ASecondSignalLeavesAtOnceAndTheNextStartGoesOnFromTheLastCheckpoint) {
#ifdef EST_SANITIZE_THREAD
  GTEST_SKIP() << "tsan delivers the second signal after the save";
#endif
  std::string all, dir;
  ProgramRun left;
  // The process may be gone before the second signal comes.
  for (int attempt = 0; attempt < 5 && !absl::StrContains(left.output, "\nexited without saving");
       ++attempt) {
    dir = Dir(absl::StrCat("m", attempt));
    all = "--use_tpu --num_shards=2 --save_checkpoints_steps=60 --model_dir=" + dir;
    left = Run(all + " --iterations=60 --train_steps=1000000",
               {{.when = "/1000000, loss = ", .signal = SIGTERM}, {.when = "press Ctrl-C again"}});
  }
  EXPECT_EQ(left.exit_code, 130) << left.output;
  EXPECT_THAT(left.output, AllOf(HasSubstr("\nstopping after this step, then saving; "),
                                 HasSubstr("\nexited without saving")));
  const absl::StatusOr<int64_t> step = LoadGlobalStep(dir);
  EST_ASSERT_OK(step);
  EXPECT_EQ(*step % 60, 0) << "a checkpoint of before";
  const ProgramRun next = Run(absl::StrCat(all, " --iterations=2 --train_steps=", *step + 2));
  EXPECT_EQ(next.exit_code, 0) << next.output;
  EXPECT_THAT(next.output, AllOf(HasSubstr(absl::StrCat("continues after step ", *step)),
                                 HasSubstr("evaluated 50 examples at step")));
}

// A fixed bug: a lost ssh session ended the program before it had saved.
TEST_F(MnistRunsTest, ALostTerminalStopsAndSavesButNotUnderNohup) {
  const ProgramSignal lost = {.when = "/1000000, loss = ", .signal = SIGHUP};
  const ProgramRun stopped =
      Run("--use_tpu=false --train_steps=1000000 --model_dir=" + Dir("m"), {lost});
  EXPECT_EQ(stopped.exit_code, 130) << stopped.output;
  EXPECT_THAT(stopped.output, AllOf(HasSubstr("session is gone (SIGHUP): stopping after this step"),
                                    HasSubstr("; saved in " + Dir("m"))));
  const ProgramRun kept = RunProgram(
      absl::StrCat("nohup models/mnist/mnist_tpu --batch_size=32 --data_dir=", data_.path(),
                   " --use_tpu=false --train_steps=300 --eval_steps=0 --model_dir=", Dir("n")),
      {{.when = "/300, loss = ", .signal = SIGHUP}});
  EXPECT_EQ(kept.exit_code, 0) << kept.output;
  EXPECT_EQ(*LoadGlobalStep(Dir("n")), 300);
}

// A fixed bug: a `tee` that ended took the program with it, before it had saved.
TEST_F(MnistRunsTest, AReaderThatEndsStopsTrainingAndItSaves) {
  const ProgramRun run = RunProgram(absl::StrCat(
      "bash -c 'models/mnist/mnist_tpu --batch_size=32 --use_tpu=false --train_steps=1000000 ",
      "--log_step_count_steps=1 --data_dir=", data_.path(), " --model_dir=", Dir("m"),
      " 2>&1 | grep -m 1 \"/1000000, loss = \"; echo code ${PIPESTATUS[0]}'"));
  EXPECT_THAT(run.output, HasSubstr("code 130"));
  const absl::StatusOr<int64_t> step = LoadGlobalStep(Dir("m"));
  EST_ASSERT_OK(step);
  EXPECT_GT(*step, 0);
}

// A fixed bug: with stderr closed, the file that was opened next got its number, and log lines went
// into event files and checkpoints.
TEST_F(MnistRunsTest, ClosedStandardStreamsPutNoLogTextIntoFiles) {
  const std::string flags =
      "--use_tpu=false --train_steps=30 --eval_steps=0 --enable_predict=false "
      "--save_checkpoints_steps=10 --model_dir=";
  const ProgramRun whole = Run(flags + Dir("whole"));
  ASSERT_EQ(whole.exit_code, 0) << whole.output;
  const std::string data = "/model.ckpt-30.data-00000-of-00001";
  for (const std::string closed : {"2>&-", ">&-", ">&- 2>&-", "<&- >&- 2>&-"}) {
    const std::string dir = Dir(absl::StrCat("m", closed.size()));
    EXPECT_EQ(Run(absl::StrCat(flags, dir, " ", closed)).exit_code, 0) << closed;
    EXPECT_TRUE(*ReadFile(dir + data) == *ReadFile(Dir("whole") + data)) << closed;
    const std::map<std::string, std::string> contents = Contents(dir);
    for (const auto& [path, bytes] : contents) {
      EXPECT_FALSE(absl::StrContains(bytes, "loss = ")) << path;
    }
  }
}

// Fixed bugs: a segmentation fault in oneDNN, an abort with a stack trace, and messages that named
// neither memory nor threads.
TEST_F(MnistRunsTest, TooLittleAddressSpaceIsAnErrorWithItsCause) {
#if defined(__SANITIZE_ADDRESS__) || defined(EST_SANITIZE_THREAD)
  GTEST_SKIP() << "sanitizers need all of the address space";
#endif
  int num_refused = 0;
  for (const int kib : {160'000, 180'000, 200'000, 220'000, 250'000, 300'000}) {
    const ProgramRun run = RunProgram(absl::StrCat(
        "sh -c 'ulimit -v ", kib, "; exec models/mnist/mnist_tpu --batch_size=32 --use_tpu=false ",
        "--train_steps=2 --eval_steps=0 --data_dir=", data_.path(), " --model_dir=", Dir("m"), kib,
        "'"));
    if (run.exit_code == 0) continue;
    ++num_refused;
    EXPECT_EQ(run.exit_code, 1) << kib << "\n" << run.output;
    EXPECT_THAT(run.output, HasSubstr("error: RESOURCE_EXHAUSTED: ")) << kib;
    EXPECT_THAT(run.output, HasSubstr("ulimit -v")) << kib;
  }
  EXPECT_GT(num_refused, 0);
}

// A fixed bug: SIGXFSZ ended the program without a word.
TEST_F(MnistRunsTest, ALimitOfTheSizeOfFilesIsAnErrorThatNamesTheFile) {
  const ProgramRun run = RunProgram(absl::StrCat(
      "sh -c 'ulimit -f 2000; exec models/mnist/mnist_tpu --batch_size=32 --use_tpu=false ",
      "--train_steps=2 --eval_steps=0 --data_dir=", data_.path(), " --model_dir=", Dir("m"), "'"));
  EXPECT_EQ(run.exit_code, 1) << run.output;
  EXPECT_THAT(run.output,
              AllOf(HasSubstr("error: "), HasSubstr("model.ckpt-0"), HasSubstr("(ulimit -f)")));
}

TEST_F(MnistRunsTest, TheSameSeedTwiceGivesTheSameBitsAndAnotherSeedOthers) {
  for (const std::string where : {"--use_tpu=false", "--use_tpu --num_shards=4 --iterations=2"}) {
    std::vector<std::string> bits;
    for (const int seed : {5, 5, 6}) {
      const std::string dir = Dir(absl::StrCat(where.size(), "_", bits.size()));
      const ProgramRun run =
          Run(absl::StrCat(where, " --train_steps=4 --momentum=0.9 --eval_steps=0 ",
                           "--enable_predict=false --seed=", seed, " --model_dir=", dir));
      ASSERT_EQ(run.exit_code, 0) << run.output;
      bits.push_back(*ReadFile(dir + "/model.ckpt-4.data-00000-of-00001"));
    }
    EXPECT_TRUE(bits[0] == bits[1]) << where;
    EXPECT_FALSE(bits[0] == bits[2]) << where;
  }
}

TEST_F(MnistRunsTest, TheCheckpointHasTensorFlowsNamesAndShapes) {
  const ProgramRun run =
      Run("--use_tpu=false --train_steps=1 --eval_steps=0 --model_dir=" + Dir("m"));
  ASSERT_EQ(run.exit_code, 0) << run.output;
  const auto variables = ListVariables(Dir("m"));
  EST_ASSERT_OK(variables);
  std::vector<std::pair<std::string, std::string>> types;
  for (const auto& [name, spec] : *variables) types.emplace_back(name, spec.ToString());
  EXPECT_THAT(
      types,
      ElementsAre(Pair("conv2d/bias", "f32 [32]"), Pair("conv2d/kernel", "f32 [5,5,1,32]"),
                  Pair("conv2d_1/bias", "f32 [64]"), Pair("conv2d_1/kernel", "f32 [5,5,32,64]"),
                  Pair("dense/bias", "f32 [1024]"), Pair("dense/kernel", "f32 [3136,1024]"),
                  Pair("dense_1/bias", "f32 [10]"), Pair("dense_1/kernel", "f32 [1024,10]"),
                  Pair("global_step", "i64 []")));
}

TEST_F(MnistRunsTest, AnotherNetworksModelDirGivesATableOfEveryMismatchAndStaysAsItIs) {
  const std::map<std::string, Array> other = {
      {"conv1/kernel", Array(DType::kFloat32, {5, 5, 1, 32})},  // conv2d/kernel, by another name
      {"dense/kernel", Array(DType::kFloat32, {1024, 3136})},   // transposed
      {"dense_1/bias", Array(DType::kFloat32, {100})},
      {"global_step", Array::Scalar<int64_t>(3)}};
  EST_ASSERT_OK(Saver().Save(Dir("m"), 3, other));
  const std::map<std::string, std::string> before = Contents(Dir("m"));
  const ProgramRun run = Run("--use_tpu=false --train_steps=5 --model_dir=" + Dir("m"));
  EXPECT_EQ(run.exit_code, 1) << run.output;
  EXPECT_THAT(run.output, AllOf(HasSubstr("model.ckpt-3 does not fit: 8 of 9 variables differ"),
                                HasSubstr("conv1/kernel"), HasSubstr("transposed"),
                                HasSubstr("f32 [100]"), HasSubstr("dense_1/kernel")));
  EXPECT_EQ(Contents(Dir("m")), before);
}

// Fixed bug: nothing was left to train, so the program ended with 0.
TEST_F(MnistRunsTest, AnotherNetworksModelDirIsRefusedPastTrainStepsToo) {
  EST_ASSERT_OK(Saver().Save(
      Dir("m"), 300,
      {{"w", Array(DType::kFloat32, {3})}, {"global_step", Array::Scalar<int64_t>(300)}}));
  const ProgramRun run =
      Run("--use_tpu=false --train_steps=5 --eval_steps=0 --enable_predict=false --model_dir=" +
          Dir("m"));
  EXPECT_EQ(run.exit_code, 1) << run.output;
  EXPECT_THAT(run.output,
              AllOf(HasSubstr("model.ckpt-300 does not fit"), HasSubstr("dense/kernel")));
}

// Fixed bug: training continued on digits that the program drew, with a warning at most.
TEST_F(MnistRunsTest, AModelDirTrainedOnMnistDoesNotContinueOnDrawnDigits) {
  const std::string flags = "--use_tpu=false --eval_steps=0 --model_dir=" + Dir("m");
  ASSERT_EQ(Run(flags + " --train_steps=2").exit_code, 0);
  const std::map<std::string, std::string> before = Contents(Dir("m"));
  const ProgramRun run =
      RunProgram("models/mnist/mnist_tpu --batch_size=32 --train_steps=4 " + flags);
  EXPECT_EQ(run.exit_code, 1) << run.output;
  EXPECT_THAT(run.output, AllOf(HasSubstr("model.ckpt-2.input: the run was trained on other data"),
                                HasSubstr("on MNIST, now on drawn digits")));
  EXPECT_EQ(Contents(Dir("m")), before);
}

// Fixed bug: a second run removed the files that the first was writing, or both interleaved.
TEST_F(MnistRunsTest, ASecondTrainingIsRefusedWithTheProcessThatHoldsTheModelDir) {
  EST_ASSERT_OK(CreateDirectories(Dir("m")));
  const auto lock = FileLock::TryLock(Dir("m") + "/.train.lock");
  EST_ASSERT_OK(lock);
  const std::string flags =
      "--use_tpu=false --train_steps=2 --eval_steps=0 --model_dir=" + Dir("m");
  const ProgramRun second = Run(flags);
  EXPECT_EQ(second.exit_code, 1) << second.output;
  EXPECT_THAT(second.output,
              AllOf(HasSubstr("error: FAILED_PRECONDITION: another run is training in " + Dir("m")),
                    HasSubstr(absl::StrCat("process ", getpid(), " on host "))));
}

TEST_F(MnistRunsTest, ACheckpointAsModelDirIsAUsageErrorWithTheFolderToGive) {
  const std::string flags =
      "--use_tpu=false --train_steps=2 --eval_steps=0 --model_dir=" + Dir("m");
  ASSERT_EQ(Run(flags).exit_code, 0);
  const ProgramRun run = Run(flags + "/model.ckpt-2");
  EXPECT_EQ(run.exit_code, 2) << run.output;
  EXPECT_THAT(run.output,
              AllOf(HasSubstr("--model_dir: " + Dir("m") + "/model.ckpt-2 is a checkpoint"),
                    HasSubstr("Give its directory " + Dir("m"))));
}

TEST_F(MnistRunsTest, ALossThatIsNotFiniteNamesTheStepAndTheTensorAndKeepsTheCheckpoint) {
  const std::string flags = "--use_tpu=false --model_dir=" + Dir("m");
  ASSERT_EQ(Run(flags + " --train_steps=2 --eval_steps=0").exit_code, 0);
  const std::string before = *ReadFile(Dir("m") + "/model.ckpt-2.data-00000-of-00001");
  const ProgramRun run = Run(flags + " --train_steps=50 --learning_rate=1e38");
  EXPECT_EQ(run.exit_code, 1) << run.output;
  EXPECT_THAT(run.output, AllOf(HasSubstr(" loss during training, at step "),
                                HasSubstr(", the first tensor that is not finite")));
  EXPECT_EQ(*ReadFile(Dir("m") + "/model.ckpt-2.data-00000-of-00001"), before);
  EXPECT_EQ(*LoadGlobalStep(Dir("m")), 2);
}

TEST_F(MnistRunsTest, AFileThatIsCutOffOrGarbledIsNamedBeforeAnythingIsWritten) {
  const std::string path = data_.File("train-images-idx3-ubyte");
  const std::string whole = *ReadFile(path);
  std::string garbled = whole;
  garbled[2] = 'x';  // the code of the dtype
  std::string longer = whole + "more";
  for (const std::string& bytes :
       {whole.substr(0, whole.size() / 2), garbled, longer, whole.substr(0, 3), std::string()}) {
    EST_ASSERT_OK(WriteFileAtomically(path, bytes));
    const ProgramRun run = Run("--use_tpu=false --train_steps=1 --model_dir=" + Dir("m"));
    EXPECT_EQ(run.exit_code, 1) << run.output;
    EXPECT_THAT(run.output, AllOf(HasSubstr("error: DATA_LOSS"), HasSubstr(path)));
    EXPECT_FALSE(IsDirectory(Dir("m")));
  }
}

}  // namespace
}  // namespace estimator::mnist
