// Runs the program as a user does, with drawn pictures and a small network.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/run_program.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"

namespace estimator {
namespace {

using ::testing::AllOf;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class FlowersMainTest : public testing::Test {
 protected:
  ProgramRun Program(const std::string& model_dir, const std::string& flags,
                     const std::vector<ProgramSignal>& signals = {}) const {
    return RunProgram(
        absl::StrCat("models/flowers/flowers_main --use_tpu=false --image_size=32 ",
                     "--network=MobileNetV3Small --model_dir=", dir_.File(model_dir), " ", flags),
        signals);
  }
  // The lines of the history without the seconds, which are last. The first has the names.
  std::vector<std::string> HistoryLines(const std::string& model_dir) const {
    std::vector<std::string> lines;
    const std::string text = ReadFile(dir_.File(model_dir + "/history.csv")).value();
    for (absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty()))
      lines.emplace_back(line.substr(0, line.rfind(',')));
    return lines;
  }
  // The numbers of a column of the history, by epoch.
  std::vector<double> Column(const std::string& model_dir, const std::string& name) const {
    const std::vector<std::string> lines = HistoryLines(model_dir);
    const std::vector<std::string> names = absl::StrSplit(lines.at(0), ',');
    const auto column =
        static_cast<size_t>(std::find(names.begin(), names.end(), name) - names.begin());
    std::vector<double> values;
    for (size_t i = 1; i < lines.size(); ++i) {
      const std::vector<std::string> cells = absl::StrSplit(lines[i], ',');
      EXPECT_TRUE(absl::SimpleAtod(cells.at(column), &values.emplace_back())) << lines[i];
    }
    return values;
  }
  TempDir dir_;
};

TEST_F(FlowersMainTest, TrainsWithTheGuidesRatesAndShowsNinePictures) {
  const ProgramRun run =
      Program("m", absl::StrCat("--epochs=3 --save_weights=", dir_.File("weights")));
  ASSERT_EQ(run.exit_code, 0) << run.output;
  EXPECT_THAT(Column("m", "step"), ElementsAre(30, 60, 90));
  EXPECT_THAT(Column("m", "lr"), ElementsAre(DoubleNear(1e-5, 1e-9), DoubleNear(4.8e-5, 1e-9),
                                             DoubleNear(8.6e-5, 1e-9)));
  EXPECT_LT(Column("m", "loss").back(), Column("m", "loss").front());
  EXPECT_THAT(Column("m", "val_accuracy"), SizeIs(3));
  EXPECT_THAT(run.output, HasSubstr("FINAL ACCURACY MEAN-5: 0."));
  int titles = 0;
  for (const absl::string_view line : absl::StrSplit(run.output, '\n')) {
    titles +=
        absl::StrContains(line, " [correct]") || absl::StrContains(line, " [incorrect, should be ")
            ? 1
            : 0;
  }
  EXPECT_EQ(titles, 9) << run.output;
  EXPECT_TRUE(FileExists(dir_.File("m/examples.png")));
  EXPECT_THAT(ReadFile(dir_.File("m/examples.jsonl")).value(),
              AllOf(HasSubstr(R"("checkpoint":"model.ckpt-90","classes":["daisy",)"),
                    HasSubstr(R"("multi_label":false)")));
  EXPECT_FALSE(FileExists(dir_.File("m/run.jsonl"))) << "without --record_run";
  EXPECT_TRUE(FileExists(dir_.File("weights.index")));
  // The weights are the first values of another training.
  const ProgramRun again =
      Program("again", absl::StrCat("--epochs=1 --weights=", dir_.File("weights")));
  EXPECT_EQ(again.exit_code, 0) << again.output;
}

TEST_F(FlowersMainTest, AKilledRunContinuesToTheSameHistory) {
  const std::string flags = "--epochs=2 --save_checkpoints_steps=7";
  ASSERT_EQ(Program("whole", flags).exit_code, 0);
  const ProgramRun killed = Program("killed", flags, {{.when = "epoch 2/2", .signal = SIGKILL}});
  EXPECT_NE(killed.exit_code, 0);
  const ProgramRun resumed = Program("killed", flags);
  ASSERT_EQ(resumed.exit_code, 0) << resumed.output;
  EXPECT_EQ(HistoryLines("killed"), HistoryLines("whole"));
}

TEST_F(FlowersMainTest, HasTheBatchAndTheRatesOfEightReplicas) {
  const ProgramRun run = Program("m", "--epochs=2 --use_tpu=true --num_shards=8 --augment=false");
  ASSERT_EQ(run.exit_code, 0) << run.output;
  EXPECT_THAT(Column("m", "step"), ElementsAre(3, 6));  // 480 pictures, 128 a step
  EXPECT_NEAR(Column("m", "lr").back(), (8 * 5e-5 - 1e-5) / 5 + 1e-5, 1e-9);
}

TEST_F(FlowersMainTest, RefusesWrongFlagsTogether) {
  const ProgramRun run = Program("m", "--network=AlexNet --image_size=0");
  EXPECT_EQ(run.exit_code, 2) << run.output;
  EXPECT_THAT(run.output, AllOf(HasSubstr("--network: there is no network 'AlexNet'"),
                                HasSubstr("--image_size must be positive")));
}

}  // namespace
}  // namespace estimator
