// The hooks that need more than a session of their own: in a training that runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/summary.h"
#include "estimator/proto/event.pb.h"
#include "estimator/records/tfrecord.h"
#include "estimator/summary/event_file_writer.h"
#include "estimator/training/hooks/final_ops_hook.h"
#include "estimator/training/hooks/logging_tensor_hook.h"
#include "estimator/training/hooks/profiler_hook.h"
#include "estimator/training/testing/tiny_model.h"

namespace estimator {
namespace {

using ::testing::HasSubstr;

constexpr auto Endless = [](const TinyParams&) { return TinyDataset(4).Repeat(); };

// Graph events of all event files of a folder.
int NumGraphEvents(const std::string& directory) {
  EST_EXPECT_OK(CloseAllEventFileWriters());
  int count = 0;
  const std::vector<std::string> paths = Glob(JoinPath(directory, "events.out.tfevents.*")).value();
  for (const std::string& path : paths) {
    const auto reader = TFRecordReader::Open(path).value();
    while (true) {
      const auto record = reader->Next();
      EST_EXPECT_OK(record);
      if (!record.ok() || !record->has_value()) break;
      proto::Event event;
      EXPECT_TRUE(event.ParseFromString(**record));
      count += event.graph_def().empty() ? 0 : 1;
    }
  }
  return count;
}

TEST(HooksInTraining, TheGraphIsWrittenOnceHoweverOftenTrainIsCalled) {
  const TempDir dir;
  auto options = TinyOptions(dir.path());
  options.config.checkpoint_save_graph_def = true;
  Estimator<TinyParams> estimator(options);
  for (int call = 0; call < 3; ++call) {
    const absl::Status trained = estimator.Train(Endless, Steps(2));
    EST_ASSERT_OK(trained);
  }
  EXPECT_EQ(NumGraphEvents(dir.path()), 1);
  EXPECT_THAT(ReadFile(dir.File("graph.pbtxt")).value(), HasSubstr("\"ApplyMomentum\""));
}

TEST(HooksInTraining, NoGraphIsWrittenWhereTheConfigSaysSo) {
  const TempDir dir;
  auto options = TinyOptions(dir.path());
  options.config.checkpoint_save_graph_def = false;
  Estimator<TinyParams> estimator(options);
  EST_ASSERT_OK(estimator.Train(Endless, Steps(2)));
  EXPECT_FALSE(FileExists(dir.File("graph.pbtxt")));
}

// A hook of the model's: it knows the model's variables.
TEST(HooksInTraining, FinalOpsAreThoseOfTheTrainedVariables) {
  const TempDir dir;
  auto options = TinyOptions(dir.path());
  std::shared_ptr<FinalOpsHook> final_ops;
  options.model_fn = [&](const Features& features, const Labels& labels, Mode mode,
                         const TinyParams& params) {
    const EstimatorSpec tiny = TinyModel(features, labels, mode, params);
    final_ops = std::make_shared<FinalOpsHook>(
        std::map<std::string, Tensor>{{"kernel", *Graph::Current().FindVariable("dense/kernel")}});
    return EstimatorSpec::Train(tiny.spec().loss, tiny.spec().train_op,
                                {.training_hooks = {final_ops}});
  };
  Estimator<TinyParams> estimator(options);
  EST_ASSERT_OK(estimator.Train(Endless, Steps(3)));
  ASSERT_NE(final_ops, nullptr);
  const Array trained = estimator.GetVariableValue("dense/kernel").value();
  EXPECT_EQ(final_ops->final_ops_values().at("kernel").values<float>(), trained.values<float>());
}

// Behaviour J10.
TEST(HooksInTraining, TheProfilerWritesTheOpsOfRunsTwoAndFour) {
  const TempDir dir;
  Estimator<TinyParams> estimator(TinyOptions(dir.path()));
  const auto profiler = std::make_shared<ProfilerHook>(
      ProfilerHook::Options{.cadence = {.every_steps = 2, .every_secs = std::nullopt},
                            .output_dir = dir.File("profile")});
  EST_ASSERT_OK(estimator.Train(Endless, Steps(5), {.hooks = {profiler}}));
  EXPECT_THAT(ListDirectory(dir.File("profile")).value(),
              ::testing::ElementsAre("timeline-2.json", "timeline-4.json"));
  const std::string timeline = ReadFile(dir.File("profile/timeline-2.json")).value();
  EXPECT_THAT(timeline, HasSubstr("\"op\":\"MatMul\""));
  EXPECT_THAT(timeline, HasSubstr("\"name\":\"dense_1/"));
}

// A hook that does not override Fetches.
class LateHook : public SessionRunHook {
 public:
  absl::Status Begin(Graph& graph) override {
    const GraphScope scope(graph);
    watched_ = Constant(1.0f);
    return absl::OkStatus();
  }
  std::vector<Tensor> BeforeRun(RunContext&) override { return {watched_}; }

 private:
  Tensor watched_;
};

// The number of programs of a training with summaries, by the plans that are printed.
int NumPlans(const Hooks& hooks) {
  const TempDir dir;
  auto options = TinyOptions(dir.path());
  options.config.print_plan = true;
  options.config.save_summary_steps = 2;
  options.model_fn = [](const Features& features, const Labels& labels, Mode mode,
                        const TinyParams& params) {
    const EstimatorSpec tiny = TinyModel(features, labels, mode, params);
    summary::Scalar("first", Constant(2.0f));
    const auto logger = std::make_shared<LoggingTensorHook>(
        LoggingTensorHook::Options{.tensors = {{"logged", Constant(3.0f)}}, .every_n_iter = 2});
    return EstimatorSpec::Train(tiny.spec().loss, tiny.spec().train_op,
                                {.training_hooks = {logger}});
  };
  Estimator<TinyParams> estimator(options);
  ::testing::internal::CaptureStdout();
  EST_EXPECT_OK(estimator.Train(Endless, Steps(5), {.hooks = hooks}));
  const std::string plans = ::testing::internal::GetCapturedStdout();
  int count = 0;
  for (size_t at = plans.find(" fetches and "); at != std::string::npos;
       at = plans.find(" fetches and ", at + 1)) {
    ++count;
  }
  return count;
}

// It was compiled with the loss alone, and again with the fetches of hooks.
TEST(HooksInTraining, TheStepIsCompiledOnceWithTheFetchesOfHooks) { EXPECT_EQ(NumPlans({}), 1); }

TEST(HooksInTraining, AHookWithBeforeRunOnlyStillWorks) {
  EXPECT_EQ(NumPlans({std::make_shared<LateHook>()}), 2);
}

}  // namespace
}  // namespace estimator
