// Runs the benchmark as a user does, on a small batch and for few steps.
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "estimator/base/testing/run_program.h"

namespace estimator::bert {
namespace {

ProgramRun Program(const std::string& flags) {
  return RunProgram(absl::StrCat(
      "models/bert/encoder_benchmark --num_layers=1 --sequence_length=16 --batch_size=4 --steps=2 "
      "--warmup_steps=1 ",
      flags));
}

TEST(EncoderBenchmark, PrintsOneLineOfJson) {
  for (const char* flags : {"--use_tpu=false", "--use_tpu=false --compute_dtype=bfloat16",
                            "--use_tpu --num_shards=2"}) {
    const ProgramRun run = Program(flags);
    EXPECT_EQ(run.exit_code, 0) << run.output;
    for (const char* part :
         {"\"program\":\"encoder_benchmark\"", "\"examples_per_second\":",
          "\"first_step_seconds\":", "\"planned_mib\":", "\"peak_rss_mib\":", "\"gflops\":"}) {
      EXPECT_TRUE(absl::StrContains(run.output, part)) << "lacks " << part << "\n" << run.output;
    }
    EXPECT_FALSE(absl::StrContains(run.output, "null")) << run.output;
  }
}

TEST(EncoderBenchmark, NamesTheFlagThatIsWrong) {
  const ProgramRun run = Program("--use_tpu=false --num_layers=0");
  EXPECT_NE(run.exit_code, 0);
  EXPECT_TRUE(absl::StrContains(run.output, "--num_layers must be positive, given 0"))
      << run.output;
}

}  // namespace
}  // namespace estimator::bert
