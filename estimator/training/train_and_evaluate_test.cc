// TrainAndEvaluate: when it evaluates and exports, and what a restart continues.
#include "estimator/training/train_and_evaluate.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/base/file.h"
#include "estimator/base/interrupt.h"
#include "estimator/base/status.h"
#include "estimator/base/testing/captured_log.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/checkpoint/latest_checkpoint.h"
#include "estimator/checkpoint/load.h"
#include "estimator/training/early_stopping.h"
#include "estimator/training/hooks/stop_at_step_hook.h"
#include "estimator/training/testing/tiny_model.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Dataset EvalInput(const TinyParams&) { return TinyDataset(6); }
Dataset Shuffled(const TinyParams&) {
  return Dataset::FromTensorSlices(TinyExamples()).Shuffle(20).Repeat().Batch(6);
}

// Records its calls. Writes a file instead of a model.
class RecordingExporter : public Exporter {
 public:
  explicit RecordingExporter(std::string name = "recorder") : name_(std::move(name)) {}
  const std::string& name() const override { return name_; }
  absl::StatusOr<std::optional<std::string>> Export(EstimatorBase& estimator,
                                                    const std::string& export_path,
                                                    const std::string& checkpoint_path,
                                                    const EvalResult& eval_result,
                                                    bool is_the_final_export) override {
    const int64_t step = eval_result.global_step();
    EXPECT_EQ(export_path, JoinPath(estimator.model_dir(), "export", name_));
    EXPECT_EQ(checkpoint_path, JoinPath(estimator.model_dir(), absl::StrCat("model.ckpt-", step)));
    steps.push_back(step);
    if (before_export) before_export(step);
    if (step == fails_at) return absl::UnavailableError("the disk is gone");
    if (CheckpointModifiedTimeSeconds(checkpoint_path) == 0)
      return absl::NotFoundError("as an exporter that reads the checkpoint");
    if (is_the_final_export) ++num_finals;
    const std::string dir = JoinPath(export_path, absl::StrCat(1400000000 + step));
    EST_RETURN_IF_ERROR(CreateDirectories(dir));
    return dir;
  }

  std::vector<int64_t> steps;
  int num_finals = 0;
  int64_t fails_at = -1;
  std::function<void(int64_t step)> before_export;

 private:
  const std::string name_;
};

class TrainAndEvaluateTest : public ::testing::Test {
 protected:
  void TearDown() override { ClearInterrupt(); }
  // A checkpoint every 10 steps.
  Estimator<TinyParams>::Options Options(const std::string& name = "m") {
    auto options = TinyOptions(dir_.File(name));
    options.config.save_checkpoints_steps = 10;
    return options;
  }
  EvalSpec<TinyParams> Evaluated(const std::shared_ptr<Exporter>& exporter,
                                 double throttle_secs = 0) {
    return {.input_fn = EvalInput,
            .steps = std::nullopt,
            .exporters = {exporter},
            .throttle_secs = throttle_secs};
  }
  int64_t StepOf(const std::string& name = "m") {
    return *LoadGlobalStep(**LatestCheckpoint(dir_.File(name)));
  }

  TempDir dir_;
  const std::shared_ptr<RecordingExporter> exporter_ = std::make_shared<RecordingExporter>();
};

// Behaviours H1, H10.
TEST_F(TrainAndEvaluateTest, EvaluatesAndExportsEveryCheckpointButThatOfTheFirstValues) {
  Estimator<TinyParams> estimator(Options());
  int num_inputs = 0;
  const auto result = TrainAndEvaluate(estimator,
                                       {.input_fn =
                                            [&](const TinyParams& params) {
                                              ++num_inputs;
                                              return Shuffled(params);
                                            },
                                        .max_steps = 22},
                                       Evaluated(exporter_));
  EST_ASSERT_OK(result);
  EXPECT_THAT(exporter_->steps, ElementsAre(10, 20, 22));
  EXPECT_EQ(exporter_->num_finals, 1);
  EXPECT_EQ(num_inputs, 1) << "Train is called once";
  ASSERT_TRUE(result->eval_result.has_value());
  EXPECT_EQ(result->eval_result->global_step(), 22);
  EXPECT_EQ(result->eval_result->num_examples, 20);
  EXPECT_GT((*result->eval_result)["mae"], 0);
  EXPECT_THAT(result->export_results,
              ElementsAre(std::optional(dir_.File("m/export/recorder/1400000022"))));
  const auto metrics = ReadEvalMetrics(estimator.EvalDir());
  EST_ASSERT_OK(metrics);
  EXPECT_EQ(metrics->size(), 3u);
}

TEST_F(TrainAndEvaluateTest, EvaluationsChangeNoBitOfTheTraining) {
  Estimator<TinyParams> plain(Options("plain"));
  const auto expected = std::make_shared<RunRecorder>();
  EST_ASSERT_OK(plain.Train(Shuffled, MaxSteps(22), {.hooks = {expected}}));
  Estimator<TinyParams> estimator(Options());
  const auto recorder = std::make_shared<RunRecorder>();
  EST_ASSERT_OK(TrainAndEvaluate(estimator,
                                 {.input_fn = Shuffled, .max_steps = 22, .hooks = {recorder}},
                                 Evaluated(exporter_)));
  EXPECT_EQ(recorder->losses, expected->losses);
  EXPECT_EQ(*CheckpointBits(**estimator.LatestCheckpoint()),
            *CheckpointBits(**plain.LatestCheckpoint()));
}

// Behaviour H8.
TEST_F(TrainAndEvaluateTest, ThrottledCheckpointsAreSkippedButNotTheLast) {
  const estimator::testing::CapturedLog log;
  Estimator<TinyParams> estimator(Options());
  EST_ASSERT_OK(TrainAndEvaluate(estimator, {.input_fn = Shuffled, .max_steps = 40},
                                 Evaluated(exporter_, /*throttle_secs=*/600)));
  EXPECT_THAT(exporter_->steps, ElementsAre(10, 40));
  EXPECT_EQ(exporter_->num_finals, 1);
  EXPECT_THAT(log.infos,
              Contains("Skip the current checkpoint eval due to throttle secs (600 secs)."));
}

TEST_F(TrainAndEvaluateTest, TheThrottleMayBeInStepsOrEpochs) {
  // A step has 6 examples, and an epoch 20.
  for (const Period& throttle : {Period::Steps(15), Period::Epochs(4.5), Period::Examples(90)}) {
    const std::string name = absl::StrCat("in_", static_cast<int>(throttle.unit()));
    const estimator::testing::CapturedLog log;
    const auto exporter = std::make_shared<RecordingExporter>();
    Estimator<TinyParams> estimator(Options(name));
    EvalSpec<TinyParams> spec = Evaluated(exporter, /*throttle_secs=*/1e6);
    spec.throttle_every = throttle;
    EST_ASSERT_OK(
        TrainAndEvaluate(estimator, {.input_fn = Shuffled, .max_steps = 60}, std::move(spec)));
    EXPECT_THAT(exporter->steps, ElementsAre(10, 30, 50, 60)) << throttle.ToString();
    EXPECT_THAT(log.infos, Contains(HasSubstr(absl::StrCat(
                               "step 20 is not evaluated: the last evaluation was less than ",
                               throttle.ToString(), " before"))));
  }
}

TEST_F(TrainAndEvaluateTest, AThrottleThatCannotBeInStepsIsAnErrorBeforeTheFirstStep) {
  Estimator<TinyParams> estimator(Options());
  EvalSpec<TinyParams> spec = Evaluated(exporter_);
  spec.throttle_every = Period::Steps(0);
  EXPECT_THAT(TrainAndEvaluate(estimator, {.input_fn = Shuffled, .max_steps = 20}, spec),
              ErrorHas("Must specify throttle_every > 0, given: 0 steps"));
  spec.throttle_every = Period::Epochs(1);
  const auto unknown_size = [](const TinyParams& params) {
    return Shuffled(params).Filter([](const Element&) { return true; });
  };
  EXPECT_THAT(
      TrainAndEvaluate(estimator, {.input_fn = unknown_size, .max_steps = 20}, spec),
      StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("EvalSpec.throttle_every")));
  EXPECT_THAT(exporter_->steps, ElementsAre());
}

TEST_F(TrainAndEvaluateTest, WithoutMaxStepsItTrainsToTheEndOfTheInputAndNothingIsFinal) {
  Estimator<TinyParams> estimator(Options());
  const auto once = [](const TinyParams&) { return TinyDataset(5).Repeat(4); };
  EST_ASSERT_OK(TrainAndEvaluate(estimator, {.input_fn = once}, Evaluated(exporter_)));
  EXPECT_THAT(exporter_->steps, ElementsAre(10, 16));
  EXPECT_EQ(exporter_->num_finals, 0);
}

TEST_F(TrainAndEvaluateTest, EvalSpecSaysStepsNameAndHooks) {
  Estimator<TinyParams> estimator(Options());
  const auto recorder = std::make_shared<RunRecorder>();
  const auto result = TrainAndEvaluate(
      estimator, {.input_fn = Shuffled, .max_steps = 10},
      {.input_fn = EvalInput, .steps = 2, .name = "validation", .hooks = {recorder}});
  EST_ASSERT_OK(result);
  EXPECT_EQ(result->eval_result->num_examples, 12);
  EXPECT_EQ(recorder->num_ends, 1);
  EXPECT_EQ(ReadEvalMetrics(estimator.EvalDir("validation"))->count(10), 1u);
}

// Behaviour H3.
TEST_F(TrainAndEvaluateTest, RefusesATrainingWithoutCheckpoints) {
  auto options = Options();
  options.config.save_checkpoints_steps = std::nullopt;
  options.config.disable_checkpoints = true;
  Estimator<TinyParams> estimator(options);
  EXPECT_THAT(
      TrainAndEvaluate(estimator, {.input_fn = Shuffled, .max_steps = 10}, Evaluated(exporter_)),
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("There should be a CheckpointSaverHook")));
}

// Behaviour H9.
TEST_F(TrainAndEvaluateTest, RefusesSpecsThatAreOutOfRange) {
  Estimator<TinyParams> estimator(Options());
  const TrainSpec<TinyParams> train = {.input_fn = Shuffled, .max_steps = 10};
  EXPECT_THAT(
      TrainAndEvaluate(estimator, {.max_steps = 0},
                       {.steps = -1, .start_delay_secs = -2, .throttle_secs = -3}),
      StatusIs(absl::StatusCode::kInvalidArgument,
               AllOf(HasSubstr("TrainSpec.input_fn must be given; EvalSpec.input_fn must be given"),
                     HasSubstr("Must specify max_steps > 0, given: 0"),
                     HasSubstr("Must specify steps > 0, given: -1"),
                     HasSubstr("Must specify start_delay_secs >= 0, given: -2"),
                     HasSubstr("Must specify throttle_secs >= 0, given: -3"))));
  const auto refused = [&](const Exporters& exporters) {
    return TrainAndEvaluate(estimator, train, {.input_fn = EvalInput, .exporters = exporters})
        .status();
  };
  EXPECT_THAT(refused({nullptr}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("is null")));
  EXPECT_THAT(refused({exporter_, std::make_shared<RecordingExporter>("")}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("All exporter names: 'recorder', ''")));
  EXPECT_THAT(refused({exporter_, exporter_}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("must have unique names")));
  EXPECT_THAT(refused({std::make_shared<LatestExporter>(LatestExporter::Options{.name = "l"})}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("exporter 'l': serving_input_receiver_fn must be given")));
  EXPECT_FALSE(FileExists(dir_.File("m/model.ckpt-0.index"))) << "nothing was trained";
}

TEST_F(TrainAndEvaluateTest, TheThreeExportersWriteBelowExport) {
  const auto raw = BuildRawServingInputReceiverFn({{"x", {DType::kFloat32, {-1, 2}}}});
  Estimator<TinyParams> estimator(Options());
  const auto result = TrainAndEvaluate(
      estimator, {.input_fn = Shuffled, .max_steps = 20},
      {.input_fn = EvalInput,
       .exporters = {std::make_shared<LatestExporter>(LatestExporter::Options{
                         .name = "latest", .serving_input_receiver_fn = raw, .exports_to_keep = 1}),
                     std::make_shared<BestExporter>(
                         BestExporter::Options{.serving_input_receiver_fn = raw}),
                     std::make_shared<FinalExporter>(FinalExporter::Options{
                         .name = "final", .serving_input_receiver_fn = raw})},
       .throttle_secs = 0});
  EST_ASSERT_OK(result);
  EXPECT_THAT(*ListDirectory(dir_.File("m/export")),
              ElementsAre(".exported_step", "best_exporter", "final", "latest"));
  ASSERT_EQ(result->export_results.size(), 3u);
  for (const char* name : {"latest", "final"}) {
    const std::vector<std::string> exports =
        *ListDirectory(dir_.File(absl::StrCat("m/export/", name)));
    ASSERT_EQ(exports.size(), 1u);
    const std::string dir = dir_.File(absl::StrCat("m/export/", name, "/", exports[0]));
    EXPECT_THAT(result->export_results, Contains(std::optional(dir)));
    EXPECT_EQ(*LoadGlobalStep(JoinPath(dir, "variables/variables")), 20);
  }
}

TEST_F(TrainAndEvaluateTest, AnEarlyStoppingHookEndsItAndNothingIsFinal) {
  const estimator::testing::CapturedLog log;
  Estimator<TinyParams> estimator(Options());
  const auto result = TrainAndEvaluate(
      estimator,
      {.input_fn = Shuffled,
       .max_steps = 100,
       .hooks = {StopIfHigherHook(estimator, "mae", 0, {.min_steps = 20, .run_every_steps = 1})}},
      Evaluated(exporter_));
  EST_ASSERT_OK(result);
  EXPECT_EQ(StepOf(), 20);
  EXPECT_THAT(exporter_->steps, ElementsAre(10, 20));
  EXPECT_EQ(exporter_->num_finals, 0);
  EXPECT_THAT(log.infos, Contains(HasSubstr("no exporter was asked for the final export")));
}

// A process that ends in the middle, and the next one.
TEST_F(TrainAndEvaluateTest, ARestartContinuesInputAndBestResult) {
  const auto raw = BuildRawServingInputReceiverFn({{"x", {DType::kFloat32, {-1, 2}}}});
  // The best result is that of step 10, whatever the model does.
  const auto earliest = [](const EvalResult& best, const EvalResult& current) {
    return current.global_step() < best.global_step();
  };
  const auto specs = [&](const std::shared_ptr<Exporter>& recorder) {
    EvalSpec<TinyParams> spec = Evaluated(recorder);
    spec.exporters.push_back(std::make_shared<BestExporter>(BestExporter::Options{
        .name = "best", .serving_input_receiver_fn = raw, .compare_fn = earliest}));
    return spec;
  };
  Estimator<TinyParams> whole(Options("whole"));
  const auto expected = std::make_shared<RunRecorder>();
  EST_ASSERT_OK(TrainAndEvaluate(
      whole, {.input_fn = Shuffled, .max_steps = 40, .hooks = {expected}}, specs(exporter_)));
  EXPECT_EQ(ListDirectory(dir_.File("whole/export/best"))->size(), 1u);

  const auto failing = std::make_shared<RecordingExporter>();
  failing->fails_at = 20;
  const auto recorder = std::make_shared<RunRecorder>();
  {
    Estimator<TinyParams> killed(Options());
    EXPECT_THAT(
        TrainAndEvaluate(killed, {.input_fn = Shuffled, .max_steps = 40, .hooks = {recorder}},
                         specs(failing)),
        StatusIs(absl::StatusCode::kUnavailable,
                 HasSubstr("exporter 'recorder': the disk is gone")));
  }
  const auto after = std::make_shared<RecordingExporter>();
  Estimator<TinyParams> restarted(Options());
  EST_ASSERT_OK(TrainAndEvaluate(
      restarted, {.input_fn = Shuffled, .max_steps = 40, .hooks = {recorder}}, specs(after)));
  EXPECT_THAT(after->steps, ElementsAre(30, 40)) << "the checkpoint of the start is not evaluated";
  EXPECT_EQ(ListDirectory(dir_.File("m/export/best"))->size(), 1u) << "step 10 is still the best";
  // The failing export was before the recorder's turn in run 20.
  expected->losses.erase(expected->losses.begin() + 19);
  EXPECT_EQ(recorder->losses, expected->losses);
}

TEST_F(TrainAndEvaluateTest, ARestartDoesTheFinalExportThatAKillPrevented) {
  exporter_->fails_at = 20;
  {
    Estimator<TinyParams> killed(Options());
    EXPECT_THAT(
        TrainAndEvaluate(killed, {.input_fn = Shuffled, .max_steps = 20},
                         {.input_fn = EvalInput, .exporters = {exporter_}, .throttle_secs = 600}),
        StatusIs(absl::StatusCode::kUnavailable, HasSubstr("the disk is gone")));
  }
  exporter_->fails_at = -1;
  exporter_->steps.clear();
  for (int i = 0; i < 2; ++i) {
    Estimator<TinyParams> restarted(Options());
    const auto result =
        TrainAndEvaluate(restarted, {.input_fn = Shuffled, .max_steps = 20}, Evaluated(exporter_));
    EST_ASSERT_OK(result);
    EXPECT_EQ(result->eval_result.has_value(), i == 0) << "once is enough";
  }
  EXPECT_THAT(exporter_->steps, ElementsAre(20));
  EXPECT_EQ(exporter_->num_finals, 1);
}

TEST_F(TrainAndEvaluateTest, AnInterruptDuringAnEvaluationStopsTrainingAfterItsCheckpoint) {
  class InterruptHook : public SessionRunHook {
    absl::Status AfterRun(RunContext&, const RunValues&) override {
      RequestInterruptForTest();
      return absl::OkStatus();
    }
  };
  {
    Estimator<TinyParams> estimator(Options());
    EvalSpec<TinyParams> spec = Evaluated(exporter_);
    spec.hooks = {std::make_shared<InterruptHook>()};
    EXPECT_THAT(
        TrainAndEvaluate(estimator, {.input_fn = Shuffled, .max_steps = 40}, spec),
        StatusIs(absl::StatusCode::kCancelled, HasSubstr("interrupted at step 10; saved in ")));
    EXPECT_TRUE(exporter_->steps.empty());
  }
  ClearInterrupt();
  Estimator<TinyParams> restarted(Options());
  EST_ASSERT_OK(
      TrainAndEvaluate(restarted, {.input_fn = Shuffled, .max_steps = 20}, Evaluated(exporter_)));
  EXPECT_THAT(exporter_->steps, ElementsAre(20));
}

TEST_F(TrainAndEvaluateTest, AnInterruptOfTheTrainingIsNotFollowedByAnEvaluation) {
  class Interrupter : public SessionRunHook {
    absl::Status AfterRun(RunContext&, const RunValues& values) override {
      if (values.global_step == 7) RequestInterruptForTest();
      return absl::OkStatus();
    }
  };
  Estimator<TinyParams> estimator(Options());
  EXPECT_THAT(
      TrainAndEvaluate(
          estimator,
          {.input_fn = Shuffled, .max_steps = 40, .hooks = {std::make_shared<Interrupter>()}},
          Evaluated(exporter_)),
      StatusIs(absl::StatusCode::kCancelled, HasSubstr("interrupted at step 7; saved in ")));
  EXPECT_TRUE(exporter_->steps.empty());
}

// Tasks of TF_CONFIG.
class TaskTest : public TrainAndEvaluateTest {
 protected:
  void TearDown() override {
    unsetenv("TF_CONFIG");
    TrainAndEvaluateTest::TearDown();
  }
  static void SetTask(const std::string& type, int index = 0) {
    const std::string cluster = type == "evaluator" ? R"({"chief": ["h:1"]})"
                                                    : absl::StrCat(R"({")", type, R"(": ["h:1"]})");
    setenv("TF_CONFIG",
           absl::StrCat(R"({"cluster": )", cluster, R"(, "task": {"type": ")", type,
                        R"(", "index": )", index, "}}")
               .c_str(),
           1);
  }
};

TEST_F(TaskTest, AChiefTrainsOnlyAndAMasterEvaluatesToo) {
  SetTask("chief");
  Estimator<TinyParams> chief(Options());
  const auto result =
      TrainAndEvaluate(chief, {.input_fn = Shuffled, .max_steps = 10}, Evaluated(exporter_));
  EST_ASSERT_OK(result);
  EXPECT_FALSE(result->eval_result.has_value());
  EXPECT_EQ(StepOf(), 10);
  EXPECT_TRUE(exporter_->steps.empty());
  SetTask("master");
  Estimator<TinyParams> master(Options());
  EST_ASSERT_OK(
      TrainAndEvaluate(master, {.input_fn = Shuffled, .max_steps = 20}, Evaluated(exporter_)));
  EXPECT_THAT(exporter_->steps, ElementsAre(20));
}

TEST_F(TaskTest, AChiefWithoutCheckpointsIsRefused) {
  SetTask("chief");
  auto options = Options();
  options.config.save_checkpoints_steps = std::nullopt;
  options.config.disable_checkpoints = true;
  Estimator<TinyParams> chief(options);
  EXPECT_THAT(
      TrainAndEvaluate(chief, {.input_fn = Shuffled, .max_steps = 10}, Evaluated(exporter_)),
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("There should be a CheckpointSaverHook")));
}

TEST_F(TaskTest, AnEvaluatorContinuesAfterACheckpointThatWasDeletedBeforeItsExport) {
  auto options = Options();
  options.config.keep_checkpoint_max = 1;
  Estimator<TinyParams> trainer(options);
  SetTask("evaluator");
  Estimator<TinyParams> evaluator(options);
  TrainAndEvaluateCall call = MakeTrainAndEvaluateCall(
      evaluator, {.input_fn = Shuffled, .max_steps = 20}, Evaluated(exporter_));
  call.sleep = [](double) {};
  EST_ASSERT_OK(trainer.Train(Shuffled, Steps(10)));
  exporter_->before_export = [&](int64_t step) {
    if (step == 10) {
      EST_EXPECT_OK(trainer.Train(Shuffled, Steps(10)));
    }
  };
  const auto result = RunTrainAndEvaluate(call);
  EST_ASSERT_OK(result);
  EXPECT_THAT(exporter_->steps, ElementsAre(10, 20));
  EXPECT_EQ(result->eval_result->global_step(), 20);
}

// Behaviours H5, H6.
TEST_F(TaskTest, AnEvaluatorWaitsForCheckpointsAndEndsWithTheLast) {
  Estimator<TinyParams> trainer(Options());
  SetTask("evaluator");
  Estimator<TinyParams> evaluator(Options());
  EvalSpec<TinyParams> spec = Evaluated(exporter_, /*throttle_secs=*/60);
  spec.start_delay_secs = 120;
  TrainAndEvaluateCall call =
      MakeTrainAndEvaluateCall(evaluator, {.input_fn = Shuffled, .max_steps = 20}, spec);
  double now = 0;
  std::vector<double> times;
  exporter_->before_export = [&](int64_t) { times.push_back(now); };
  call.clock = [&now] { return now; };
  call.sleep = [&](double seconds) {
    now += seconds;
    if (now == 60 || now == 140 || now == 150 || now == 300) {
      EST_EXPECT_OK(trainer.Train(Shuffled, Steps(5)));
    }
  };
  const auto result = RunTrainAndEvaluate(call);
  EST_ASSERT_OK(result);
  EXPECT_THAT(exporter_->steps, ElementsAre(5, 15, 20));
  EXPECT_THAT(times, ElementsAre(120, 180, 300));
  EXPECT_EQ(exporter_->num_finals, 1);
  EXPECT_EQ(result->eval_result->global_step(), 20);
}

TEST_F(TaskTest, AnEvaluatorEndsWithATrainingThatStopsEarly) {
  SetTask("chief");
  Estimator<TinyParams> chief(Options());
  const auto early = std::make_shared<StopAtStepHook>(StopAtStepHook::Options{.num_steps = 10});
  TrainSpec<TinyParams> train_spec = {.input_fn = Shuffled, .max_steps = 1000};
  train_spec.hooks = {early};
  EST_ASSERT_OK(TrainAndEvaluate(chief, train_spec, Evaluated(exporter_)));
  SetTask("evaluator");
  Estimator<TinyParams> evaluator(Options());
  TrainAndEvaluateCall call = MakeTrainAndEvaluateCall(evaluator, train_spec, Evaluated(exporter_));
  call.sleep = [](double) {};
  const testing::CapturedLog log;
  const auto result = RunTrainAndEvaluate(call);
  EST_ASSERT_OK(result);
  EXPECT_EQ(result->eval_result->global_step(), 10);
  EXPECT_THAT(log.infos, Contains(HasSubstr("Exiting evaluation: the training has ended at step "
                                            "10, because its input ended or a hook asked for")));
  // The next training has other max_steps, so it has not ended.
  call.max_steps = 2000;
  call.sleep = [](double) { RequestInterruptForTest(); };
  EXPECT_TRUE(absl::IsCancelled(RunTrainAndEvaluate(call).status()));
}

TEST_F(TaskTest, TheThrottleOfAnEvaluatorIsInStepsOrSeconds) {
  Estimator<TinyParams> trainer(Options());
  SetTask("evaluator");
  Estimator<TinyParams> evaluator(Options());
  EvalSpec<TinyParams> spec = Evaluated(exporter_);
  spec.start_delay_secs = 0;
  spec.throttle_every = Period::Epochs(1);
  const TrainSpec<TinyParams> train_spec = {.input_fn = Shuffled, .max_steps = 25};
  EXPECT_THAT(TrainAndEvaluate(evaluator, train_spec, spec),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("throttle_every is 1 epoch, but an evaluator")));
  spec.throttle_every = Period::Steps(8);
  TrainAndEvaluateCall call = MakeTrainAndEvaluateCall(evaluator, train_spec, spec);
  double now = 0;
  call.clock = [&now] { return now; };
  call.sleep = [&](double seconds) {
    now += seconds;
    if (now < 60) {
      EST_EXPECT_OK(trainer.Train(Shuffled, Steps(5)));
    }
  };
  EST_ASSERT_OK(RunTrainAndEvaluate(call));
  EXPECT_THAT(exporter_->steps, ElementsAre(5, 15, 25));
}

TEST_F(TaskTest, AnInterruptEndsTheWaitOfAnEvaluator) {
  SetTask("evaluator");
  Estimator<TinyParams> evaluator(Options());
  TrainAndEvaluateCall call = MakeTrainAndEvaluateCall(
      evaluator, {.input_fn = Shuffled, .max_steps = 20}, Evaluated(exporter_));
  call.sleep = [](double) { RequestInterruptForTest(); };
  EXPECT_THAT(RunTrainAndEvaluate(call),
              StatusIs(absl::StatusCode::kCancelled, HasSubstr("interrupted while waiting")));
}

TEST_F(TaskTest, ThereIsOneEvaluator) {
  SetTask("evaluator", 1);
  Estimator<TinyParams> evaluator(Options());
  EXPECT_THAT(
      TrainAndEvaluate(evaluator, {.input_fn = Shuffled, .max_steps = 10}, Evaluated(exporter_)),
      StatusIs(absl::StatusCode::kInvalidArgument,
               HasSubstr("there can only be one `evaluator` task (with task id 0). Given "
                         "task id 1")));
}

}  // namespace
}  // namespace estimator
