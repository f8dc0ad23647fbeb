// Runs the benchmark as a user does, with a small network.
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "estimator/base/testing/run_program.h"

namespace estimator::images {
namespace {

ProgramRun Program(const std::string& flags) {
  return RunProgram(
      absl::StrCat("models/images/images_benchmark --use_tpu=false --image_size=32 "
                   "--num_label_classes=10 --batch_size=2 --steps=2 --warmup_steps=1 ",
                   flags));
}

TEST(ImagesBenchmark, PrintsOneLineOfJson) {
  const ProgramRun run = Program("--network=mobilenetv3small --compute_dtype=bfloat16");
  ASSERT_EQ(run.exit_code, 0) << run.output;
  for (const char* part :
       {"\"program\":\"images_benchmark\"", "\"network\":\"MobileNetV3Small\"", "\"image_size\":32",
        "\"compute_dtype\":\"bfloat16\"", "\"images_per_second\":", "\"measured_steps\":2",
        "\"peak_rss_mib\":", "\"gflops\":"}) {
    EXPECT_TRUE(absl::StrContains(run.output, part)) << "lacks: " << part << "\n" << run.output;
  }
  EXPECT_FALSE(absl::StrContains(run.output, ":null")) << run.output;
}

TEST(ImagesBenchmark, RefusesWrongFlagsTogether) {
  const ProgramRun run = Program("--network=AlexNet --image_size=-1");
  EXPECT_EQ(run.exit_code, 2) << run.output;
  for (const char* part : {"--network: ", "known: VGG16", "--image_size must be"})
    EXPECT_TRUE(absl::StrContains(run.output, part)) << "lacks: " << part << "\n" << run.output;
}

}  // namespace
}  // namespace estimator::images
