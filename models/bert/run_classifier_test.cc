// Runs the program as a user does: with drawn words, with TFRecord files and a checkpoint of
// pretraining that TensorFlow wrote, and with mistakes.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/run_program.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/checkpoint/load.h"
#include "estimator/data/parsing/example_builder.h"
#include "estimator/records/tfrecord.h"
#include "models/bert/classifier_data.h"

namespace estimator::bert {
namespace {

constexpr char kConfig[] = "testdata/reference/bert/bert_config.json";
constexpr char kPretraining[] = "testdata/reference/bert_pretraining/initial";
constexpr int64_t kLength = 12;

void ExpectParts(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) {
    EXPECT_TRUE(absl::StrContains(text, part)) << "lacks: " << part << "\n" << text;
  }
}

// The rows of a file of numbers with tabs between them.
std::vector<std::vector<double>> ReadRows(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadFile(path);
  EST_EXPECT_OK(text);
  std::vector<std::vector<double>> rows;
  for (const absl::string_view line : absl::StrSplit(*text, '\n', absl::SkipEmpty())) {
    std::vector<double>& row = rows.emplace_back();
    for (const absl::string_view number : absl::StrSplit(line, '\t')) {
      EXPECT_TRUE(absl::SimpleAtod(number, &row.emplace_back())) << line;
    }
  }
  return rows;
}

class RunClassifierTest : public testing::Test {
 protected:
  void SetUp() override {
    Draw("train.tf_record", 64, 1);
    Draw("eval.tf_record", 21, 2);
    Draw("predict.tf_record", 13, 3);
  }
  void Draw(const std::string& name, int64_t count, uint64_t seed) {
    EST_ASSERT_OK(WriteDrawnSentences(
        data_.File(name),
        {.count = count, .max_seq_length = kLength, .vocab_size = 40, .seed = seed}));
  }
  // The program with the small network of testdata and the files; `flags` come last and win.
  ProgramRun Program(const std::string& flags) const {
    return RunProgram(absl::StrCat("models/bert/run_classifier --bert_config_file=", kConfig,
                                   " --train_file=", data_.File("train.tf_record"),
                                   " --eval_file=", data_.File("eval.tf_record"),
                                   " --predict_file=", data_.File("predict.tf_record"),
                                   " --output_dir=", work_.File("m"), " --max_seq_length=", kLength,
                                   " --num_train_steps=4 --warmup_steps=1 ", flags));
  }

  TempDir data_;
  TempDir work_;
};

TEST_F(RunClassifierTest, TheTpuCheckNeedsNoOtherFlag) {
  const ProgramRun check = Program("--tpu_check=rules");
  ASSERT_EQ(check.exit_code, 0) << check.output;
  ExpectParts(check.output, {"train: checked with 4 rows on each of 8 cores", "eval: checked",
                             "predict: checked", "TPU check: 0 violations"});
  EXPECT_FALSE(FileExists(work_.File("m/checkpoint")));
  // Of a mode alone, without a trained model.
  const ProgramRun eval = RunProgram("models/bert/run_classifier --tpu_check=rules --do_eval");
  ASSERT_EQ(eval.exit_code, 0) << eval.output;
  ExpectParts(eval.output, {"eval: checked with 1 rows", "TPU check: 0 violations"});
  EXPECT_FALSE(absl::StrContains(eval.output, "train: checked"));
}

TEST_F(RunClassifierTest, TheTpuCheckOfDrawnWordsWritesNothingToTheModelDir) {
  const ProgramRun check = RunProgram(
      absl::StrCat("models/bert/run_classifier --tpu_check=rules --max_seq_length=16 --output_dir=",
                   work_.File("checked")));
  ASSERT_EQ(check.exit_code, 0) << check.output;
  ExpectParts(check.output, {"a small network learns drawn words", "TPU check: 0 violations"});
  EXPECT_FALSE(FileExists(work_.File("checked")));
}

TEST_F(RunClassifierTest, LearnsDrawnWordsOnTheCpuAndOnEightReplicas) {
  for (const char* where : {"--use_tpu=false", "--use_tpu=true --iterations=50"}) {
    const std::string folder = work_.File(absl::StrContains(where, "true") ? "replicas" : "cpu");
    const ProgramRun run = RunProgram(absl::StrCat(
        "models/bert/run_classifier --do_train --do_eval --do_predict --max_seq_length=16 "
        "--learning_rate=5e-4 --num_train_steps=250 --warmup_steps=20 --output_dir=",
        folder, " ", where));
    ASSERT_EQ(run.exit_code, 0) << run.output;
    ExpectParts(run.output,
                {"; an evaluation at step 250; ", "; afterwards predictions",
                 "a small network learns drawn words", "evaluated 300 examples at step 250",
                 "eval_accuracy", "wrote the probabilities of 20 examples to: "});
    double accuracy = 0;
    const std::string results = *ReadFile(folder + "/eval_results.txt");
    for (const absl::string_view line : absl::StrSplit(results, '\n')) {
      if (!absl::StartsWith(line, "eval_accuracy = ")) continue;
      EXPECT_TRUE(absl::SimpleAtod(line.substr(16), &accuracy)) << line;
    }
    EXPECT_GT(accuracy, 0.85) << where << "\n" << results;  // usually 0.91; 0.5 without learning
    ExpectParts(results, {"eval_loss = 0.", "global_step = 250\n", "loss = "});
    EXPECT_EQ(ReadRows(folder + "/test_results.tsv").size(), 20u);
  }
}

// The learning rate of the first step is 0, so that the checkpoint after it has the first values.
TEST_F(RunClassifierTest, StartsAtACheckpointOfPretraining) {
  for (const char* where : {"--use_tpu=false", "--use_tpu=true --iterations=1"}) {
    const std::string folder = work_.File(absl::StrContains(where, "true") ? "replicas" : "cpu");
    const ProgramRun run =
        Program(absl::StrCat("--do_train --num_train_steps=1 --init_checkpoint=", kPretraining,
                             " --output_dir=", folder, " ", where));
    ASSERT_EQ(run.exit_code, 0) << run.output;
    const auto variables = ListVariables(kPretraining);
    EST_ASSERT_OK(variables);
    int num_bert = 0;
    for (const auto& [name, spec] : *variables) {
      if (!absl::StartsWith(name, "bert/") || absl::StrContains(name, "adam_")) continue;
      ++num_bert;
      const absl::StatusOr<Array> theirs = LoadVariable(kPretraining, name);
      const absl::StatusOr<Array> ours = LoadVariable(folder, name);
      EST_ASSERT_OK(theirs);
      EST_ASSERT_OK(ours);
      EXPECT_EQ(ours->values<float>(), theirs->values<float>()) << name;
    }
    EXPECT_EQ(num_bert, 5 + 2 * 16 + 2);
    const auto own = ListVariables(folder);
    EST_ASSERT_OK(own);
    for (const auto& [name, spec] : *own) EXPECT_FALSE(absl::StartsWith(name, "cls/")) << name;
    EST_EXPECT_OK(LoadVariable(folder, "output_weights"));
    EST_EXPECT_OK(LoadVariable(folder, "bert/pooler/dense/kernel/adam_m"));
  }
}

TEST_F(RunClassifierTest, EvaluatesAndPredictsWithTheTrainedModelInAnotherRun) {
  ASSERT_EQ(Program("--do_train").exit_code, 0);
  const ProgramRun run = Program("--do_eval --do_predict");
  ASSERT_EQ(run.exit_code, 0) << run.output;
  ExpectParts(run.output, {"evaluated 21 examples at step 4"});
  const auto rows = ReadRows(work_.File("m/test_results.tsv"));
  ASSERT_EQ(rows.size(), 13u);
  for (const std::vector<double>& row : rows) {
    ASSERT_EQ(row.size(), 2u);
    EXPECT_NEAR(row[0] + row[1], 1, 1e-6);
  }
  // The same on replicas, whose batches of 8 leave a rest of 5.
  ASSERT_EQ(Program("--do_predict --use_tpu=true").exit_code, 0);
  const auto on_replicas = ReadRows(work_.File("m/test_results.tsv"));
  ASSERT_EQ(on_replicas.size(), rows.size());
  for (size_t i = 0; i < rows.size(); ++i) EXPECT_NEAR(on_replicas[i][1], rows[i][1], 1e-5) << i;
}

TEST_F(RunClassifierTest, EvaluatesACheckpointOfPretrainingWithoutTraining) {
  const ProgramRun run = Program(absl::StrCat("--do_eval --init_checkpoint=", kPretraining));
  ASSERT_EQ(run.exit_code, 0) << run.output;
  ExpectParts(run.output, {"evaluated 21 examples at step 0"});
}

TEST_F(RunClassifierTest, ExportsASavedModelOfAModelThatRanOnReplicas) {
  const ProgramRun run =
      Program(absl::StrCat("--do_train --use_tpu=true --export_dir=", work_.File("export")));
  ASSERT_EQ(run.exit_code, 0) << run.output;
  const absl::StatusOr<std::vector<std::string>> made = ListDirectory(work_.File("export"));
  EST_ASSERT_OK(made);
  ASSERT_EQ(made->size(), 1u);
  EXPECT_TRUE(FileExists(JoinPath(work_.File("export"), (*made)[0], "saved_model.pb")));
}

TEST_F(RunClassifierTest, MistakesOfTheCommandLineGiveOneMessageBeforeAnyWorkAndExitWithTwo) {
  EST_ASSERT_OK(WriteFileAtomically(work_.File("wrong.json"), "{\"vocab_size\": \"many\"}"));
  const std::vector<std::pair<std::string, std::vector<std::string>>> mistakes = {
      {"", {"at least one of --do_train, --do_eval, --do_predict and --export_dir"}},
      {"--do_eval --output_dir=", {"--output_dir: without --do_train, give the folder"}},
      {"--do_eval", {"--output_dir: Could not find trained model in model_dir: ", "train first"}},
      {"--do_predict", {"--output_dir: Could not find trained model in model_dir: "}},
      {absl::StrCat("--do_train --model_dir=", work_.File("other")),
       {"--output_dir: is '", "which has the same meaning"}},
      {"--do_train --train_file=", {"--train_file: give the TFRecord files for --do_train"}},
      {"--do_train --train_file=/no/such", {"--train_file: ", "/no/such"}},
      {"--do_train --do_eval --eval_file=", {"--eval_file: give the TFRecord files"}},
      {"--do_train --bert_config_file=", {"--train_file: needs --bert_config_file"}},
      {"--do_train --bert_config_file=/no/such.json", {"--bert_config_file: ", "/no/such.json"}},
      {absl::StrCat("--do_train --bert_config_file=", work_.File("wrong.json")),
       {"wrong.json", "vocab_size must be an integer, given \"many\""}},
      {"--do_train --max_seq_length=17",
       {"--max_seq_length must be in [8, 16]", "positions for 16 words, given 17"}},
      {"--do_train --max_seq_length=10",
       {"--train_file: ", "has 12 ids, but max_seq_length is 10"}},
      {"--do_train --init_checkpoint=/no/such", {"--init_checkpoint: ", "/no/such"}},
      {"--do_train --init_checkpoint=testdata/reference/mnist/initial",
       {"--init_checkpoint: ", "it is not a checkpoint of BERT"}},
      {"--do_train --use_tpu=true --train_batch_size=12",
       {"--train_batch_size must be positive and divisible by the 8 replicas"}},
      {"--do_train --learning_rate=0 --num_labels=1 --warmup_steps=5",
       {"--learning_rate must be positive", "--num_labels must be at least 2",
        "--warmup_steps must be in [0, num_train_steps], given 5"}},
  };
  for (const auto& [flags, parts] : mistakes) {
    const ProgramRun run = Program(flags);
    EXPECT_EQ(run.exit_code, 2) << flags << "\n" << run.output;
    ExpectParts(run.output, parts);
    EXPECT_FALSE(FileExists(work_.File("m"))) << flags;
  }
}

TEST_F(RunClassifierTest, ALabelOutOfRangeIsNamedWithItsRow) {
  auto writer = TFRecordWriter::Open(data_.File("train.tf_record"));
  EST_ASSERT_OK(writer);
  const std::vector<int64_t> ids(kLength, 7);
  EST_ASSERT_OK((*writer)->Write(ExampleBuilder()
                                     .Ints("input_ids", ids)
                                     .Ints("input_mask", std::vector<int64_t>(kLength, 1))
                                     .Ints("segment_ids", std::vector<int64_t>(kLength, 0))
                                     .Ints("label_ids", {5})
                                     .Serialize()));
  EST_ASSERT_OK((*writer)->Close());
  const ProgramRun run = Program("--do_train");
  EXPECT_EQ(run.exit_code, 1);
  ExpectParts(run.output, {"loss/", "has label 5, but there are 2 classes"});
}

// The defaults of the original program.
TEST_F(RunClassifierTest, HelpListsTheFlagsWithTheirDefaults) {
  const ProgramRun run = RunProgram("models/bert/run_classifier --help");
  EXPECT_EQ(run.exit_code, 0);
  const std::vector<std::pair<std::string, std::string>> flags = {
      {"bert_config_file", "string \"\""}, {"init_checkpoint", "string \"\""},
      {"output_dir", "string \"\""},       {"max_seq_length", "int64 128"},
      {"do_train", "bool false"},          {"do_eval", "bool false"},
      {"do_predict", "bool false"},        {"train_batch_size", "int64 32"},
      {"eval_batch_size", "int64 8"},      {"predict_batch_size", "int64 8"},
      {"learning_rate", "double 0.00005"}, {"use_tpu", "bool false"},
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

}  // namespace
}  // namespace estimator::bert
