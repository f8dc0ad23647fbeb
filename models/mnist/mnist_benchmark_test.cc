// Runs the benchmark as a user does: a small batch, few steps, every mode.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "estimator/base/testing/run_program.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "models/mnist/small_mnist.h"

namespace estimator::mnist {
namespace {

class MnistBenchmarkTest : public testing::Test {
 protected:
  void SetUp() override { EST_ASSERT_OK(WriteSmallMnist(data_.path())); }
  ProgramRun Program(const std::string& flags) const {
    return RunProgram(absl::StrCat("models/mnist/mnist_benchmark --data_dir=", data_.path(),
                                   " --batch_size=16 --steps=2 --warmup_steps=1 --use_tpu=false ",
                                   flags));
  }
  // The program's line of JSON.
  std::string Json(const std::string& flags) const {
    const ProgramRun run = Program(flags);
    EXPECT_EQ(run.exit_code, 0) << run.output;
    std::vector<std::string> lines;
    for (const absl::string_view line : absl::StrSplit(run.output, '\n')) {
      if (absl::StartsWith(line, "{")) lines.emplace_back(line);
    }
    EXPECT_EQ(lines.size(), 1u) << run.output;
    return lines.empty() ? "" : lines[0];
  }
  static void ExpectParts(const std::string& text, const std::vector<std::string>& parts) {
    for (const std::string& part : parts) {
      EXPECT_TRUE(absl::StrContains(text, part)) << "lacks: " << part << "\n" << text;
    }
    EXPECT_FALSE(absl::StrContains(text, "null")) << text;
  }

  TempDir data_;
  TempDir work_;
};

TEST_F(MnistBenchmarkTest, PrintsTheSpeedOfTraining) {
  ExpectParts(Json(""), {"\"program\":\"mnist_benchmark\"", "\"mode\":\"train\"",
                         "\"input\":\"real\"", "\"images_per_second\":", "\"measured_steps\":2",
                         "\"first_step_seconds\":", "\"planned_mib\":", "\"peak_rss_mib\":",
                         "\"gflops\":", "\"compute_dtype\":\"float32\""});
}

TEST_F(MnistBenchmarkTest, RunsInBfloat16AndOnReplicas) {
  ExpectParts(Json("--compute_dtype=bfloat16 --bfloat16_activations"),
              {"\"compute_dtype\":\"bfloat16\"", "\"images_per_second\":"});
  ExpectParts(Json("--compute_dtype=bfloat16"),
              {"\"compute_dtype\":\"bfloat16\"", "\"images_per_second\":"});
  ExpectParts(Json("--use_tpu --num_shards=2 --iterations=2"),
              {"\"use_tpu\":1", "\"images_per_second\":", "\"measured_steps\":2"});
}

TEST_F(MnistBenchmarkTest, MeasuresOneFirstStep) {
  for (const char* where : {"", "--use_tpu --num_shards=2 --iterations=50"}) {
    ExpectParts(Json(absl::StrCat("--mode=first_step ", where)),
                {"\"first_step_seconds\":", "\"measured_steps\":0", "\"planned_mib\":"});
  }
}

TEST_F(MnistBenchmarkTest, PredictsAndThenStartsFromTheCheckpoint) {
  const std::string model_dir = absl::StrCat(" --model_dir=", work_.File("m"));
  ExpectParts(Json(absl::StrCat("--mode=predict", model_dir)),
              {"\"predictions_per_second\":", "\"measured_rows\":32"});
  ExpectParts(Json(absl::StrCat("--mode=predict_from_checkpoint --rows=70", model_dir)),
              {"\"seconds_to_predictions\":", "\"measured_rows\":70"});
}

TEST_F(MnistBenchmarkTest, MeasuresSaves) {
  ExpectParts(Json("--mode=save --steps=60"), {"\"save_ms\":", "\"saves\":3"});
}

// Fixed bug: it printed null.
TEST_F(MnistBenchmarkTest, RefusesWhatItCannotMeasure) {
  const auto expect_refused = [&](const std::string& flags, int exit_code,
                                  const std::string& message) {
    const ProgramRun run = Program(flags);
    EXPECT_EQ(run.exit_code, exit_code) << flags << "\n" << run.output;
    ExpectParts(run.output, {message});
  };
  expect_refused("--mode=save --steps=38", 2,
                 "--steps: is 38, but save needs two saves, one after every 20 steps; give at "
                 "least 39");
  expect_refused("--mode=save --steps=60 --use_tpu --num_shards=2 --iterations=2", 1,
                 "save needs two saves, one after every 20 runs, but there were 31 runs; a run has "
                 "one step, or --iterations steps on replicas: raise --steps");
  const std::string dir = work_.File("m"), model_dir = " --model_dir=" + dir;
  expect_refused("--mode=predict_from_checkpoint" + model_dir, 2,
                 "--model_dir: Could not find trained model in model_dir: " + dir);
  ExpectParts(Json("--mode=first_step" + model_dir), {"\"first_step_seconds\":"});
  expect_refused("--mode=first_step" + model_dir, 2,
                 absl::StrCat("--model_dir: first_step measures the first step of a new run, but "
                              "there is ",
                              dir, "/model.ckpt-1; give a folder without a checkpoint"));
  expect_refused("--rows=7", 2, "--rows: is for --mode=predict_from_checkpoint only");
}

TEST_F(MnistBenchmarkTest, ComparesTheLoopWithTheBareProgram) {
  for (const char* dtype : {"float32", "bfloat16"}) {
    ExpectParts(Json(absl::StrCat("--mode=loop --steps=20 --compute_dtype=", dtype)),
                {"\"loop_percent\":", "\"loop_ms\":", "\"program_ms\":", "\"measured_steps\":20"});
  }
  const ProgramRun run = Program("--mode=loop --use_tpu");
  EXPECT_EQ(run.exit_code, 2) << run.output;
  EXPECT_TRUE(absl::StrContains(run.output, "--mode: loop needs --use_tpu=false")) << run.output;
}

TEST_F(MnistBenchmarkTest, RefusesAnUnknownMode) {
  const ProgramRun run = Program("--mode=fly --compute_dtype=float16");
  EXPECT_EQ(run.exit_code, 2) << run.output;
  EXPECT_TRUE(absl::StrContains(run.output,
                                "--mode must be one of train, first_step, predict, "
                                "predict_from_checkpoint, save, loop, given fly"))
      << run.output;
  EXPECT_TRUE(absl::StrContains(run.output, "--compute_dtype must be float32 or bfloat16"))
      << run.output;
}

}  // namespace
}  // namespace estimator::mnist
