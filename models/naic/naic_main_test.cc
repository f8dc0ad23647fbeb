// Runs the program as a user does: its files, a kill, records of one's own, replicas.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/run_program.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/data/parsing/example_builder.h"
#include "estimator/records/tfrecord.h"

namespace estimator {
namespace {

using ::testing::SizeIs;

class NaicMainTest : public testing::Test {
 protected:
  ProgramRun Program(const std::string& model_dir, const std::string& flags,
                     const std::vector<ProgramSignal>& signals = {}) const {
    return RunProgram(absl::StrCat("models/naic/naic_main --use_tpu=false --batch_size=32 ",
                                   "--model_dir=", dir_.File(model_dir), " ", flags),
                      signals);
  }
  // The lines of the history without the seconds, which are last.
  std::vector<std::string> Lines(const std::string& model_dir) const {
    std::vector<std::string> lines;
    const std::string text = ReadFile(dir_.File(model_dir + "/history.csv")).value();
    for (absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty()))
      lines.emplace_back(line.substr(0, line.rfind(',')));
    return lines;
  }
  // Its columns by name, with a number for each epoch.
  std::map<std::string, std::vector<double>> Columns(const std::string& model_dir) const {
    const std::vector<std::string> lines = Lines(model_dir);
    const std::vector<std::string> names = absl::StrSplit(lines.at(0), ',');
    std::map<std::string, std::vector<double>> columns;
    for (size_t i = 1; i < lines.size(); ++i) {
      const std::vector<std::string> cells = absl::StrSplit(lines[i], ',');
      for (size_t k = 0; k < names.size(); ++k) {
        double number = 0;
        EXPECT_TRUE(absl::SimpleAtod(cells.at(k), &number)) << lines[i];
        columns[names[k]].push_back(number);
      }
    }
    return columns;
  }
  TempDir dir_;
};

TEST_F(NaicMainTest, LearnsTheDrawnBitsAndLeavesTheGuidesFiles) {
  const ProgramRun run = Program("m", "--epochs=12 --steps_per_epoch=16");
  ASSERT_EQ(run.exit_code, 0) << run.output;
  auto columns = Columns("m");
  ASSERT_THAT(columns["loss"], SizeIs(12));
  EXPECT_GT(columns["val_accuracy"].back(), 0.85);
  EXPECT_GT(columns["accuracy"].back(), columns["accuracy"].front());
  const std::vector<std::string> log =
      absl::StrSplit(ReadFile(dir_.File("m/log.csv")).value(), '\n');
  EXPECT_THAT(log, SizeIs(14));  // a header, 12 epochs, and "" at the end
  EXPECT_FALSE(Glob(dir_.File("m/best/ep001_loss0.*_val-loss0.*_val-acc0.*.h5")).value().empty());
  EXPECT_FALSE(Glob(dir_.File("m/early_stopping/best_val_loss.*")).value().empty());
}

TEST_F(NaicMainTest, AStoppedRunContinuesToTheSameHistory) {
  const std::string flags = "--epochs=6 --steps_per_epoch=8 --save_checkpoints_steps=3";
  const ProgramRun whole = Program("whole", flags);
  ASSERT_EQ(whole.exit_code, 0) << whole.output;
  for (const int signal : {SIGKILL, SIGINT}) {
    const std::string name = absl::StrCat("stopped", signal);
    const ProgramRun stopped = Program(name, flags, {{.when = "epoch 3/6", .signal = signal}});
    EXPECT_NE(stopped.exit_code, 0);
    const ProgramRun resumed = Program(name, flags);
    ASSERT_EQ(resumed.exit_code, 0) << resumed.output;
    EXPECT_EQ(Lines(name), Lines("whole"));
    EXPECT_EQ(ReadFile(dir_.File(name + "/log.csv")).value(),
              ReadFile(dir_.File("whole/log.csv")).value());
  }
}

TEST_F(NaicMainTest, ReadsRecordsOfRawFloats) {
  for (const char* folder : {"tfrecords_train", "tfrecords_test"}) {
    EST_ASSERT_OK(CreateDirectories(dir_.File(folder)));
    const auto writer = TFRecordWriter::Open(dir_.File(absl::StrCat(folder, "/a.tfrecords")));
    EST_ASSERT_OK(writer);
    for (int i = 0; i < 64; ++i) {
      std::vector<float> bits(64);
      for (size_t k = 0; k < bits.size(); ++k) bits[k] = static_cast<float>((i >> (k / 16)) & 1);
      const std::string bytes(reinterpret_cast<const char*>(bits.data()),
                              bits.size() * sizeof(float));
      EST_ASSERT_OK(
          (*writer)->Write(ExampleBuilder().Bytes("x", {bytes}).Bytes("y", {bytes}).Serialize()));
    }
    EST_ASSERT_OK((*writer)->Close());
  }
  const ProgramRun run =
      Program("r", absl::StrCat("--epochs=2 --steps_per_epoch=2 --data_dir=", dir_.path()));
  ASSERT_EQ(run.exit_code, 0) << run.output;
  EXPECT_THAT(Lines("r"), SizeIs(3));
}

TEST_F(NaicMainTest, RunsOnReplicas) {
  const std::string flags = "--epochs=2 --steps_per_epoch=5";
  ASSERT_EQ(Program("local", flags).exit_code, 0);
  const ProgramRun run =
      Program("replicas", flags + " --use_tpu=true --num_shards=4 --iterations=3");
  ASSERT_EQ(run.exit_code, 0) << run.output;
  auto local = Columns("local"), replicas = Columns("replicas");
  ASSERT_THAT(replicas["loss"], SizeIs(2));
  for (const char* name : {"loss", "accuracy", "val_loss", "val_accuracy"}) {
    for (size_t i = 0; i < 2; ++i) EXPECT_NEAR(replicas[name][i], local[name][i], 1e-4) << name;
  }
}

}  // namespace
}  // namespace estimator
