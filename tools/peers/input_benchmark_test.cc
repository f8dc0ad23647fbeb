// Runs every row as a user does, with a few batches.
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/run_program.h"
#include "estimator/base/testing/temp_dir.h"

namespace estimator {
namespace {

ProgramRun Program(const std::string& flags) {
  return RunProgram(absl::StrCat(
      "tools/peers/input_benchmark --steps=2 --warmup_steps=1 --threads=2 --examples=2000 ",
      flags));
}

TEST(InputBenchmark, PrintsOneLineForEachRow) {
  const TempDir work;
  for (const char* row :
       {"parse_small", "parse_images", "shuffle_batch", "jpeg_bilinear", "jpeg_bicubic"}) {
    const ProgramRun run = Program(absl::StrCat("--row=", row, " --work_dir=", work.File("w")));
    ASSERT_EQ(run.exit_code, 0) << run.output;
    EXPECT_TRUE(
        absl::StrContains(run.output, absl::StrCat("{\"program\":\"input_benchmark\",\"row\":\"",
                                                   row, "\",\"examples_per_second\":")))
        << run.output;
  }
  // 8 pictures of f32 [224,224,3], for the comparison with tf.data.
  for (const char* file : {"w/pixels_bilinear.f32", "w/pixels_bicubic.f32"}) {
    const auto pixels = ReadFile(work.File(file));
    ASSERT_TRUE(pixels.ok()) << pixels.status();
    EXPECT_EQ(pixels->size(), 8u * 224 * 224 * 3 * 4);
  }
}

TEST(InputBenchmark, RefusesWrongFlagsTogether) {
  const ProgramRun run = Program("--row=fly --steps=0");
  EXPECT_EQ(run.exit_code, 2) << run.output;
  for (const char* part : {"--row must be one of parse_small, ", "--work_dir must be given",
                           "--steps must be positive, given 0"}) {
    EXPECT_TRUE(absl::StrContains(run.output, part)) << "lacks: " << part << "\n" << run.output;
  }
}

}  // namespace
}  // namespace estimator
