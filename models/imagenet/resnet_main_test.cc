// Runs the program as a user does: with drawn pictures, with TFRecord files, and with mistakes.
#include <gtest/gtest.h>

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
#include "estimator/checkpoint/load.h"
#include "estimator/records/tfrecord.h"
#include "models/imagenet/drawn_pictures.h"

namespace estimator::imagenet {
namespace {

class ResnetMainTest : public testing::Test {
 protected:
  // The program with a small run; `flags` come last and win.
  ProgramRun Program(const std::string& flags) const {
    return RunProgram(absl::StrCat(
        "models/imagenet/resnet_main --use_tpu=false --resnet_depth=18 --image_size=32 "
        "--train_batch_size=8 --eval_batch_size=8 --num_train_images=32 --num_eval_images=20 "
        "--train_steps=4 --model_dir=",
        Dir("m"), " ", flags));
  }
  std::string Dir(const std::string& name) const { return work_.File(name); }
  static void ExpectParts(const std::string& text, const std::vector<std::string>& parts) {
    for (const std::string& part : parts)
      EXPECT_TRUE(absl::StrContains(text, part)) << "lacks: " << part << "\n" << text;
  }

  TempDir work_;
};

TEST_F(ResnetMainTest, TrainsOnDrawnPicturesAndEvaluatesInBetween) {
  const ProgramRun run = Program(absl::StrCat("--steps_per_eval=2 --result_json=", Dir("r.json"),
                                              " --export_dir=", Dir("export")));
  ASSERT_EQ(run.exit_code, 0) << run.output;
  ExpectParts(
      run.output,
      {"drawing 32 training and 20 test pictures; these are not ImageNet's images",
       "steps 0 to 4, 1 epoch of 32 examples; an evaluation every 2 steps (2 in all); ",
       absl::StrCat("; afterwards an export to ", Dir("export")), "evaluated 20 examples at step 2",
       "evaluated 20 examples at step 4", "top_1_accuracy", "top_5_accuracy", "exported to: "});
  ExpectParts(*ReadFile(Dir("r.json")), {"\"top_1_accuracy\": ", "\"top_5_accuracy\": ",
                                         "\"global_step\": 4", "\"images_per_second\": "});
  EST_EXPECT_OK(LoadVariable(Dir("m"), "batch_normalization_19/gamma/Momentum"));
}

TEST_F(ResnetMainTest, TheTpuCheckBlamesNothing) {
  const ProgramRun run = Program("--tpu_check=rules --train_batch_size=16 --eval_batch_size=16");
  ASSERT_EQ(run.exit_code, 0) << run.output;
  ExpectParts(run.output,
              {"train: checked with 2 rows on each of 8 cores", "eval: checked", "note [few-rows]",
               "note [local-batch-norm]", "TPU check: 0 violations"});
}

TEST_F(ResnetMainTest, TheTpuCheckOfAModeNeedsNoCheckpointAndWritesNothing) {
  const ProgramRun eval = Program("--mode=eval --eval_timeout=0 --tpu_check=rules");
  ASSERT_EQ(eval.exit_code, 0) << eval.output;
  ExpectParts(eval.output, {"eval: checked with 1 rows", "TPU check: 0 violations"});
  const ProgramRun predict = Program(
      absl::StrCat("--mode=predict --tpu_check=rules --predict_csv=", Dir("predictions.csv"),
                   " --export_dir=", Dir("checked_export")));
  ASSERT_EQ(predict.exit_code, 0) << predict.output;
  ExpectParts(predict.output, {"predict: checked with 1 rows", "TPU check: 0 violations"});
  EXPECT_FALSE(FileExists(Dir("predictions.csv")));
  EXPECT_FALSE(FileExists(Dir("checked_export")));
  EXPECT_FALSE(FileExists(Dir("m")));
}

TEST_F(ResnetMainTest, ContinuesAndEvaluatesInAnotherRun) {
  ASSERT_EQ(Program("--mode=train --train_steps=2").exit_code, 0);
  const ProgramRun resumed = Program("--mode=train --train_steps=4");
  ASSERT_EQ(resumed.exit_code, 0) << resumed.output;
  ExpectParts(resumed.output, {"the current step is 2"});
  EXPECT_FALSE(absl::StrContains(resumed.output, "evaluated")) << resumed.output;
  const ProgramRun evaluated = Program("--mode=eval");
  ASSERT_EQ(evaluated.exit_code, 0) << evaluated.output;
  ExpectParts(evaluated.output,
              {"evaluated 20 examples at step 4", "the checkpoint has step 4 of 4"});
}

// Fixed bug: it predicted with random weights.
TEST_F(ResnetMainTest, APredictionNeedsATrainedModel) {
  const ProgramRun run = Program(absl::StrCat("--mode=predict --predict_csv=", Dir("p.csv")));
  EXPECT_EQ(run.exit_code, 2) << run.output;
  ExpectParts(run.output,
              {absl::StrCat("--model_dir: Could not find trained model in model_dir: ", Dir("m"),
                            "; train first, or give the folder of a "
                            "trained model")});
  EXPECT_FALSE(FileExists(Dir("p.csv")));
}

// Fixed bug: it waited without a word, and exited with 0.
TEST_F(ResnetMainTest, AnEvaluationOfNoCheckpointSaysSoAndFails) {
  const std::string waiting = absl::StrCat("Waiting for new checkpoint at ", Dir("m"));
  const ProgramRun late = Program("--mode=eval --eval_timeout=1.5");
  EXPECT_EQ(late.exit_code, 1) << late.output;
  ExpectParts(late.output, {absl::StrCat(waiting, ", for at most 1.5 s"),
                            absl::StrCat("error: DEADLINE_EXCEEDED: no checkpoint in ", Dir("m"),
                                         " within 1.5 s (--eval_timeout)")});
  const ProgramRun stopped =
      RunProgram(absl::StrCat("models/imagenet/resnet_main --mode=eval --use_tpu=false "
                              "--model_dir=",
                              Dir("m")),
                 {{.when = "without a time limit"}});
  EXPECT_EQ(stopped.exit_code, 130) << stopped.output;
  ExpectParts(stopped.output, {absl::StrCat(waiting, ", without a time limit"),
                               "stopped: interrupted while waiting for a checkpoint; none was "
                               "evaluated"});
}

TEST_F(ResnetMainTest, AnEvaluationEndsAtTheTimeoutAfterTheLastCheckpoint) {
  ASSERT_EQ(Program("--mode=train --train_steps=2").exit_code, 0);
  const ProgramRun run = Program("--mode=eval --eval_timeout=0.1");
  EXPECT_EQ(run.exit_code, 0) << run.output;
  ExpectParts(run.output, {"evaluated 20 examples at step 2",
                           "Evaluation ends at step 2 of 4: no new checkpoint within 0.1 s"});
}

TEST_F(ResnetMainTest, RunsOnReplicasWithBothNamesOfTheFlags) {
  const ProgramRun run = Program(
      "--use_tpu --num_cores=2 --iterations_per_loop=2 --enable_lars --label_smoothing=0.1");
  ASSERT_EQ(run.exit_code, 0) << run.output;
  ExpectParts(run.output, {"evaluated 20 examples at step 4"});
  EST_EXPECT_OK(LoadVariable(Dir("m"), "conv2d/kernel/LARSOptimizer"));
}

TEST_F(ResnetMainTest, ReadsTFRecordFiles) {
  for (const auto& [name, begin, count] :
       std::vector<std::tuple<std::string, uint64_t, int>>{{"train-00000-of-00002", 0, 10},
                                                           {"train-00001-of-00002", 10, 10},
                                                           {"validation-00000-of-00001", 50, 13}}) {
    auto writer = TFRecordWriter::Open(work_.File(name));
    EST_ASSERT_OK(writer);
    for (int i = 0; i < count; ++i)
      EST_ASSERT_OK((*writer)->Write(*DrawnExample(3, begin + static_cast<uint64_t>(i))));
    EST_ASSERT_OK((*writer)->Close());
  }
  const ProgramRun run = Program(absl::StrCat("--data_dir=", work_.path(),
                                              " --num_label_classes=10 --steps_per_eval=4 ",
                                              "--save_checkpoints_every='0.5 epochs'"));
  ASSERT_EQ(run.exit_code, 0) << run.output;
  ExpectParts(run.output,
              {"evaluated 13 examples at step 4",
               // Of --num_train_images, since the files do not know it.
               "1 epoch of 32 examples; an evaluation at step 4; a checkpoint every 2 steps"});
  EXPECT_FALSE(absl::StrContains(run.output, "drawing")) << run.output;
  const ProgramRun wrong = Program(
      absl::StrCat("--data_dir=", work_.path(), " --num_label_classes=4 --model_dir=", Dir("w")));
  EXPECT_EQ(wrong.exit_code, 1) << wrong.output;
  ExpectParts(wrong.output, {"image/class/label", "but must be in [1, 5)"});
}

TEST_F(ResnetMainTest, AnEpochHasTheImagesThatTheNamesOfTheFilesCount) {
  for (const auto& [name, count] : std::vector<std::pair<std::string, int>>{
           {"train-00-12.tfrec", 12}, {"train-01-4.tfrec", 4}}) {
    auto writer = TFRecordWriter::Open(work_.File(name));
    EST_ASSERT_OK(writer);
    for (int i = 0; i < count; ++i)
      EST_ASSERT_OK((*writer)->Write(*DrawnExample(3, static_cast<uint64_t>(i))));
    EST_ASSERT_OK((*writer)->Close());
  }
  // The flag of the other tests is taken back.
  const ProgramRun run = Program(absl::StrCat(
      "--data_dir=", work_.path(), " --num_label_classes=10 --num_train_images=0 --mode=train"));
  ASSERT_EQ(run.exit_code, 0) << run.output;
  ExpectParts(run.output, {"steps 0 to 4, 2 epochs of 16 examples"});
  const ProgramRun evaluates =
      Program("--eval_every='0.5 epochs' --train_steps=3 --model_dir=" + Dir("e"));
  ASSERT_EQ(evaluates.exit_code, 0) << evaluates.output;
  ExpectParts(evaluates.output,
              {"an evaluation every 2 steps (2 in all)", "evaluated 20 examples at step 2",
               "evaluated 20 examples at step 3"});
}

TEST_F(ResnetMainTest, WritesPredictionsWithTheIdsOfTheImages) {
  const std::string csv = Dir("p.csv");
  ASSERT_EQ(Program("--mode=train --train_steps=1").exit_code, 0);
  const ProgramRun run = Program(absl::StrCat(
      "--mode=predict --predict_probabilities --num_eval_images=9 --predict_csv=", csv));
  ASSERT_EQ(run.exit_code, 0) << run.output;
  ExpectParts(run.output, {"wrote the predictions of 9 images to "});
  const std::vector<std::string> lines = absl::StrSplit(ReadFile(csv).value(), '\n');
  ASSERT_EQ(lines.size(), 11u);
  EXPECT_TRUE(absl::StartsWith(lines[0], "id,class,probability_1,")) << lines[0];
  for (size_t i = 0; i < 9; ++i) {
    const std::vector<std::string> fields = absl::StrSplit(lines[i + 1], ',');
    ASSERT_EQ(fields.size(), 12u) << lines[i + 1];
    EXPECT_EQ(fields[0], absl::StrCat("drawn_", (uint64_t{1} << 40) + i, ".JPEG"));
    // The class is that of the largest probability.
    size_t largest = 2;
    for (size_t k = 2; k < 12; ++k) {
      if (std::stod(fields[k]) > std::stod(fields[largest])) largest = k;
    }
    EXPECT_EQ(fields[1], absl::StrCat(largest - 1)) << lines[i + 1];
  }
}

TEST_F(ResnetMainTest, SkipsDamagedRecords) {
  for (const char* name : {"train-0", "validation-0"}) {
    auto writer = TFRecordWriter::Open(work_.File(name));
    EST_ASSERT_OK(writer);
    for (uint64_t i = 0; i < 32; ++i)
      EST_ASSERT_OK((*writer)->Write(i == 5 ? "no Example" : *DrawnExample(3, i)));
    EST_ASSERT_OK((*writer)->Close());
  }
  const std::string flags =
      absl::StrCat("--data_dir=", work_.path(), " --num_label_classes=10 --train_steps=10 ");
  const ProgramRun run = Program(flags + "--skip_bad_records=1");
  ASSERT_EQ(run.exit_code, 0) << run.output;
  ExpectParts(run.output, {"evaluated 19 examples at step 10", "record 5 of ",
                           "damaged elements so far: 1, at most 1"});
  const ProgramRun fails = Program(flags + "--train_steps=20");
  EXPECT_EQ(fails.exit_code, 1) << fails.output;
  ExpectParts(fails.output, {"record 5 of "});
}

TEST_F(ResnetMainTest, ReportsAllWrongFlagsAtOnce) {
  const ProgramRun run = Program(
      "--resnet_depth=19 --resnet_version=2 --mode=test --momentum=1 --num_label_classes=3 "
      "--precision=float16 --train_batch_size=64 --num_cores=4 --num_shards=2 "
      "--label_smoothing=-1 --eval_every='1 minute' --eval_timeout=nan");
  EXPECT_EQ(run.exit_code, 2) << run.output;
  ExpectParts(run.output,
              {"--resnet_depth must be one of 18, 34, 50, 101, 152, 200, given 19",
               "--resnet_version must be 1 or 1.5, given 2",
               "--mode must be train, eval, train_and_eval or predict, given test",
               "--momentum must be in [0, 1), given 1",
               "--num_label_classes must be at least 10, the classes of drawn pictures, given 3",
               "--precision must be float32 or bfloat16, given float16",
               "--num_train_images: is 32, fewer than the 64 images of a training step",
               "--num_cores: is 4, but --num_shards, which has the same meaning, is 2",
               "--eval_timeout must be at least 0, or -1 for no limit, given nan",
               "--eval_every: ", "--label_smoothing must be in [0, 1), given -1"});
  const ProgramRun predict = Program("--mode=predict --skip_bad_records=-1 --predict_files=x");
  EXPECT_EQ(predict.exit_code, 2) << predict.output;
  ExpectParts(predict.output, {"predict needs --predict_csv, the file to write",
                               "--predict_files: needs --predict_csv",
                               "--skip_bad_records must be at least 0, given -1"});
  const ProgramRun data = Program("--data_dir=/no/such/folder");
  EXPECT_EQ(data.exit_code, 2) << data.output;
  ExpectParts(data.output, {"--data_dir: no such directory: '/no/such/folder'"});
}

}  // namespace
}  // namespace estimator::imagenet
