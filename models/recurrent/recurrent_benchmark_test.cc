// Runs the benchmark as a user does, with a small network.
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "estimator/base/testing/run_program.h"

namespace estimator {
namespace {

ProgramRun Program(const std::string& flags) {
  return RunProgram(
      absl::StrCat("models/recurrent/recurrent_benchmark --use_tpu=false --num_units=5 "
                   "--time_steps=3 --vocab_size=7 --batch_size=2 --steps=2 --warmup_steps=1 ",
                   flags));
}

TEST(RecurrentBenchmark, PrintsOneLineOfJson) {
  for (const char* cell : {"lstm", "gru"}) {
    for (const char* unroll : {"false", "true"}) {
      const ProgramRun run = Program(absl::StrCat("--cell=", cell, " --unroll=", unroll));
      ASSERT_EQ(run.exit_code, 0) << run.output;
      for (const char* part : {"\"program\":\"recurrent_benchmark\"", "\"input\":\"synthetic\"",
                               "\"sequences_per_second\":", "\"measured_steps\":2",
                               "\"planned_mib\":", "\"peak_rss_mib\":"}) {
        EXPECT_TRUE(absl::StrContains(run.output, part)) << "lacks: " << part << "\n" << run.output;
      }
      EXPECT_TRUE(absl::StrContains(run.output, absl::StrCat("\"cell\":\"", cell, "\"")))
          << run.output;
    }
  }
}

TEST(RecurrentBenchmark, RefusesWrongFlagsTogether) {
  const ProgramRun run = Program("--cell=rnn --num_layers=0");
  EXPECT_EQ(run.exit_code, 2) << run.output;
  for (const char* part : {"--cell must be", "--num_layers must be"})
    EXPECT_TRUE(absl::StrContains(run.output, part)) << "lacks: " << part << "\n" << run.output;
}

}  // namespace
}  // namespace estimator
