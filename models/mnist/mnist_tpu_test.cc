// Runs the program as a user does: on small IDX files, a few steps, and with mistakes.
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/run_program.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "models/mnist/digits.h"
#include "models/mnist/small_mnist.h"

namespace estimator::mnist {
namespace {

class MnistTpuTest : public testing::Test {
 protected:
  void SetUp() override { EST_ASSERT_OK(WriteSmallMnist(data_.path())); }
  // The program with the small files and `flags`, which come last and win.
  ProgramRun Program(const std::string& flags) const {
    return RunProgram(absl::StrCat("models/mnist/mnist_tpu --data_dir=", data_.path(),
                                   " --model_dir=", work_.File("m"),
                                   " --batch_size=32 --train_steps=4 ", flags));
  }
  static void ExpectParts(const std::string& text, const std::vector<std::string>& parts) {
    for (const std::string& part : parts) {
      EXPECT_TRUE(absl::StrContains(text, part)) << "lacks: " << part << "\n" << text;
    }
  }

  TempDir data_;
  TempDir work_;
};

TEST_F(MnistTpuTest, TrainsEvaluatesAndPredictsOnTheCpu) {
  const ProgramRun run =
      Program(absl::StrCat("--use_tpu=false --result_json=", work_.File("r.json"),
                           " --predict_csv=", work_.File("p.csv")));
  ASSERT_EQ(run.exit_code, 0) << run.output;
  ExpectParts(run.output, {"; an evaluation at step 4; a checkpoint every 600 seconds; ",
                           absl::StrCat("; afterwards 5 predictions and predictions of the test "
                                        "set to ",
                                        work_.File("p.csv")),
                           "evaluated 50 examples at step 4", "accuracy", "test image 4 is a",
                           absl::StrCat("tensorboard --logdir=", work_.File("m"))});
  EXPECT_TRUE(FileExists(work_.File("m/model.ckpt-4.index")));
  const std::vector<std::string> lines =
      absl::StrSplit(ReadFile(work_.File("p.csv")).value(), '\n');
  ASSERT_EQ(lines.size(), 52u);  // a header, 50 test images, and "" at the end
  EXPECT_EQ(lines[0], "id,class");
  EXPECT_TRUE(absl::StartsWith(lines[50], "49,")) << lines[50];
  const absl::StatusOr<std::string> json = ReadFile(work_.File("r.json"));
  EST_ASSERT_OK(json);
  ExpectParts(*json,
              {"\"accuracy\": ", "\"loss\": ", "\"global_step\": 4", "\"examples_evaluated\": 50",
               "\"images_per_second\": ", "\"first_step_seconds\": ", "\"peak_rss_mib\": "});
}

TEST_F(MnistTpuTest, RunsWithTheInstructionsOfAnOlderCpu) {
  const ProgramRun run = Program("--use_tpu=false --cpu_isa=avx2");
  ASSERT_EQ(run.exit_code, 0) << run.output;
  ExpectParts(run.output, {"evaluated 50 examples at step 4", "test image 4 is a"});
}

TEST_F(MnistTpuTest, RunsOnReplicas) {
  const ProgramRun run = Program("--use_tpu --num_shards=4 --iterations=2 --momentum=0.9");
  ASSERT_EQ(run.exit_code, 0) << run.output;
  ExpectParts(run.output, {"evaluated 50 examples at step 4", "test image 4 is a"});
}

TEST_F(MnistTpuTest, TheTpuCheckBlamesNothingAndTrainsNothing) {
  for (const char* where : {"--use_tpu=false", "--use_tpu"}) {
    const ProgramRun run = Program(absl::StrCat(where, " --tpu_check=rules --batch_size=64"));
    ASSERT_EQ(run.exit_code, 0) << run.output;
    ExpectParts(run.output, {"train: checked with 8 rows on each of 8 cores", "eval: checked",
                             "predict: checked", "TPU check: 0 violations"});
    EXPECT_FALSE(FileExists(work_.File("m/checkpoint")));
  }
}

TEST_F(MnistTpuTest, TheTpuCheckReportsABatchThatTheCoresCannotDivide) {
  const ProgramRun run = Program("--use_tpu=false --tpu_check=rules --batch_size=60");
  EXPECT_EQ(run.exit_code, 1) << run.output;
  ExpectParts(run.output, {"violation [batch-not-divisible]", "60 rows leave 4",
                           "the program is not ready for a TPU"});
  EXPECT_EQ(Program("--tpu_check=rule").exit_code, 2);
}

TEST_F(MnistTpuTest, EveryKernelAgreesWithItsReferenceOnTheCpuAndOnReplicas) {
  for (const char* where : {"--use_tpu=false", "--use_tpu --num_shards=2 --iterations=1"}) {
    const ProgramRun run = Program(absl::StrCat(
        where, " --check_kernels --batch_size=8 --train_steps=1 --enable_predict=false",
        " --eval_steps=1 --model_dir=", work_.File("checked"), std::string(where).size()));
    EXPECT_EQ(run.exit_code, 0) << where << "\n" << run.output;
  }
}

TEST_F(MnistTpuTest, EveryKernelAgreesWithItsReferenceInBfloat16) {
  const ProgramRun run = Program(
      absl::StrCat("--use_tpu=false --compute_dtype=bfloat16 --check_kernels --train_steps=1",
                   " --enable_predict=false --eval_steps=1 --model_dir=", work_.File("checked")));
  EXPECT_EQ(run.exit_code, 0) << run.output;
}

TEST_F(MnistTpuTest, PrintsThePlanAndWritesTheTimesOfSteps) {
  const ProgramRun run = Program(
      "--use_tpu=false --print_plan --profile_steps=2,3 "
      "--conv_algorithm=direct --disable_passes=fuse_pool,fuse_conv_block");
  ASSERT_EQ(run.exit_code, 0) << run.output;
  ExpectParts(run.output,
              {"plan of training with a batch of 32: ", "plan of evaluation with a batch of 32: ",
               "plan of prediction with a batch of 5: ", "_FusedConv2D  conv2d", "\ntotal "});
  EXPECT_FALSE(absl::StrContains(run.output, "_MaxPoolWithArgmax")) << run.output;
  EXPECT_TRUE(FileExists(work_.File("m/timeline-3.json")));
}

TEST_F(MnistTpuTest, ExportsASavedModelOfAModelThatRanOnReplicas) {
  const ProgramRun run = Program(
      absl::StrCat("--use_tpu --num_shards=4 --eval_steps=0 --export_dir=", work_.File("export")));
  ASSERT_EQ(run.exit_code, 0) << run.output;
  ExpectParts(run.output, {absl::StrCat("exported to: ", work_.File("export/"))});
  const absl::StatusOr<std::vector<std::string>> made = ListDirectory(work_.File("export"));
  EST_ASSERT_OK(made);
  ASSERT_EQ(made->size(), 1u);
  EXPECT_TRUE(FileExists(JoinPath(work_.File("export"), (*made)[0], "saved_model.pb")));
}

TEST_F(MnistTpuTest, AModelThatIsTrainedAlreadyIsOnlyEvaluatedAndUsed) {
  ASSERT_EQ(Program("--use_tpu=false --eval_steps=0 --enable_predict=false").exit_code, 0);
  const absl::StatusOr<std::string> before = ReadFile(work_.File("m/checkpoint"));
  const ProgramRun again = Program("--use_tpu=false");
  ASSERT_EQ(again.exit_code, 0) << again.output;
  ExpectParts(again.output,
              {"Skipping training", "evaluated 50 examples at step 4", "test image 0 is a"});
  EXPECT_EQ(*before, *ReadFile(work_.File("m/checkpoint")));
}

TEST_F(MnistTpuTest, GoesOnWhereItStopped) {
  ASSERT_EQ(Program("--use_tpu=false --train_steps=2 --eval_steps=0").exit_code, 0);
  const ProgramRun more = Program("--use_tpu=false --eval_steps=1");
  ASSERT_EQ(more.exit_code, 0) << more.output;
  ExpectParts(more.output, {"evaluated 32 examples at step 4"});
}

// The names and defaults of TensorFlow's program and of RunConfig.
TEST_F(MnistTpuTest, HelpListsEveryFlagWithItsDefault) {
  const ProgramRun run = RunProgram("models/mnist/mnist_tpu --help");
  EXPECT_EQ(run.exit_code, 0);
  const std::vector<std::pair<std::string, std::string>> flags = {
      {"cpu_isa", "string \"\""},
      {"data_dir", "string \"\""},
      {"model_dir", "string \"\""},
      {"batch_size", "int64 1024"},
      {"train_steps", "int64 1000"},
      {"eval_steps", "int64 -1"},
      {"learning_rate", "double 0.05"},
      {"momentum", "double 0"},
      {"use_tpu", "bool true"},
      {"iterations", "string \"50\""},
      {"num_shards", "int64 8"},
      {"enable_predict", "bool true"},
      {"tpu", "string \"\""},
      {"tpu_zone", "string \"\""},
      {"gcp_project", "string \"\""},
      {"master", "string \"\""},
      {"tpu_check", "string \"\""},
      {"seed", "int64 1"},
      {"save_checkpoints_steps", "int64 0"},
      {"save_checkpoints_secs", "int64 600"},
      {"save_summary_steps", "int64 100"},
      {"log_step_count_steps", "int64 100"},
      {"keep_checkpoint_max", "int64 5"},
      {"result_json", "string \"\""},
  };
  for (const auto& [name, value] : flags) {
    bool found = false;
    for (const absl::string_view line : absl::StrSplit(run.output, '\n')) {
      std::vector<std::string> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
      found = found || (words.size() > 2 && words[0] == "--" + name &&
                        absl::StrCat(words[1], " ", words[2]) == value);
    }
    EXPECT_TRUE(found) << "--" << name << " " << value << "\n" << run.output;
  }
}

TEST_F(MnistTpuTest, WithoutADataDirDigitsAreDrawnAndOneLineSaysSo) {
  const ProgramRun run =
      Program("--data_dir= --use_tpu=false --train_steps=1 --eval_steps=1 --enable_predict=false");
  ASSERT_EQ(run.exit_code, 0) << run.output;
  const std::vector<std::string> pieces = absl::StrSplit(run.output, "No --data_dir: drawing ");
  ASSERT_EQ(pieces.size(), 2u) << run.output;
  EXPECT_TRUE(absl::StartsWith(pieces[1], "60000 training and 10000 test digits (seed "))
      << run.output;
  ExpectParts(run.output, {"evaluated 32 examples at step 1"});
}

TEST_F(MnistTpuTest, MistakesOfTheCommandLineGiveOneMessageBeforeAnyWorkAndExitWithTwo) {
  EST_ASSERT_OK(WriteFileAtomically(work_.File("file"), "not a directory"));
  const std::vector<std::pair<std::string, std::vector<std::string>>> mistakes = {
      {"--cpu_isa=sse4", {"flag --cpu_isa must be avx2, avx512, avx512_bf16 or amx"}},
      {"--train_steps=0", {"--train_steps must be positive", "0"}},
      {"--result_json=/nowhere/at/all.json", {"a file in a folder that can be written"}},
      {absl::StrCat("--result_json=", work_.path()), {"--result_json must be a file in a folder"}},
      {"--result_json=/proc/all.json", {"--result_json must be a file in a folder"}},
      {"--conv_algorithm=fft",
       {"--conv_algorithm must be auto, direct or winograd, given \"fft\""}},
      {"--compute_dtype=float16",
       {"--compute_dtype must be float32 or bfloat16, given \"float16\""}},
      {"--disable_passes=fuse_pol", {"unknown names: \"fuse_pol\"", "fuse_pool, fuse_conv_block"}},
      {"--profile_steps=9,3", {"--profile_steps: the range must begin at step 1", "given 9,3"}},
      {"--learning_rate=inf", {"--learning_rate must be positive and finite, given inf"}},
      {"--eval_steps=-5", {"--eval_steps must be positive", "-5"}},
      {"--learning_rate=-0.1", {"learning_rate", "positive", "-0.1"}},
      {"--momentum=1", {"momentum", "[0, 1)", "given 1"}},
      {"--use_tpu --batch_size=30",
       {"--batch_size must be positive and divisible by the 8 replicas", "given 30"}},
      {"--use_tpu=false --batch_size=0", {"--batch_size must be positive, given 0"}},
      {"--batch_size=-8", {"--batch_size must be positive", "given -8"}},
      {"--batch_size=70000",
       {"--batch_size must be at most the 60000 training images, given 70000"}},
      {"--batch_size=many", {"flag --batch_size must be a whole number, given \"many\""}},
      {"--num_shards=0 --iterations=x --save_summary_steps=-1",
       {"num_shards must be > 0, given 0", "given 'x'", "save_summary_steps must be >= 0"}},
      {absl::StrCat("--model_dir=", work_.File("file/m")), {work_.File("file"), "is a file"}},
      {absl::StrCat("--model_dir=", work_.File("file")), {work_.File("file"), "is a file"}},
      {"--model_dir=/proc/estimator", {"--model_dir: cannot write to the directory /proc"}},
      {"--log_step_count_steps=-5",
       {"--log_step_count_steps must be >= 0 (0: no log lines)", "-5"}},
      {absl::StrCat("--export_dir=", work_.File("file")), {"a folder that can be written"}},
      {"--save_checkpoints_steps=5 --save_checkpoints_secs=5", {"save_checkpoints"}},
      {"--trainsteps=5", {"did you mean --train_steps"}},
      {"--train_steps=0 --batch_size=-1 --keep_checkpoint_max=-1",
       {"--train_steps", "--batch_size", "keep_checkpoint_max"}},
  };
  for (const auto& [flags, parts] : mistakes) {
    const ProgramRun run = Program("--data_dir= " + flags);
    EXPECT_EQ(run.exit_code, 2) << flags << "\n" << run.output;
    EXPECT_FALSE(absl::StrContains(run.output, "drawing")) << flags << "\n" << run.output;
    ExpectParts(run.output, parts);
    EXPECT_FALSE(FileExists(work_.File("m"))) << flags;
  }
}

TEST_F(MnistTpuTest, DataThatIsNotThereOrTooLittleIsNamed) {
  const ProgramRun nowhere = Program("--data_dir=/no/such/place");
  EXPECT_EQ(nowhere.exit_code, 2);
  ExpectParts(nowhere.output,
              {"--data_dir: no such directory: '/no/such/place'", "train-images-idx3-ubyte"});
  const ProgramRun two = Program("--data_dir=/no/such/place --train_steps=0");
  EXPECT_EQ(two.exit_code, 2);
  ExpectParts(two.output, {"--data_dir: no such", "; --train_steps must be positive, given 0"});
  const std::string file = data_.File("train-images-idx3-ubyte");
  ExpectParts(Program("--data_dir=" + file).output, {absl::StrCat("'", file, "' is a file")});
  const ProgramRun few = Program("--use_tpu=false --batch_size=301");
  EXPECT_EQ(few.exit_code, 2);
  ExpectParts(few.output, {"--batch_size must be at most the 300 training images, given 301"});
}

TEST_F(MnistTpuTest, ALabelOutOfRangeIsNamedWithItsRecord) {
  DigitSet set = DrawDigits(1, 0, 40);
  set.labels.data<int32_t>()[17] = 12;
  EST_ASSERT_OK(WriteIdxSet(data_.path(), "train", set));
  const ProgramRun run = Program("");
  EXPECT_EQ(run.exit_code, 1);
  ExpectParts(run.output, {"train-labels-idx1-ubyte", "record 17 has label 12"});
}

TEST_F(MnistTpuTest, ADryRunNamesNoFolderThatIsRemoved) {
  const ProgramRun run = Program("--use_tpu=false --dry_run");
  EXPECT_EQ(run.exit_code, 0) << run.output;
  EXPECT_FALSE(absl::StrContains(run.output, "tensorboard")) << run.output;
  EXPECT_FALSE(FileExists(work_.File("m")));
}

TEST_F(MnistTpuTest, ARecordOfARunIsNotWrittenThroughALink) {
  const std::string other = work_.File("other"), record = work_.File("m/run.jsonl");
  EST_ASSERT_OK(WriteFileAtomically(other, "{}\n"));
  EST_ASSERT_OK(CreateDirectories(work_.File("m")));
  ASSERT_EQ(symlink(other.c_str(), record.c_str()), 0);
  const ProgramRun run = Program("--use_tpu=false --record_run --eval_steps=0");
  EXPECT_EQ(run.exit_code, 0) << run.output;
  EXPECT_EQ(ReadFile(other).value(), "{}\n");
  EXPECT_TRUE(absl::StrContains(ReadFile(record).value(), "\"flags\":{")) << run.output;
}

}  // namespace
}  // namespace estimator::mnist
