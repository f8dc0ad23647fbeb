// Runs the program as a user does: drawn pictures, a kill, replicas, records, a submission.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "estimator/array/array.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/run_program.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/data/parsing/example_builder.h"
#include "estimator/image/png/png.h"
#include "estimator/records/tfrecord.h"
#include "estimator/training/history.h"

namespace estimator {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr char kHeader[] = "image_id,healthy,multiple_diseases,rust,scab";

class PlantMainTest : public testing::Test {
 protected:
  ProgramRun Program(const std::string& name, const std::string& flags,
                     const std::vector<ProgramSignal>& signals = {}) const {
    return RunProgram(absl::StrCat("models/plant/plant_main --use_tpu=false --network=MobileNetV2 ",
                                   "--image_size=32 --model_dir=", dir_.File(name),
                                   " --submission_csv=", dir_.File(name + ".csv"), " ", flags),
                      signals);
  }
  std::vector<std::string> Submission(const std::string& name) const {
    return absl::StrSplit(ReadFile(dir_.File(name + ".csv")).value(), '\n', absl::SkipEmpty());
  }
  TempDir dir_;
};

TEST_F(PlantMainTest, WritesTheAreasOfFourLabelsAndASubmission) {
  const ProgramRun run = Program("m", "--epochs=2 --record_run");
  ASSERT_EQ(run.exit_code, 0) << run.output;
  EXPECT_THAT(ReadFile(dir_.File("m/run.jsonl")).value(), HasSubstr(R"("epochs":"2")"));
  const std::vector<std::string> examples =
      absl::StrSplit(ReadFile(dir_.File("m/examples.jsonl")).value(), '\n', absl::SkipEmpty());
  EXPECT_THAT(examples, SizeIs(121));
  EXPECT_THAT(examples[0], HasSubstr(R"("multi_label":true)"));
  EXPECT_THAT(run.output, HasSubstr("auc/multiple_diseases"));
  const auto history = ReadHistory(dir_.File("m"));
  EST_ASSERT_OK(history);
  ASSERT_THAT(history->records, SizeIs(2));
  const double mean = ((*history)["auc/healthy"][1] + (*history)["auc/multiple_diseases"][1] +
                       (*history)["auc/rust"][1] + (*history)["auc/scab"][1]) /
                      4;
  EXPECT_NEAR((*history)["auc"][1], mean, 1e-6);
  EXPECT_GT((*history)["auc"][1], (*history)["auc"][0]);
  EXPECT_GT((*history)["val_auc"][1], 0);
  const std::vector<std::string> lines = Submission("m");
  ASSERT_THAT(lines, SizeIs(121));
  EXPECT_EQ(lines[0], kHeader);
  for (size_t i = 1; i < lines.size(); ++i) {
    const std::vector<std::string> fields = absl::StrSplit(lines[i], ',');
    ASSERT_THAT(fields, SizeIs(5));
    EXPECT_EQ(fields[0], absl::StrCat("Drawn_", 599 + i));
  }
}

TEST_F(PlantMainTest, AKilledRunContinuesToTheSameSubmission) {
  const std::string flags = "--epochs=2 --save_checkpoints_steps=10";
  ASSERT_EQ(Program("whole", flags).exit_code, 0);
  const ProgramRun stopped = Program("stopped", flags, {{.when = "epoch 1/2", .signal = SIGKILL}});
  EXPECT_NE(stopped.exit_code, 0);
  const ProgramRun resumed = Program("stopped", flags);
  ASSERT_EQ(resumed.exit_code, 0) << resumed.output;
  EXPECT_EQ(Submission("stopped"), Submission("whole"));
  const auto whole = ReadHistory(dir_.File("whole")), part = ReadHistory(dir_.File("stopped"));
  EST_ASSERT_OK(part);
  ASSERT_THAT(part->records, SizeIs(2));
  for (size_t i = 0; i < 2; ++i) EXPECT_EQ(part->records[i].logs, whole->records[i].logs);
}

TEST_F(PlantMainTest, ReadsRecordsOnReplicasAndKeepsTheNamesOfTheTest) {
  for (const char* file : {"train00-16.tfrec", "valid00-16.tfrec", "test00-5.tfrec"}) {
    const bool test = file[1] == 'e';
    EST_ASSERT_OK_AND_ASSIGN(const auto writer, TFRecordWriter::Open(dir_.File(file)));
    for (int i = 0; i < (test ? 5 : 16); ++i) {
      Array pixels(DType::kUint8, {40, 40, 3});
      for (uint8_t& value : pixels.values<uint8_t>()) value = static_cast<uint8_t>(16 * i);
      EST_ASSERT_OK_AND_ASSIGN(const std::string png, image::EncodePng(pixels));
      ExampleBuilder example;
      example.Bytes("image", {png}).Bytes("image_name", {absl::StrCat("Test_", i)});
      if (!test) {
        for (const char* label : {"healthy", "multiple_diseases", "rust", "scab"})
          example.Ints(label, {(i + label[0]) % 2});
      }
      EST_ASSERT_OK(writer->Write(example.Serialize()));
    }
    EST_ASSERT_OK(writer->Close());
  }
  const ProgramRun run = Program(
      "r", absl::StrCat("--epochs=1 --batch_size=4 --use_tpu=true --num_shards=2 --data_dir=",
                        dir_.path()));
  ASSERT_EQ(run.exit_code, 0) << run.output;
  std::vector<std::string> names;
  for (const std::string& line : Submission("r")) names.push_back(line.substr(0, line.find(',')));
  EXPECT_THAT(names, ElementsAre("image_id", "Test_0", "Test_1", "Test_2", "Test_3", "Test_4"));
}

TEST_F(PlantMainTest, AnUnknownNetworkIsAUsageError) {
  const ProgramRun run = Program("u", "--network=Vgg");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.output, HasSubstr("VGG16"));
}

}  // namespace
}  // namespace estimator
