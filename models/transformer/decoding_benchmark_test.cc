// Runs the benchmark as a user does, with a small network.
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "estimator/base/testing/run_program.h"

namespace estimator {
namespace {

ProgramRun Program(const std::string& flags) {
  return RunProgram(absl::StrCat(
      "models/transformer/decoding_benchmark --use_tpu=false --hidden_size=8 --num_heads=2 "
      "--filter_size=8 --vocab_size=7 --decode_length=5 --steps=2 --warmup_steps=1 ",
      flags));
}

TEST(DecodingBenchmark, PrintsOneLineOfJson) {
  const ProgramRun run = Program("--batch_size=3");
  ASSERT_EQ(run.exit_code, 0) << run.output;
  for (const char* part :
       {"\"program\":\"decoding_benchmark\"", "\"batch_size\":3", "\"tokens_per_second\":",
        "\"batch_ms\":", "\"batch_cpu_ms\":", "\"measured_batches\":2", "\"peak_rss_mib\":"})
    EXPECT_TRUE(absl::StrContains(run.output, part)) << "lacks: " << part << "\n" << run.output;
}

TEST(DecodingBenchmark, RefusesWrongFlagsTogether) {
  const ProgramRun run = Program("--num_heads=3 --decode_length=0");
  EXPECT_EQ(run.exit_code, 2) << run.output;
  for (const char* part : {"--hidden_size must be", "--decode_length must be"})
    EXPECT_TRUE(absl::StrContains(run.output, part)) << "lacks: " << part << "\n" << run.output;
}

}  // namespace
}  // namespace estimator
