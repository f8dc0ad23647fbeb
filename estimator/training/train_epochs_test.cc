// TrainEpochs: its history is exact, and a training that is killed and continued has the same one.
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "estimator/base/file.h"
#include "estimator/base/interrupt.h"
#include "estimator/base/testing/captured_log.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/nn/metrics/mean.h"
#include "estimator/nn/train/momentum.h"
#include "estimator/training/callbacks/callback.h"
#include "estimator/training/testing/tiny_model.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsNan;

// TinyModel, with the metric in training too.
EstimatorSpec MeteredModel(const Features& features, const Labels& labels, Mode mode,
                           const TinyParams& params) {
  const Tensor y = TinyNetwork(features, mode == Mode::kTrain, params.dropout);
  const Tensor loss = TinyLoss(labels, y);
  const EstimatorSpecOptions options = {
      .eval_metric_ops = {{"mae", metrics::MeanAbsoluteError(labels, y)}}};
  if (mode == Mode::kEval) return EstimatorSpec::Eval(loss, {}, options);
  return EstimatorSpec::Train(loss, train::Momentum(params.learning_rate, 0.9).Minimize(loss),
                              options);
}

Estimator<TinyParams>::Options MeteredOptions(const std::string& dir, double learning_rate = 0.02) {
  auto options = TinyOptions(dir);
  options.model_fn = MeteredModel;
  options.params.learning_rate = learning_rate;
  options.params.dropout = 0.3;
  options.config.save_checkpoints_steps = 1;
  options.config.keep_checkpoint_max = std::nullopt;
  return options;
}

// An epoch of 20 examples: 5 batches.
Dataset Shuffled(const TinyParams&) {
  return Dataset::FromTensorSlices(TinyExamples()).Shuffle(20).Batch(4, {.drop_remainder = true});
}
Dataset EvalInput(const TinyParams&) { return TinyDataset(6); }

// The files without the last column, the seconds.
std::string WithoutSeconds(const std::string& model_dir) {
  std::string text;
  for (const char* name : {"history.csv", "history.jsonl"}) {
    for (absl::string_view line : absl::StrSplit(ReadFile(JoinPath(model_dir, name)).value(), '\n'))
      absl::StrAppend(&text, line.substr(0, line.rfind(',')), "\n");
  }
  return text;
}

class TrainEpochsTest : public ::testing::Test {
 protected:
  void TearDown() override { ClearInterrupt(); }
  TempDir dir_;
};

TEST_F(TrainEpochsTest, TheLossIsTheMeanOfTheSteps) {
  Estimator<TinyParams> estimator(MeteredOptions(dir_.File("m")));
  const auto recorder = std::make_shared<RunRecorder>();
  const auto history = estimator.TrainEpochs(Shuffled, {.epochs = 3, .hooks = {recorder}});
  EST_ASSERT_OK(history);
  ASSERT_EQ(recorder->losses.size(), 15u);
  ASSERT_EQ(history->records.size(), 3u);
  for (size_t epoch = 0; epoch < 3; ++epoch) {
    double sum = 0;
    for (size_t i = 0; i < 5; ++i) sum += recorder->losses[5 * epoch + i];
    EXPECT_DOUBLE_EQ((*history)["loss"][epoch], sum / 5);
    EXPECT_EQ(history->records[epoch].epoch, static_cast<int64_t>(epoch));
    EXPECT_EQ(history->records[epoch].global_step, 5 * static_cast<int64_t>(epoch + 1));
    EXPECT_GT(history->records[epoch].seconds, 0);
  }
}

// Weights that do not change: the means over the training batches are those of an evaluation.
TEST_F(TrainEpochsTest, TheMetricsAreThoseOfAnEvaluationOfTheTrainingData) {
  auto options = MeteredOptions(dir_.File("m"), /*learning_rate=*/0);
  options.params.dropout = 0;
  Estimator<TinyParams> estimator(options);
  const auto history =
      estimator.TrainEpochs(Shuffled, {.epochs = 2, .validation_input_fn = EvalInput});
  EST_ASSERT_OK(history);
  const auto evaluated = estimator.Evaluate(EvalInput);
  EST_ASSERT_OK(evaluated);
  for (const EpochRecord& record : history->records) {
    EXPECT_NEAR(record.logs.at("loss"), (*evaluated)["loss"], 1e-6);
    EXPECT_NEAR(record.logs.at("mae"), (*evaluated)["mae"], 1e-7);
    EXPECT_EQ(record.logs.at("val_loss"), (*evaluated)["loss"]);
    EXPECT_EQ(record.logs.at("val_mae"), (*evaluated)["mae"]);
  }
}

TEST_F(TrainEpochsTest, EachValidationIsOfTheWeightsOfItsEpoch) {
  Estimator<TinyParams> estimator(MeteredOptions(dir_.File("m")));
  const auto history = estimator.TrainEpochs(
      Shuffled, {.epochs = 4, .validation_input_fn = EvalInput, .validation_freq = 2});
  EST_ASSERT_OK(history);
  EXPECT_THAT((*history)["val_loss"][0], IsNan());
  EXPECT_THAT((*history)["val_loss"][2], IsNan());
  for (const size_t epoch : {1, 3}) {
    const auto evaluated = estimator.Evaluate(
        EvalInput, {.checkpoint_path = dir_.File(absl::StrCat("m/model.ckpt-", 5 * (epoch + 1)))});
    EST_ASSERT_OK(evaluated);
    EXPECT_EQ((*history)["val_loss"][epoch], (*evaluated)["loss"]);
  }
}

TEST_F(TrainEpochsTest, TheHistoryIsInTheModelDir) {
  Estimator<TinyParams> estimator(MeteredOptions(dir_.File("m")));
  const auto history =
      estimator.TrainEpochs(Shuffled, {.epochs = 2, .validation_input_fn = EvalInput});
  EST_ASSERT_OK(history);
  const auto read = ReadHistory(dir_.File("m"));
  EST_ASSERT_OK(read);
  ASSERT_EQ(read->records.size(), 2u);
  EXPECT_EQ((*read)["loss"], (*history)["loss"]);
  EXPECT_EQ((*read)["val_mae"], (*history)["val_mae"]);
  EXPECT_THAT(ReadFile(dir_.File("m/history.csv")).value(), HasSubstr("epoch,step,loss,"));
}

// A process that is killed after any step, and one that is stopped between the epochs.
TEST_F(TrainEpochsTest, AKilledTrainingContinuesToTheSameBitsAndTheSameHistory) {
  const EpochOptions<TinyParams> epochs = {.epochs = 3, .validation_input_fn = EvalInput};
  Estimator<TinyParams> whole(MeteredOptions(dir_.File("whole")));
  EST_ASSERT_OK(whole.TrainEpochs(Shuffled, epochs));
  const std::string bits = CheckpointBits(**whole.LatestCheckpoint()).value();
  const std::string files = WithoutSeconds(dir_.File("whole"));
  for (int step = 0; step < 15; ++step) {
    SCOPED_TRACE(step);
    const std::string to = dir_.File(absl::StrCat("killed", step));
    EST_ASSERT_OK(CreateDirectories(to));
    const std::string prefix = absl::StrCat("model.ckpt-", step);
    const std::vector<std::string> saved =
        Glob(JoinPath(dir_.File("whole"), prefix + ".*")).value();
    for (const std::string& path : saved) {
      EST_ASSERT_OK(WriteFileAtomically(JoinPath(to, Basename(path)), ReadFile(path).value()));
    }
    EST_ASSERT_OK(WriteFileAtomically(JoinPath(to, "checkpoint"),
                                      absl::StrCat("model_checkpoint_path: \"", prefix, "\"\n")));
    // The history may be ahead of the checkpoint.
    for (const char* name : {"history.csv", "history.jsonl"}) {
      EST_ASSERT_OK(WriteFileAtomically(JoinPath(to, name),
                                        ReadFile(JoinPath(dir_.File("whole"), name)).value()));
    }
    Estimator<TinyParams> resumed(MeteredOptions(to));
    const auto history = resumed.TrainEpochs(Shuffled, epochs);
    EST_ASSERT_OK(history);
    EXPECT_EQ(history->records.size(), 3u);
    EXPECT_EQ(CheckpointBits(**resumed.LatestCheckpoint()).value(), bits);
    EXPECT_EQ(WithoutSeconds(to), files);
  }
}

TEST_F(TrainEpochsTest, MoreEpochsContinueInTheSameProcessAndInAnother) {
  Estimator<TinyParams> whole(MeteredOptions(dir_.File("whole")));
  EST_ASSERT_OK(whole.TrainEpochs(Shuffled, {.epochs = 4}));
  {
    Estimator<TinyParams> parts(MeteredOptions(dir_.File("parts")));
    EST_ASSERT_OK(parts.TrainEpochs(Shuffled, {.epochs = 1}));
    EST_ASSERT_OK(parts.TrainEpochs(Shuffled, {.epochs = 3}));
  }
  Estimator<TinyParams> parts(MeteredOptions(dir_.File("parts")));
  const auto history = parts.TrainEpochs(Shuffled, {.epochs = 4, .initial_epoch = 3});
  EST_ASSERT_OK(history);
  ASSERT_EQ(history->records.size(), 1u) << "the history of a call begins with initial_epoch";
  EXPECT_EQ(history->last().epoch, 3);
  EXPECT_EQ(WithoutSeconds(dir_.File("parts")), WithoutSeconds(dir_.File("whole")));
  EXPECT_EQ(CheckpointBits(**parts.LatestCheckpoint()).value(),
            CheckpointBits(**whole.LatestCheckpoint()).value());
  const testing::CapturedLog log;
  EST_ASSERT_OK(parts.TrainEpochs(Shuffled, {.epochs = 4}));
  EXPECT_THAT(log.infos, Contains(HasSubstr("all epochs have already been trained")));
}

TEST_F(TrainEpochsTest, AnotherTrainingBetweenTwoCallsEndsAnEpoch) {
  Estimator<TinyParams> estimator(MeteredOptions(dir_.File("m")));
  EST_ASSERT_OK(estimator.TrainEpochs(Shuffled, {.epochs = 1}));
  EST_ASSERT_OK(estimator.Train(Shuffled, Steps(3)));
  const auto history = estimator.TrainEpochs(Shuffled, {.epochs = 2});
  EST_ASSERT_OK(history);
  ASSERT_EQ(history->records.size(), 2u);
  EXPECT_EQ(history->last().global_step, 13);
}

TEST_F(TrainEpochsTest, AFreshModelDirForgetsTheHistoryOfAnother) {
  Estimator<TinyParams> estimator(MeteredOptions(dir_.File("m")));
  EST_ASSERT_OK(WriteHistory(dir_.File("m"), {.records = {{.epoch = 8, .global_step = 100}}}));
  const auto history = estimator.TrainEpochs(Shuffled, {.epochs = 1});
  EST_ASSERT_OK(history);
  ASSERT_EQ(history->records.size(), 1u);
  EXPECT_EQ(ReadHistory(dir_.File("m"))->records.size(), 1u);
}

TEST_F(TrainEpochsTest, StepsPerEpochMayDifferFromAPass) {
  Estimator<TinyParams> estimator(MeteredOptions(dir_.File("m")));
  const auto history = estimator.TrainEpochs(Shuffled, {.epochs = 3, .steps_per_epoch = 3});
  EST_ASSERT_OK(history);
  EXPECT_EQ(history->last().global_step, 9);
}

// A step is an update, of two batches here: of the five of a pass, the last one begins the next.
TEST_F(TrainEpochsTest, AccumulatedBatchesAreOneStepOfAnEpoch) {
  auto options = TinyOptions(dir_.File("m"));
  options.config.accumulate_steps = 2;
  Estimator<TinyParams> estimator(options);
  const auto history = estimator.TrainEpochs(Shuffled, {.epochs = 3});
  EST_ASSERT_OK(history);
  EXPECT_EQ(history->last().global_step, 6);
  options.model_fn = MeteredModel;
  options.config.model_dir = dir_.File("metered");
  EXPECT_THAT(
      Estimator<TinyParams>(options).TrainEpochs(Shuffled, {.epochs = 1}),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("'mae' is one of eval_metric_ops")));
}

TEST_F(TrainEpochsTest, AnInputOfUnknownSizeNeedsTheStepsOfAnEpoch) {
  const auto input = [](const TinyParams& params) {
    return Shuffled(params).Filter([](const Element&) { return true; });
  };
  Estimator<TinyParams> estimator(MeteredOptions(dir_.File("m")));
  EXPECT_THAT(estimator.TrainEpochs(input, {.epochs = 1}),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("the steps of an epoch are not known"),
                             HasSubstr("set EpochOptions.steps_per_epoch"))));
  const auto history = estimator.TrainEpochs(input, {.epochs = 2, .steps_per_epoch = 7});
  EST_ASSERT_OK(history);
  EXPECT_EQ(history->last().global_step, 14) << "the input is repeated";
}

TEST_F(TrainEpochsTest, ListsAllOptionsThatAreOutOfRange) {
  Estimator<TinyParams> estimator(MeteredOptions(dir_.File("m")));
  EXPECT_THAT(estimator.TrainEpochs(Shuffled, {.epochs = 0,
                                               .initial_epoch = -1,
                                               .steps_per_epoch = 0,
                                               .validation_steps = 0,
                                               .validation_freq = 0}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("epochs must be at least 1, given: 0"),
                             HasSubstr("initial_epoch must be at least 0"),
                             HasSubstr("steps_per_epoch must"), HasSubstr("validation_steps must"),
                             HasSubstr("validation_freq must"))));
}

TEST_F(TrainEpochsTest, RefusesFewerExamplesThanABatch) {
  Estimator<TinyParams> estimator(MeteredOptions(dir_.File("m")));
  const auto few = [](const TinyParams&) {
    return Dataset::FromTensorSlices(TinyExamples()).Take(3).Batch(4, {.drop_remainder = true});
  };
  EXPECT_THAT(estimator.TrainEpochs(few, {.epochs = 2}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("TrainEpochs: the input has no batch ("),
                             HasSubstr("Batch(4, drop_remainder)"),
                             HasSubstr("give more data, or a smaller batch"))));
}

// Records the calls. Fails or stops where it is told.
class CallRecorder : public callbacks::Callback {
 public:
  absl::Status OnTrainBegin(Context&) override { return Note("train"); }
  absl::Status OnTrainEnd(Context&) override { return Note("end"); }
  absl::Status OnEpochBegin(Context&, int64_t epoch) override {
    return Note(absl::StrCat("begin ", epoch));
  }
  absl::Status OnEpochEnd(Context& context, int64_t epoch, Logs& logs) override {
    logs["twice"] = 2 * logs.at("loss");
    if (epoch == stop_after) context.StopTraining();
    if (interrupt_after == epoch) RequestInterruptForTest();
    if (epoch == fail_after) return absl::InternalError("the callback fails");
    return Note(absl::StrCat("end ", epoch));
  }
  absl::Status OnEpochReplayed(Context&, int64_t epoch, const Logs& logs) override {
    EXPECT_TRUE(logs.count("twice") > 0);
    return Note(absl::StrCat("replay ", epoch));
  }
  absl::Status OnTrainBatchEnd(Context& context, int64_t batch) override {
    EST_ASSIGN_OR_RETURN(const Logs logs, context.RunningLogs());
    EXPECT_EQ(context.steps_done(), batch + 1);
    running_losses.push_back(logs.at("loss"));
    return absl::OkStatus();
  }
  std::vector<std::string> calls;
  std::vector<double> running_losses;
  int64_t stop_after = -1, fail_after = -1, interrupt_after = -1;

 private:
  absl::Status Note(std::string call) {
    calls.push_back(std::move(call));
    return absl::OkStatus();
  }
};

TEST_F(TrainEpochsTest, CallbacksAreCalledAroundEachEpoch) {
  Estimator<TinyParams> estimator(MeteredOptions(dir_.File("m")));
  const auto recorder = std::make_shared<CallRecorder>();
  const auto history = estimator.TrainEpochs(Shuffled, {.epochs = 2, .hooks = {recorder}});
  EST_ASSERT_OK(history);
  EXPECT_THAT(recorder->calls, ElementsAre("train", "begin 0", "end 0", "begin 1", "end 1", "end"));
  ASSERT_EQ(recorder->running_losses.size(), 10u);
  EXPECT_EQ(recorder->running_losses[4], (*history)["loss"][0]);
  EXPECT_EQ((*history)["twice"][1], 2 * (*history)["loss"][1]);
}

TEST_F(TrainEpochsTest, ACallbackStopsTheTrainingAndAnotherStartContinues) {
  Estimator<TinyParams> estimator(MeteredOptions(dir_.File("m")));
  const auto first = std::make_shared<CallRecorder>(), second = std::make_shared<CallRecorder>();
  first->stop_after = 1;
  const auto history = estimator.TrainEpochs(Shuffled, {.epochs = 5, .hooks = {first}});
  EST_ASSERT_OK(history);
  EXPECT_EQ(history->records.size(), 2u);
  EXPECT_THAT(first->calls, ElementsAre("train", "begin 0", "end 0", "begin 1", "end 1", "end"));
  EST_ASSERT_OK(estimator.TrainEpochs(Shuffled, {.epochs = 3, .hooks = {second}}));
  EXPECT_THAT(second->calls,
              ElementsAre("train", "replay 0", "replay 1", "begin 2", "end 2", "end"));
}

TEST_F(TrainEpochsTest, ACallbackThatFailedIsCalledAgainForItsEpoch) {
  const EpochOptions<TinyParams> epochs = {.epochs = 3, .validation_input_fn = EvalInput};
  Estimator<TinyParams> whole(MeteredOptions(dir_.File("whole")));
  auto with_callback = epochs;
  with_callback.hooks = {std::make_shared<CallRecorder>()};
  EST_ASSERT_OK(whole.TrainEpochs(Shuffled, with_callback));

  const auto failing = std::make_shared<CallRecorder>();
  failing->fail_after = 1;
  with_callback.hooks = {failing};
  {
    Estimator<TinyParams> first(MeteredOptions(dir_.File("m")));
    EXPECT_THAT(first.TrainEpochs(Shuffled, with_callback),
                StatusIs(absl::StatusCode::kInternal,
                         AllOf(HasSubstr("the callback fails"), HasSubstr("are saved in"))));
  }
  failing->fail_after = -1;
  failing->calls.clear();
  Estimator<TinyParams> second(MeteredOptions(dir_.File("m")));
  EST_ASSERT_OK(second.TrainEpochs(Shuffled, with_callback));
  EXPECT_THAT(failing->calls, ElementsAre("train", "replay 0", "end 1", "begin 2", "end 2", "end"));
  EXPECT_EQ(WithoutSeconds(dir_.File("m")), WithoutSeconds(dir_.File("whole")));
}

TEST_F(TrainEpochsTest, AnInterruptBetweenTwoEpochsLosesNothing) {
  const EpochOptions<TinyParams> epochs = {.epochs = 3, .validation_input_fn = EvalInput};
  Estimator<TinyParams> whole(MeteredOptions(dir_.File("whole")));
  EST_ASSERT_OK(whole.TrainEpochs(Shuffled, epochs));
  auto interrupted = epochs;
  const auto interrupting = std::make_shared<CallRecorder>();
  interrupting->interrupt_after = 0;
  interrupted.hooks = {interrupting};
  Estimator<TinyParams> estimator(MeteredOptions(dir_.File("m")));
  EXPECT_THAT(estimator.TrainEpochs(Shuffled, interrupted), StatusIs(absl::StatusCode::kCancelled));
  ClearInterrupt();
  EST_ASSERT_OK(estimator.TrainEpochs(Shuffled, epochs));
  const auto history = ReadHistory(dir_.File("m"));
  EST_ASSERT_OK(history);
  EXPECT_EQ((*history)["val_loss"], (*ReadHistory(dir_.File("whole")))["val_loss"]);
}

TEST_F(TrainEpochsTest, AnErrorOfTheValidationSaysSo) {
  Estimator<TinyParams> estimator(MeteredOptions(dir_.File("m")));
  const auto endless = [](const TinyParams&) { return TinyDataset(6).Repeat(); };
  EXPECT_THAT(estimator.TrainEpochs(Shuffled, {.epochs = 1, .validation_input_fn = endless}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("validation: ")));
  EST_EXPECT_OK(estimator.TrainEpochs(
      Shuffled, {.epochs = 1, .validation_input_fn = endless, .validation_steps = 2}));
}

// In Train, an epoch is a pass over the data, and there is no history.
TEST_F(TrainEpochsTest, CallbacksOfTrainSeePassesOverTheData) {
  Estimator<TinyParams> estimator(MeteredOptions(dir_.File("m")));
  const auto recorder = std::make_shared<CallRecorder>();
  const auto input = [](const TinyParams& params) { return Shuffled(params).Repeat(); };
  EST_ASSERT_OK(estimator.Train(input, MaxSteps(12), {.hooks = {recorder}}));
  EXPECT_THAT(recorder->calls,
              ElementsAre("train", "begin 0", "end 0", "begin 1", "end 1", "begin 2", "end"));
  EXPECT_TRUE(ReadHistory(dir_.File("m"))->empty());
}

TEST_F(TrainEpochsTest, TheMeansChangeNoBitOfTheTraining) {
  Estimator<TinyParams> with(MeteredOptions(dir_.File("with"))),
      bare(MeteredOptions(dir_.File("bare")));
  EST_ASSERT_OK(with.TrainEpochs(Shuffled, {.epochs = 3, .validation_input_fn = EvalInput}));
  const auto repeated = [](const TinyParams& params) { return Shuffled(params).Repeat(); };
  EST_ASSERT_OK(bare.Train(repeated, MaxSteps(15)));
  EXPECT_EQ(CheckpointBits(**with.LatestCheckpoint()).value(),
            CheckpointBits(**bare.LatestCheckpoint()).value());
}

}  // namespace
}  // namespace estimator
