// Runs the benchmark as a user does, with a small network.
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "estimator/base/testing/run_program.h"

namespace estimator::imagenet {
namespace {

ProgramRun Program(const std::string& flags) {
  return RunProgram(
      absl::StrCat("models/imagenet/resnet_benchmark --use_tpu=false --resnet_depth=18 "
                   "--image_size=32 --batch_size=2 --steps=2 --warmup_steps=1 ",
                   flags));
}

TEST(ResnetBenchmark, PrintsOneLineOfJson) {
  for (const char* version : {"1", "1.5"}) {
    const ProgramRun run = Program(absl::StrCat("--resnet_version=", version));
    ASSERT_EQ(run.exit_code, 0) << run.output;
    for (const char* part :
         {"\"program\":\"resnet_benchmark\"", "\"input\":\"synthetic\"",
          "\"images_per_second\":", "\"measured_steps\":2",
          "\"first_step_seconds\":", "\"planned_mib\":", "\"peak_rss_mib\":", "\"gflops\":"}) {
      EXPECT_TRUE(absl::StrContains(run.output, part)) << "lacks: " << part << "\n" << run.output;
    }
    EXPECT_TRUE(absl::StrContains(run.output, absl::StrCat("\"resnet_version\":\"", version, "\"")))
        << run.output;
    EXPECT_FALSE(absl::StrContains(run.output, ":null")) << run.output;
  }
}

TEST(ResnetBenchmark, RunsInBfloat16) {
  const ProgramRun run = Program("--compute_dtype=bfloat16");
  ASSERT_EQ(run.exit_code, 0) << run.output;
  EXPECT_TRUE(absl::StrContains(run.output, "\"compute_dtype\":\"bfloat16\"")) << run.output;
}

TEST(ResnetBenchmark, RefusesWrongFlagsTogether) {
  const ProgramRun run = Program("--resnet_version=2 --resnet_depth=19 --image_size=0");
  EXPECT_EQ(run.exit_code, 2) << run.output;
  for (const char* part : {"--resnet_version: ", "--resnet_depth: ", "--image_size must be"})
    EXPECT_TRUE(absl::StrContains(run.output, part)) << "lacks: " << part << "\n" << run.output;
}

}  // namespace
}  // namespace estimator::imagenet
