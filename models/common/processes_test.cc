// The programs in two processes: the bytes of one process, and results from the chief only.
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/run_program.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/checkpoint/latest_checkpoint.h"

namespace estimator {
namespace {

struct Program {
  const char* name;
  const char* command;  // without the flags of Run
  const char* result;   // that the program prints once; empty: it prints nothing
};

class ProcessesTest : public testing::TestWithParam<Program> {
 protected:
  ProgramRun Run(const std::string& model_dir, const std::string& flags) const {
    return RunProgram(absl::StrCat(
        "env OMP_NUM_THREADS=1 ", GetParam().command,
        " --num_shards=2 --iterations=2 --model_dir=", dir_.File(model_dir), " ", flags));
  }
  // The name of the last checkpoint and the bytes of both files.
  std::string Checkpoint(const std::string& model_dir) const {
    const std::string prefix = LatestCheckpoint(dir_.File(model_dir)).value().value();
    std::string bytes(Basename(prefix));
    for (const char* suffix : {".index", ".data-00000-of-00001"})
      absl::StrAppend(&bytes, ReadFile(prefix + suffix, int64_t{1} << 30).value());
    return bytes;
  }

  TempDir dir_;
};

TEST_P(ProcessesTest, HaveTheBytesOfOneProcess) {
  const ProgramRun one = Run("one", ""), two = Run("two", "--num_processes=2");
  ASSERT_EQ(one.exit_code, 0) << one.output;
  ASSERT_EQ(two.exit_code, 0) << two.output;
  EXPECT_TRUE(Checkpoint("two") == Checkpoint("one")) << two.output;
  // A warning says so if both processes read the same examples.
  EXPECT_FALSE(absl::StrContains(two.output, "The first batch of rank 1")) << two.output;
  if (const std::string result = GetParam().result; !result.empty()) {
    const std::vector<std::string> parts = absl::StrSplit(two.output, result);
    EXPECT_EQ(parts.size(), 2u) << two.output;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Programs, ProcessesTest,
    testing::Values(Program{.name = "Flowers",
                            .command = "models/flowers/flowers_main --network=MobileNetV3Small "
                                       "--image_size=32 --epochs=1",
                            .result = "FINAL ACCURACY MEAN-5: "},
                    Program{.name = "Plant",
                            .command = "models/plant/plant_main --network=MobileNetV3Small "
                                       "--image_size=32 --epochs=1",
                            .result = "evaluated 120 examples at step 15 in"},
                    Program{.name = "Naic",
                            .command = "models/naic/naic_main --batch_size=32 --epochs=2",
                            .result = ""},
                    Program{.name = "ResNet18",
                            .command = "models/imagenet/resnet_main --resnet_depth=18 "
                                       "--image_size=32 --train_batch_size=16 --train_steps=3 "
                                       "--steps_per_eval=3 --num_eval_images=32 "
                                       "--eval_batch_size=16",
                            .result = "to show the run: "}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace estimator
