// Programs with a loop of their own around Train, Evaluate and Predict: a round costs milliseconds
// and leaks nothing: no memory, no file, no thread.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/child_memory.h"
#include "estimator/base/testing/memory.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/training/testing/tiny_model.h"
#include "glog/logging.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

// Open files and threads of this process.
size_t OpenFilesAndThreads() {
  return ListDirectory("/proc/self/fd")->size() + ListDirectory("/proc/self/task")->size();
}

struct Calls {
  int models = 0;
  int train_inputs = 0;
};

// A thousand rounds of one step, an evaluation and predictions; the last three quarters of them
// must not make the process grow. With checkpoints, each round writes one with its graph, and
// summaries.
void RunRounds(bool checkpoints) {
  constexpr int rounds = 1000;
  const int log_level = FLAGS_minloglevel;
  FLAGS_minloglevel = google::GLOG_WARNING;
  testing::PutTempDirsIntoMemory();  // there are 1,000 rounds
  const TempDir dir;
  Calls calls;
  auto options = TinyOptions(dir.File("m"));
  options.config.checkpoint_save_graph_def = true;
  options.config.save_summary_steps = 1;
  if (!checkpoints) options.config.save_checkpoints_steps = 0;
  options.model_fn = [&calls](const Features& features, const Labels& labels, Mode mode,
                              const TinyParams& params) {
    ++calls.models;
    return TinyModel(features, labels, mode, params);
  };
  Estimator<TinyParams> estimator(options);
  const InputFn train = estimator.Input([&calls](const TinyParams&) {
    ++calls.train_inputs;
    return Dataset::FromTensorSlices(TinyExamples()).Shuffle(20).Repeat().Batch(4).Prefetch(2);
  });
  const auto once = [](const TinyParams&) { return TinyDataset(8).Prefetch(2); };
  const auto recorder = std::make_shared<RunRecorder>();
  int64_t resident_after_warm_up = 0;
  size_t open_after_warm_up = 0, files_after_warm_up = 0;
  const auto start = std::chrono::steady_clock::now();
  for (int round = 0; round < rounds; ++round) {
    if (round == rounds / 4) {
      resident_after_warm_up = ResidentBytes();
      open_after_warm_up = OpenFilesAndThreads();
      files_after_warm_up = ListDirectory(dir.File("m"))->size();
    }
    const absl::Status trained = estimator.Train(train, Steps(1), {.hooks = {recorder}});
    EST_ASSERT_OK(trained);
    const auto result = estimator.Evaluate(once);
    EST_ASSERT_OK(result);
    ASSERT_EQ(result->global_step(), round + 1);
    ASSERT_EQ(result->num_examples, 20);
    const auto rows = estimator.Predict(once).All();
    EST_ASSERT_OK(rows);
    ASSERT_EQ(rows->size(), 20u);
  }
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const int64_t growth = ResidentBytes() - resident_after_warm_up;
  ::testing::Test::RecordProperty("milliseconds_per_round",
                                  std::to_string(1000 * seconds / rounds));
  std::printf("%s checkpoints: %.2f ms a round, %ld bytes more in %d rounds\n",
              checkpoints ? "with" : "without", 1000 * seconds / rounds, static_cast<long>(growth),
              rounds - rounds / 4);
  testing::ExpectGrowthBelow(growth, 1 << 20);
  EXPECT_EQ(OpenFilesAndThreads(), open_after_warm_up);
  const std::vector<std::string> files = *ListDirectory(dir.File("m"));
  EXPECT_EQ(files.size(), files_after_warm_up);
  EXPECT_EQ(std::count_if(files.begin(), files.end(),
                          [](const std::string& name) { return absl::EndsWith(name, ".meta"); }),
            checkpoints ? 5 : 0);
  // Half a millisecond; room for a sanitizer. With checkpoints it is the disk that decides.
  if (!checkpoints) {
    EXPECT_LT(seconds / rounds, 0.1);
  }
  EXPECT_EQ(calls.models, 5)
      << "one to train; to evaluate and to predict, one for full batches and one for the rest";
  EXPECT_EQ(calls.train_inputs, 1) << "the open input continues";
  EXPECT_EQ(recorder->steps.back(), rounds);
  FLAGS_minloglevel = log_level;
}

TEST(RepeatedCalls, AThousandRoundsWithoutCheckpointsReuseProgramsAndInput) { RunRounds(false); }

TEST(RepeatedCalls, AThousandRoundsWithCheckpointsReuseProgramsAndInput) { RunRounds(true); }

}  // namespace
}  // namespace estimator
