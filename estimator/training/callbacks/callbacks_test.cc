// What the callbacks have beside Keras': files, errors, other calls, and trainings that continue.
#include "estimator/training/callbacks.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/captured_log.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/checkpoint/load.h"
#include "estimator/training/callbacks/file_pattern.h"
#include "estimator/training/testing/fake_session.h"
#include "estimator/training/testing/tiny_model.h"
#include "estimator/training/train_and_evaluate.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator::callbacks {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Dataset Shuffled(const TinyParams&) {
  return Dataset::FromTensorSlices(TinyExamples()).Shuffle(20).Batch(4, {.drop_remainder = true});
}
Dataset EvalInput(const TinyParams&) { return TinyDataset(6); }

TEST(FillPattern, FillsInNumbersAsPythonDoes) {
  const std::map<std::string, int64_t> counts = {{"epoch", 7}};
  const Logs logs = {{"loss", 0.12345}, {"val_loss", 1e-5}};
  EXPECT_EQ(FillPattern("ep{epoch:03d}_loss{loss:.4f}_{val_loss:.2e}.h5", counts, logs).value(),
            "ep007_loss0.1235_1.00e-05.h5");
  EXPECT_EQ(FillPattern("{epoch}-{loss}-{{x}}", counts, logs).value(), "7-0.12345-{x}");
  EXPECT_EQ(FillPattern("{epoch:.1f}", counts, logs).value(), "7.0");
}

TEST(FillPattern, NamesWhatThereIs) {
  EXPECT_THAT(FillPattern("{val_los:.4f}", {{"epoch", 7}}, {{"loss", 1}}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("Failed to format this callback filepath: "
                                       "\"{val_los:.4f}\". Reason: there is no 'val_los'; there "
                                       "are epoch, loss"))));
  for (const char* wrong :
       {"{loss:03d}", "{loss:.4q}", "{epoch:5000000000d}", "{loss", "{loss:%n}"}) {
    EXPECT_THAT(FillPattern(wrong, {{"epoch", 7}}, {{"loss", 1}}),
                StatusIs(absl::StatusCode::kInvalidArgument))
        << wrong;
  }
}

class CallbacksTest : public ::testing::Test {
 protected:
  Estimator<TinyParams>::Options Options(const std::string& name) {
    auto options = TinyOptions(dir_.File(name));
    options.config.save_checkpoints_steps = 1;
    options.config.keep_checkpoint_max = std::nullopt;
    return options;
  }
  TempDir dir_;
};

TEST_F(CallbacksTest, ModelCheckpointWritesWeightsThatAnEvaluationReads) {
  Estimator<TinyParams> estimator(Options("m"));
  const auto history = estimator.TrainEpochs(
      Shuffled,
      {.epochs = 3,
       .validation_input_fn = EvalInput,
       .hooks = {ModelCheckpoint(dir_.File("best/ep{epoch:02d}"), {.save_weights_only = true}),
                 ModelCheckpoint(dir_.File("all/ep{epoch:02d}"))}});
  EST_ASSERT_OK(history);
  EXPECT_THAT(Glob(dir_.File("best/*.index")).value(),
              ElementsAre(dir_.File("best/ep01.index"), dir_.File("best/ep02.index"),
                          dir_.File("best/ep03.index")));
  // global_step and slots are no weights.
  EXPECT_THAT(ListVariables(dir_.File("best/ep02")).value().size(), 4u);
  EXPECT_THAT(ListVariables(dir_.File("all/ep02")).value().size(), 9u);
  const auto evaluated = estimator.Evaluate(EvalInput, {.checkpoint_path = dir_.File("all/ep02")});
  EST_ASSERT_OK(evaluated);
  EXPECT_EQ((*evaluated)["loss"], (*history)["val_loss"][1]);
}

TEST_F(CallbacksTest, ModelCheckpointWritesKerasWeights) {
  Estimator<TinyParams> estimator(Options("m"));
  EST_ASSERT_OK(estimator.TrainEpochs(
      Shuffled, {.epochs = 1,
                 .hooks = {ModelCheckpoint(dir_.File("best/ep{epoch}.h5")),
                           ModelCheckpoint(dir_.File("same"), {.save_weights_only = true})}}));
  const auto bits = CheckpointBits(dir_.File("best/ep1.h5"));
  EST_ASSERT_OK(bits);
  EXPECT_EQ(*bits, CheckpointBits(dir_.File("same")).value());
}

TEST_F(CallbacksTest, ModelCheckpointKeepsTheBestFiles) {
  testing::FakeSession session;
  Context context(session);
  const HookPtr hook =
      ModelCheckpoint(dir_.File("ep{epoch}"), {.monitor = "val_accuracy", .keep_best = 2});
  auto& callback = dynamic_cast<Callback&>(*hook);
  EST_ASSERT_OK(callback.OnTrainBegin(context));
  const std::vector<std::pair<double, std::vector<int>>> epochs = {
      {0.5, {1}}, {0.4, {1, 2}}, {0.4, {1, 2}}, {0.6, {1, 4}}, {0.3, {1, 4}}, {0.55, {4, 6}}};
  for (size_t i = 0; i < epochs.size(); ++i) {
    Logs logs = {{"val_accuracy", epochs[i].first}};
    EST_ASSERT_OK(callback.OnEpochEnd(context, static_cast<int64_t>(i), logs));
    std::vector<std::string> expected;
    for (const int epoch : epochs[i].second)
      expected.push_back(dir_.File(absl::StrCat("ep", epoch, ".index")));
    EXPECT_EQ(Glob(dir_.File("ep*.index")).value(), expected) << i;
  }
}

TEST_F(CallbacksTest, ModelCheckpointReplacesTheFileOfANaN) {
  testing::FakeSession session;
  Context context(session);
  const HookPtr hook =
      ModelCheckpoint(dir_.File("ep{epoch}"), {.monitor = "val_auc", .keep_best = 1});
  auto& callback = dynamic_cast<Callback&>(*hook);
  EST_ASSERT_OK(callback.OnTrainBegin(context));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> values = {nan, 0.4, nan};
  for (size_t i = 0; i < values.size(); ++i) {
    Logs logs = {{"val_auc", values[i]}};
    EST_ASSERT_OK(callback.OnEpochEnd(context, static_cast<int64_t>(i), logs));
    EXPECT_THAT(Glob(dir_.File("ep*.index")).value(),
                ElementsAre(dir_.File(i == 0 ? "ep1.index" : "ep2.index")));
  }
}

TEST_F(CallbacksTest, ModelCheckpointSavesEveryNBatches) {
  Estimator<TinyParams> estimator(Options("m"));
  EST_ASSERT_OK(estimator.TrainEpochs(
      Shuffled,
      {.epochs = 2, .hooks = {ModelCheckpoint(dir_.File("s/{epoch}-{batch}"), {.save_freq = 4})}}));
  EXPECT_THAT(Glob(dir_.File("s/*.index")).value(),
              ElementsAre(dir_.File("s/1-4.index"), dir_.File("s/2-3.index")));
}

TEST_F(CallbacksTest, AWrongPatternEndsTheTrainingWithTheStepsSaved) {
  Estimator<TinyParams> estimator(Options("m"));
  EXPECT_THAT(estimator.TrainEpochs(
                  Shuffled, {.epochs = 2, .hooks = {ModelCheckpoint(dir_.File("{nothing}"))}}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("there is no 'nothing'")));
  EXPECT_EQ(LoadGlobalStep(**estimator.LatestCheckpoint()).value(), 5);
}

TEST_F(CallbacksTest, AFolderThatCannotBeMadeIsAnErrorBeforeTheFirstStep) {
  EST_ASSERT_OK(WriteFileAtomically(dir_.File("file"), ""));
  for (const char* pattern : {"file/ep{epoch}", "file/{epoch}/m.h5"}) {
    Estimator<TinyParams> estimator(Options("m"));
    EXPECT_THAT(estimator.TrainEpochs(
                    Shuffled, {.epochs = 2, .hooks = {ModelCheckpoint(dir_.File(pattern))}}),
                StatusIs(absl::StatusCode::kFailedPrecondition,
                         AllOf(HasSubstr("ModelCheckpoint: "), HasSubstr(dir_.File("file")))));
    EXPECT_TRUE(ReadHistory(dir_.File("m"))->empty());
  }
}

// The evaluation that chooses the best epoch sees the averages, and so does Keras.
TEST_F(CallbacksTest, KerasWeightsAreTheAveragesThatEvaluationsSee) {
  for (const std::string suffix : {"/ExponentialMovingAverage", "/average"}) {
    auto options = Options("m" + suffix);
    options.config.average_weights =
        suffix == "/average"
            ? AverageWeights::Stochastic({.start_averaging = 2, .average_period = 1})
            : AverageWeights::Exponential(0.5);
    Estimator<TinyParams> estimator(options);
    EST_ASSERT_OK(estimator.TrainEpochs(
        Shuffled, {.epochs = 1,
                   .hooks = {ModelCheckpoint(dir_.File("w.h5")),
                             ModelCheckpoint(dir_.File("all"), {.save_weights_only = true})}}));
    const auto values = [this](const char* file, const std::string& name) {
      const Array array = LoadVariable(dir_.File(file), name).value();
      return std::vector<float>(array.values<float>().begin(), array.values<float>().end());
    };
    EXPECT_EQ(values("w.h5", "dense/kernel"), values("all", "dense/kernel" + suffix));
    EXPECT_NE(values("w.h5", "dense/kernel"), values("all", "dense/kernel"));
  }
}

TEST_F(CallbacksTest, AMissingMetricIsAWarning) {
  Estimator<TinyParams> estimator(Options("m"));
  const testing::CapturedLog log;
  EST_ASSERT_OK(
      estimator.TrainEpochs(Shuffled, {.epochs = 2, .hooks = {EarlyStopping({.patience = 1})}}));
  EXPECT_THAT(log.warnings,
              Contains(HasSubstr("Early stopping conditioned on metric `val_loss` which is not "
                                 "available. Available metrics are: loss")));
}

// The history of an epoch that EarlyStopping ends is the last one, and a new start stops at once.
TEST_F(CallbacksTest, EarlyStoppingRestoresTheBestEpochAndStaysStopped) {
  const auto stop = [](int64_t patience) {
    return EarlyStopping({.monitor = "val_loss",
                          .min_delta = 100,  // only the first epoch is an improvement
                          .patience = patience,
                          .restore_best_weights = true});
  };
  Estimator<TinyParams> estimator(Options("m"));
  const auto history = estimator.TrainEpochs(
      Shuffled, {.epochs = 9, .validation_input_fn = EvalInput, .hooks = {stop(2)}});
  EST_ASSERT_OK(history);
  EXPECT_EQ(history->records.size(), 3u);
  const auto evaluated = estimator.Evaluate(EvalInput);
  EST_ASSERT_OK(evaluated);
  EXPECT_EQ((*evaluated)["loss"], (*history)["val_loss"][0]) << "the weights are those of epoch 0";
  EXPECT_EQ(evaluated->global_step(), 15);

  Estimator<TinyParams> again(Options("m"));
  const auto second = again.TrainEpochs(
      Shuffled, {.epochs = 9, .validation_input_fn = EvalInput, .hooks = {stop(2)}});
  EST_ASSERT_OK(second);
  EXPECT_EQ(second->records.size(), 3u) << "it has stopped before";
  const auto more = again.TrainEpochs(
      Shuffled, {.epochs = 9, .validation_input_fn = EvalInput, .hooks = {stop(4)}});
  EST_ASSERT_OK(more);
  EXPECT_EQ(more->records.size(), 5u);
}

TEST_F(CallbacksTest, CSVLoggerContinuesTheFileOfAKilledTraining) {
  const std::string log = dir_.File("log.csv");
  Estimator<TinyParams> estimator(Options("m"));
  EST_ASSERT_OK(estimator.TrainEpochs(
      Shuffled, {.epochs = 2, .validation_input_fn = EvalInput, .hooks = {CSVLogger(log)}}));
  const std::string two = ReadFile(log).value();
  // The process was killed after it had written another line.
  EST_ASSERT_OK(WriteFileAtomically(log, two + "2,1,1\r\n"));
  EST_ASSERT_OK(estimator.TrainEpochs(
      Shuffled, {.epochs = 3, .validation_input_fn = EvalInput, .hooks = {CSVLogger(log)}}));
  const std::string three = ReadFile(log).value();
  EXPECT_EQ(three.substr(0, two.size()), two);
  EXPECT_EQ(std::count(three.begin(), three.end(), '\n'), 4);
}

TEST_F(CallbacksTest, LambdaCallbackCallsEachFunction) {
  std::vector<std::string> calls;
  const HookPtr hook = LambdaCallback(
      {.on_epoch_begin = [&](Context&,
                             int64_t epoch) { calls.push_back(absl::StrCat("b", epoch)); },
       .on_epoch_end =
           [&](Context& context, int64_t epoch, Logs& logs) {
             calls.push_back(absl::StrCat("e", epoch, logs.count("loss")));
             if (epoch == 1) context.StopTraining();
           },
       .on_batch_begin = [&](Context&,
                             int64_t batch) { calls.push_back(absl::StrCat("[", batch)); },
       .on_batch_end = [&](Context&, int64_t batch,
                           const Logs&) { calls.push_back(absl::StrCat("]", batch)); },
       .on_train_begin = [&](Context&) { calls.push_back("begin"); },
       .on_train_end = [&](Context&) { calls.push_back("end"); }});
  Estimator<TinyParams> estimator(Options("m"));
  EST_ASSERT_OK(
      estimator.TrainEpochs(Shuffled, {.epochs = 5, .steps_per_epoch = 2, .hooks = {hook}}));
  EXPECT_THAT(calls, ElementsAre("begin", "b0", "[0", "]0", "[1", "]1", "e01", "b1", "[0", "]0",
                                 "[1", "]1", "e11", "end"));
}

// A loss that is not finite after two steps.
EstimatorSpec DivergingModel(const Features& features, const Labels& labels, Mode mode,
                             const TinyParams& params) {
  TinyParams steep = params;
  steep.learning_rate = 1e30;
  return TinyModel(features, labels, mode, steep);
}

TEST_F(CallbacksTest, TerminateOnNaNEndsTheTrainingWithoutAnError) {
  auto options = Options("m");
  options.model_fn = DivergingModel;
  Estimator<TinyParams> without(options);
  EXPECT_THAT(without.TrainEpochs(Shuffled, {.epochs = 2}),
              StatusIs(absl::StatusCode::kInvalidArgument));
  options.config.model_dir = dir_.File("n");
  Estimator<TinyParams> estimator(options);
  const testing::CapturedLog log;
  const auto history = estimator.TrainEpochs(Shuffled, {.epochs = 2, .hooks = {TerminateOnNaN()}});
  EST_ASSERT_OK(history);
  EXPECT_TRUE(history->empty());
  EXPECT_THAT(log.warnings, Contains(HasSubstr("Invalid loss, terminating training")));
}

TEST_F(CallbacksTest, ProgbarLoggerShowsKerasLines) {
  testing::FakeSession session;
  session.examples = 8;
  double now = 100;
  std::string shown;
  for (const bool terminal : {false, true}) {
    shown.clear();
    const HookPtr hook =
        ProgbarLogger({.terminal = terminal,
                       .clock = [&now] { return now; },
                       .write = [&shown](absl::string_view text) { shown += std::string(text); }});
    auto& callback = dynamic_cast<Callback&>(*hook);
    Context context(session);
    EST_ASSERT_OK(callback.OnTrainBegin(context));
    EST_ASSERT_OK(callback.OnEpochBegin(context, 1));
    now += 2;
    Logs logs = {{"loss", 0.5}, {"tiny", 1e-5}};
    EST_ASSERT_OK(callback.OnEpochEnd(context, 1, logs));
    EXPECT_THAT(shown, AllOf(HasSubstr("Epoch 2\n"), HasSubstr("0/Unknown - 2s"),
                             HasSubstr("/sample - loss: 0.5000 - tiny: 1.0000e-05\n")));
    EXPECT_EQ(shown.find('\r') != std::string::npos, terminal);
  }
}

TEST_F(CallbacksTest, ProgbarLoggerShowsAnEpochThatHasBecomeShorter) {
  auto options = Options("m");
  options.config.save_checkpoints_steps = 1;
  const HookPtr stop =
      LambdaCallback({.on_batch_end = [](Context& context, int64_t batch, const Logs&) {
        if (batch == 3) context.StopTraining();
      }});
  EST_ASSERT_OK(Estimator<TinyParams>(options).TrainEpochs(
      Shuffled, {.epochs = 1, .steps_per_epoch = 5, .hooks = {stop}}));
  std::string shown;
  const HookPtr bar = ProgbarLogger({.terminal = false, .write = [&shown](absl::string_view text) {
                                       shown += std::string(text);
                                     }});
  EST_ASSERT_OK(Estimator<TinyParams>(options).TrainEpochs(
      Shuffled, {.epochs = 2, .steps_per_epoch = 2, .hooks = {bar}}));
  EXPECT_THAT(shown, HasSubstr("/8 [==============================] - "));
}

TEST_F(CallbacksTest, ProgbarLoggerReplacesTheLinesOfProgress) {
  std::string shown;
  const HookPtr bar =
      ProgbarLogger({.count_mode = CountMode::kSteps,
                     .terminal = false,
                     .write = [&shown](absl::string_view text) { shown += std::string(text); }});
  auto options = Options("m");
  options.config.log_step_count_steps = 1;
  Estimator<TinyParams> estimator(options);
  const testing::CapturedLog log;
  EST_ASSERT_OK(estimator.TrainEpochs(
      Shuffled, {.epochs = 2, .validation_input_fn = EvalInput, .hooks = {bar}}));
  EXPECT_THAT(shown, AllOf(HasSubstr("Epoch 1/2\n5/5 [==============================] - "),
                           HasSubstr("/step - loss: "), HasSubstr(" - val_mae: "),
                           HasSubstr("Epoch 2/2\n")));
  EXPECT_THAT(log.infos, ::testing::Not(Contains(HasSubstr("loss for final step"))));
}

// An epoch of TrainAndEvaluate is what an evaluation follows.
TEST_F(CallbacksTest, CallbacksOfTrainAndEvaluateSeeTheEvaluations) {
  auto options = Options("m");
  options.config.save_checkpoints_steps = 5;
  Estimator<TinyParams> estimator(options);
  std::vector<Logs> seen;
  int ends = 0;
  const HookPtr recorder =
      LambdaCallback({.on_epoch_end = [&](Context&, int64_t, Logs& logs) { seen.push_back(logs); },
                      .on_train_end = [&](Context&) { ++ends; }});
  const auto input = [](const TinyParams& params) { return Shuffled(params).Repeat(); };
  const TrainSpec<TinyParams> train = {.input_fn = input, .max_steps = 12, .hooks = {recorder}};
  const EvalSpec<TinyParams> eval = {
      .input_fn = EvalInput, .steps = std::nullopt, .throttle_secs = 0};
  const auto result = TrainAndEvaluate(estimator, train, eval);
  EST_ASSERT_OK(result);
  ASSERT_EQ(seen.size(), 3u);  // steps 5, 10 and 12
  EXPECT_EQ(seen[2].at("val_loss"), (*result->eval_result)["loss"]);
  EXPECT_GT(seen[0].at("loss"), 0);
  EXPECT_EQ(ends, 1);
}

TEST_F(CallbacksTest, EarlyStoppingEndsTrainAndEvaluate) {
  auto options = Options("m");
  options.config.save_checkpoints_steps = 5;
  Estimator<TinyParams> estimator(options);
  const auto input = [](const TinyParams& params) { return Shuffled(params).Repeat(); };
  const TrainSpec<TinyParams> train = {.input_fn = input,
                                       .max_steps = 100,
                                       .hooks = {EarlyStopping({.min_delta = 100, .patience = 1})}};
  const EvalSpec<TinyParams> eval = {
      .input_fn = EvalInput, .steps = std::nullopt, .throttle_secs = 0};
  const auto result = TrainAndEvaluate(estimator, train, eval);
  EST_ASSERT_OK(result);
  EXPECT_EQ(result->eval_result->global_step(), 10);
}

TEST_F(CallbacksTest, ARunThatWasStoppedEarlySaysSoWhenItIsStartedAgain) {
  const auto train = [this] {
    Estimator<TinyParams> estimator(Options("m"));
    const auto early =
        EarlyStopping({.monitor = "loss", .min_delta = 100, .patience = 1, .verbose = 1});
    return estimator.TrainEpochs(Shuffled, {.epochs = 9, .hooks = {early}}).status();
  };
  const testing::CapturedLog log;
  EST_ASSERT_OK(train());
  EXPECT_THAT(log.infos, Contains("Epoch 2: early stopping"));
  EST_ASSERT_OK(train());
  EXPECT_THAT(log.infos, Contains(HasSubstr("stopped this training after epoch 2, so it does")));
}

// The evaluation follows the save of its step, which is therefore saved again.
TEST_F(CallbacksTest, EarlyStoppingLeavesTheBestWeightsInTheCheckpoint) {
  auto options = Options("m");
  options.config.save_checkpoints_steps = 5;
  options.config.average_weights = AverageWeights::Exponential(0.5);
  std::vector<double> losses;
  const HookPtr recorder = LambdaCallback({.on_epoch_end = [&](Context&, int64_t, Logs& logs) {
    losses.push_back(logs.at("val_loss"));
  }});
  const auto input = [](const TinyParams& params) { return Shuffled(params).Repeat(); };
  const TrainSpec<TinyParams> train = {
      .input_fn = input,
      .max_steps = 100,
      .hooks = {recorder,
                EarlyStopping({.min_delta = 100, .patience = 1, .restore_best_weights = true})}};
  const EvalSpec<TinyParams> eval = {
      .input_fn = EvalInput, .steps = std::nullopt, .throttle_secs = 0};
  Estimator<TinyParams> estimator(options);
  EST_ASSERT_OK(TrainAndEvaluate(estimator, train, eval));
  ASSERT_EQ(losses.size(), 2u);
  ASSERT_NE(losses[0], losses[1]);
  Estimator<TinyParams> another(options);
  const auto evaluated = another.Evaluate(EvalInput, {.steps = std::nullopt});
  EST_ASSERT_OK(evaluated);
  EXPECT_EQ(evaluated->global_step(), 10);
  EXPECT_EQ((*evaluated)["loss"], losses[0]);
}

}  // namespace
}  // namespace estimator::callbacks
