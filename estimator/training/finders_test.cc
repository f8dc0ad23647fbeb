// Finders and checks before a run: their results, and that they leave no trace.
#include "estimator/training/finders.h"

#include <cmath>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "estimator/base/exit_code.h"
#include "estimator/base/file.h"
#include "estimator/base/interrupt.h"
#include "estimator/base/testing/captured_log.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/checkpoint/load.h"
#include "estimator/image/png/png.h"
#include "estimator/nn/initializers.h"
#include "estimator/nn/layers/dense.h"
#include "estimator/nn/layers/normalization.h"
#include "estimator/nn/train/gradient_descent.h"
#include "estimator/ops/ops.h"
#include "estimator/training/testing/tiny_model.h"
#include "estimator/training/train_and_evaluate.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

using Files = std::map<std::string, std::string>;

// The files below a folder, with their times and bytes.
void AddFiles(const std::string& dir, Files& files) {
  for (const std::string& name : ListDirectory(dir).value()) {
    const std::string path = JoinPath(dir, name);
    if (IsDirectory(path)) {
      files[path] = "";
      AddFiles(path, files);
    } else {
      files[path] = absl::StrCat(FileModifiedTimeSeconds(path).value(), ReadFile(path).value());
    }
  }
}

Dataset Batches(const TinyParams&) {
  return Dataset::FromTensorSlices(TinyExamples()).Shuffle(20).Batch(4, {.drop_remainder = true});
}
Dataset Endless(const TinyParams& params) { return Batches(params).Repeat(); }
// Its size is not known.
Dataset Unknown(const TinyParams& params) {
  return Endless(params).Filter([](const Element&) { return true; });
}
Dataset EvalInput(const TinyParams&) { return TinyDataset(6); }
Dataset Empty(const TinyParams&) { return TinyDataset(4).Take(0); }

class FindersTest : public ::testing::Test {
 protected:
  Estimator<TinyParams>::Options Options(const std::string& name = "m") {
    return TinyOptions(dir_.File(name));
  }
  Files AllFiles() const {
    Files files;
    AddFiles(dir_.path(), files);
    return files;
  }
  // A call of Train with `config` set, in a folder without checkpoints.
  absl::Status TrainWith(const std::function<void(RunConfig&)>& set, double rate = 0.02) {
    auto options = Options("config");
    options.params.learning_rate = rate;
    set(options.config);
    return Estimator<TinyParams>(options).Train(Endless, MaxSteps(10));
  }
  TempDir dir_;
};

// One weight w = 0 and the loss (w - 3)^2: a step of rate r multiplies w - 3 by 1 - 2 r.
Estimator<TinyParams>::Options Parabola(const std::string& dir) {
  auto options = TinyOptions(dir);
  options.model_fn = [](const Features&, const Labels&, Mode, const TinyParams&) {
    const Variable w = GetVariable("w", {1}, {.initializer = initializers::Zeros()});
    const Tensor loss = ReduceSum(Square(w - 3.0));
    return EstimatorSpec::Train(loss, train::GradientDescent(0.1).Minimize(loss));
  };
  return options;
}

// The curve and the suggestion are those of Lightning's lr_find (numpy.gradient and argmin over
// losses[10:-1]) for the same losses.
TEST_F(FindersTest, TheLearningRateIsWhereLightningFindsIt) {
  Estimator<TinyParams> estimator(Parabola(dir_.File("m")));
  const auto found =
      FindLearningRate(estimator, estimator.Input(Batches),
                       {.path = dir_.File("rate.png"), .min = 1e-3, .max = 10, .steps = 40});
  EST_ASSERT_OK(found);
  double error = -3, mean = 0;
  for (size_t i = 0; i < found->curve.size(); ++i) {
    const double rate = 1e-3 * std::pow(1e4, static_cast<double>(i) / 39);
    mean = 0.98 * mean + 0.02 * error * error;
    EXPECT_NEAR(found->curve[i].first, rate, 1e-9);
    const double smoothed = mean / (1 - std::pow(0.98, static_cast<double>(i) + 1));
    EXPECT_NEAR(found->curve[i].second, smoothed, 5e-3 * smoothed) << i;
    error *= 1 - 2 * rate;
  }
  EXPECT_EQ(found->curve.size(), 39u);  // the next one is four times the least
  EXPECT_NEAR(found->suggestion, 0.14251027, 1e-6);
  EXPECT_THAT(found->warnings, IsEmpty());
  EXPECT_GT(image::DecodePng(ReadFile(dir_.File("rate.png")).value()).value().shape()[0], 100);
}

TEST_F(FindersTest, ALearningRateThatIsNotSoundHasWarnings) {
  Estimator<TinyParams> estimator(Parabola(dir_.File("m")));
  const InputFn input = estimator.Input(Batches);
  // The rates are so small that w hardly moves.
  const FindLearningRateOptions small = {.min = 1e-7, .max = 1e-5};
  const auto flat = FindLearningRate(estimator, input, small);
  EST_ASSERT_OK(flat);
  EXPECT_THAT(flat->warnings, ElementsAre(HasSubstr("the smoothed loss fell only from 9 to ")));
  EST_ASSERT_OK(estimator.Train(Batches, MaxSteps(3)));
  const auto trained = FindLearningRate(estimator, input, small);
  EST_ASSERT_OK(trained);
  EXPECT_THAT(trained->warnings,
              ElementsAre(HasSubstr("trained for 3 steps already"), HasSubstr("fell only from")));
}

TEST_F(FindersTest, ALossThatNeverFallsHasNoLearningRate) {
  Estimator<TinyParams> estimator(Parabola(dir_.File("m")));
  EXPECT_THAT(
      FindLearningRate(estimator, estimator.Input(Batches), {.min = 3, .max = 100}).status(),
      ErrorHas("on; begin with a smaller rate"));
  EXPECT_THAT(FindLearningRate(estimator, estimator.Input(Batches), {.min = 0}).status(),
              ErrorHas("needs 0 < min < max and steps >= 20"));
  EXPECT_THAT(FindLearningRate(estimator, estimator.Input(Empty)).status(),
              ErrorHas("the input is empty"));
}

TEST_F(FindersTest, TheBatchSizeIsTheLargestThatFits) {
  Estimator<TinyParams> estimator(Options());
  const InputFn input = estimator.Input(Unknown);
  constexpr int64_t kMemory = 1 << 20;
  const testing::CapturedLog log;
  const auto found = FindBatchSize(estimator, input, kMemory);
  EST_ASSERT_OK(found);
  EXPECT_THAT(log.infos, Contains(StartsWith("batch size 4: a step takes ")));
  EXPECT_THAT(log.infos, Contains(HasSubstr("which does not fit into 1.0 MiB; planned in ")));
  EXPECT_THAT(log.infos.back(),
              StartsWith(absl::StrCat("batch size ", found->batch_size, ": the step took ")));
  EXPECT_LE(found->memory_bytes, kMemory);
  EXPECT_GT(found->batch_size, 1000);
  EXPECT_EQ(found->batch_size % 8, 0);
  EXPECT_GT(found->step_seconds, 0);
  // There is no room for 16 more.
  EXPECT_GT(found->memory_bytes + 16 * found->memory_bytes / found->batch_size, kMemory);
  const auto less = FindBatchSize(estimator, input, found->memory_bytes - 1);
  EST_ASSERT_OK(less);
  EXPECT_LT(less->batch_size, found->batch_size);
}

TEST_F(FindersTest, ABatchIsNotLargerThanTheData) {
  Estimator<TinyParams> estimator(Options());
  EXPECT_EQ(FindBatchSize(estimator, estimator.Input(Endless))->batch_size, 20);
  EXPECT_THAT(FindBatchSize(estimator, estimator.Input(Endless), 100).status(),
              StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("fit into 100 B")));
}

TEST_F(FindersTest, AModelLearnsABatchByHeart) {
  auto options = Options();
  options.params.learning_rate = 0.05;
  Estimator<TinyParams> estimator(options);
  const auto losses = OverfitBatches(estimator, estimator.Input(Endless), 2);
  EST_ASSERT_OK(losses);
  EXPECT_LT(losses->back(), kOverfitRatio * losses->front());
  EXPECT_LT(losses->size(), 500u);
  // Shuffled data, and the same numbers.
  EXPECT_EQ(*OverfitBatches(estimator, estimator.Input(Endless), 2), *losses);

  options.params.learning_rate = 1e-7;
  Estimator<TinyParams> slow(options);
  const auto not_learned = OverfitBatches(slow, slow.Input(Batches), 100, 100);
  EST_ASSERT_OK(not_learned);
  EXPECT_EQ(not_learned->size(), 20u);  // of five batches, which are all of them
  EXPECT_GT(not_learned->back(), 0.9 * not_learned->front());
}

TEST_F(FindersTest, BatchesToOverfitEndWithTheEpochAndFitIntoMemory) {
  auto options = Options();
  options.params.learning_rate = 1e-7;
  Estimator<TinyParams> estimator(options);
  // A pass has the five batches of an epoch.
  const auto losses = OverfitBatches(estimator, estimator.Input(Endless), 1'000'000, 100);
  EST_ASSERT_OK(losses);
  EXPECT_EQ(losses->size(), 20u);
  // An endless input of unknown size. A batch has 4 examples of two features and a label.
  EXPECT_THAT(
      OverfitBatches(estimator, estimator.Input(Unknown), 1'000'000, 100, 10'000).status(),
      StatusIs(absl::StatusCode::kResourceExhausted,
               AllOf(HasSubstr("only 208 batches of 48 B fit into"), HasSubstr("no more"))));
}

TEST_F(FindersTest, AStopRequestEndsThem) {
  Estimator<TinyParams> estimator(Options());
  // 20 batches are read, then the signal comes.
  const auto stopped = estimator.Input([](const TinyParams& params) {
    return Endless(params).Filter([seen = std::make_shared<int>(0)](const Element&) {
      if (++*seen == 20) RequestInterruptForTest();
      return true;
    });
  });
  const auto cancelled =
      StatusIs(absl::StatusCode::kCancelled, HasSubstr("interrupted in a trial"));
  EXPECT_THAT(OverfitBatches(estimator, stopped, 1'000'000).status(), cancelled);
  const InputFn input = estimator.Input(Endless);
  EXPECT_THAT(FindBatchSize(estimator, input).status(), cancelled);
  EXPECT_THAT(FindLearningRate(estimator, input).status(), cancelled);
  ClearInterrupt();
}

TEST_F(FindersTest, TheSummaryHasTheLayers) {
  auto options = Options();
  options.model_fn = [](const Features& features, const Labels& labels, Mode mode,
                        const TinyParams&) {
    Tensor x = layers::Dense(features["x"], {.units = 4, .activation = Relu});
    x = Tanh(layers::BatchNormalization(x, {.training = mode == Mode::kTrain}));
    const Tensor loss = TinyLoss(labels, layers::Dense(x, {.units = 1}));
    return EstimatorSpec::Train(loss, train::GradientDescent(0.1).Minimize(loss));
  };
  Estimator<TinyParams> estimator(options);
  const auto summary = ModelSummary(estimator, estimator.Input(Batches));
  EST_ASSERT_OK(summary);
  std::map<std::string, std::vector<std::string>> lines;
  for (const absl::string_view line : absl::StrSplit(*summary, '\n', absl::SkipEmpty())) {
    std::vector<std::string> cells = absl::StrSplit(line, "  ", absl::SkipEmpty());
    for (std::string& cell : cells) cell = std::string(absl::StripAsciiWhitespace(cell));
    lines[cells[0]] = cells;
  }
  using Cells = std::vector<std::string>;
  EXPECT_EQ(lines["dense"], (Cells{"dense", "f32 [4,4]", "12", "16"})) << *summary;
  EXPECT_EQ(lines["batch_normalization"], (Cells{"batch_normalization", "f32 [4,4]", "16", "0"}));
  EXPECT_EQ(lines.count("Tanh"), 0u);
  EXPECT_EQ(lines["dense_1"], (Cells{"dense_1", "f32 [4,1]", "5", "8"}));
  // As Keras counts them: 8 of 33 are moving averages.
  EXPECT_THAT(*summary, HasSubstr("Total params: 33\nTrainable params: 25\n"
                                  "Non-trainable params: 8\nFLOPs of one example: 24\n"));
}

// The folder byte for byte, and the training that goes on after each of them.
TEST_F(FindersTest, NothingLeavesATrace) {
  Estimator<TinyParams> undisturbed(Options("undisturbed"));
  EST_ASSERT_OK(undisturbed.Train(Endless, MaxSteps(7)));
  EST_ASSERT_OK(undisturbed.Train(Endless, MaxSteps(12)));

  Estimator<TinyParams> estimator(Options());
  EST_ASSERT_OK(estimator.Train(Endless, MaxSteps(7)));
  const Files before = AllFiles();
  const InputFn input = estimator.Input(Endless);
  EST_EXPECT_OK(FindLearningRate(estimator, input, {.min = 1e-4}));
  EST_EXPECT_OK(FindBatchSize(estimator, input));
  EST_EXPECT_OK(OverfitBatches(estimator, input, 1, 5));
  EST_EXPECT_OK(ModelSummary(estimator, input));
  EST_EXPECT_OK(ModelSummary(estimator, estimator.Input(EvalInput), Mode::kPredict));
  EXPECT_EQ(AllFiles(), before);
  EXPECT_EQ(estimator.model_dir(), dir_.File("m"));
  EST_ASSERT_OK(estimator.Train(Endless, MaxSteps(12)));
  EXPECT_EQ(*CheckpointBits(**estimator.LatestCheckpoint()),
            *CheckpointBits(**undisturbed.LatestCheckpoint()));
}

TEST_F(FindersTest, TheRunConfigPutsThemInPlaceOfTheTraining) {
  EST_ASSERT_OK(CreateDirectories(dir_.File("config")));
  const Files before = AllFiles();
  const auto ends_early = [&](const std::function<void(RunConfig&)>& set) {
    const absl::Status status = TrainWith(set, 0.05);
    EXPECT_TRUE(IsFinishedEarly(status)) << status;
    EXPECT_EQ(AllFiles(), before);
  };
  ends_early([](RunConfig& config) { config.summary = true; });
  ends_early([](RunConfig& config) { config.find_batch_size = true; });
  ends_early([](RunConfig& config) { config.overfit_batches = 1; });
  EXPECT_THAT(TrainWith([](RunConfig& config) { config.overfit_batches = 1; }, 1e-7),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("does not learn")));
  const std::string path = dir_.File("curve.png");
  EXPECT_TRUE(IsFinishedEarly(TrainWith([&](RunConfig& c) { c.find_learning_rate = path; })));
  EXPECT_TRUE(FileExists(path));
  EXPECT_THAT(TrainWith([](RunConfig& config) { config.summary = config.dry_run = true; }),
              ErrorHas("only one of find_learning_rate"));
  EXPECT_THAT(TrainWith([](RunConfig& config) { config.find_learning_rate = "--use_tpu"; }),
              ErrorHas("find_learning_rate must be the name of a .png file, given --use_tpu"));

  auto options = Options("config");
  options.config.find_batch_size = true;
  EXPECT_THAT(Estimator<TinyParams>(options).Evaluate(EvalInput).status(),
              ErrorHas("needs a training, but the program begins with an evaluation"));
  options.config.find_batch_size = false;
  options.config.summary = true;
  EXPECT_TRUE(IsFinishedEarly(Estimator<TinyParams>(options).Evaluate(EvalInput).status()));
}

TEST_F(FindersTest, ADryRunDoesAPartOfEverything) {
  EST_ASSERT_OK(Estimator<TinyParams>(Options()).Train(Endless, MaxSteps(7)));
  const Files before = AllFiles();
  std::string folder;
  {
    auto options = Options();
    options.config.dry_run = true;
    options.config.keep_checkpoint_max = 1;
    Estimator<TinyParams> estimator(options);
    folder = estimator.model_dir();
    const auto hook = std::make_shared<RunRecorder>();
    EST_ASSERT_OK(estimator.Train(Endless, MaxSteps(1000), {.hooks = {hook}}));
    EXPECT_EQ(hook->num_begins, 0);
    const auto result = estimator.Evaluate(EvalInput);
    EST_ASSERT_OK(result);
    EXPECT_EQ(result->global_step(), 8);  // it began with the checkpoint
    EXPECT_EQ(result->num_examples, 6);
    EXPECT_EQ(estimator.Predict(EvalInput).All()->size(), 6u);
    const auto exported = estimator.ExportSavedModel(
        dir_.File("export"), BuildRawServingInputReceiverFn({{"x", {DType::kFloat32, {-1, 2}}}}));
    EST_ASSERT_OK(exported);
    EXPECT_THAT(*exported, HasSubstr(folder));
    const auto history = estimator.TrainEpochs(
        Batches, {.epochs = 50, .validation_input_fn = EvalInput, .validation_freq = 10});
    EST_ASSERT_OK(history);
    EXPECT_EQ(history->records.size(), 1u);
    const TrainSpec<TinyParams> train_spec = {.input_fn = Endless, .max_steps = 1000};
    EST_EXPECT_OK(
        TrainAndEvaluate(estimator, train_spec, EvalSpec<TinyParams>{.input_fn = EvalInput}));
    EXPECT_TRUE(FileExists(folder));
  }
  EXPECT_FALSE(FileExists(folder));
  EXPECT_EQ(AllFiles(), before);
}

TEST_F(FindersTest, ALongTrainingTriesItsEvaluationFirst) {
  auto options = Options();
  options.config.save_checkpoints_steps = std::nullopt;  // 600 seconds
  const auto train = [&](int64_t max_steps) {
    Estimator<TinyParams> estimator(options);
    return TrainAndEvaluate(estimator,
                            TrainSpec<TinyParams>{.input_fn = Endless, .max_steps = max_steps},
                            EvalSpec<TinyParams>{.input_fn = Empty})
        .status();
  };
  EXPECT_THAT(train(1000), ErrorHas("the evaluation before the training (RunConfig.num_sanity_val_"
                                    "steps): the evaluation input is empty"));
  EXPECT_FALSE(FileExists(dir_.File("m/model.ckpt-1000.index")));
  EXPECT_FALSE(FileExists(dir_.File("m/eval")));
  // A short one trains, and fails afterwards.
  EXPECT_THAT(train(999), Not(ErrorHas("before the training")));
  EXPECT_TRUE(FileExists(dir_.File("m/model.ckpt-999.index")));
  options.config.num_sanity_val_steps = 0;
  EXPECT_THAT(train(2500), Not(ErrorHas("before the training")));

  Estimator<TinyParams> epochs(Options("epochs"));
  EXPECT_THAT(epochs
                  .TrainEpochs(Endless, {.epochs = 2,
                                         .steps_per_epoch = 500,
                                         .validation_input_fn = Empty,
                                         .validation_freq = 2})
                  .status(),
              ErrorHas("the evaluation before the training"));
}

// The bits of the training and the results of its evaluations are those without it.
TEST_F(FindersTest, TheEvaluationBeforeChangesNothing) {
  std::string bits[2];
  for (const int steps : {0, 2}) {
    auto options = Options(absl::StrCat("sanity", steps));
    options.config.save_checkpoints_steps = 1000;
    options.config.num_sanity_val_steps = steps;
    options.params.dropout = 0.3;
    Estimator<TinyParams> estimator(options);
    const testing::CapturedLog log;
    const auto result =
        TrainAndEvaluate(estimator, TrainSpec<TinyParams>{.input_fn = Endless, .max_steps = 1000},
                         EvalSpec<TinyParams>{.input_fn = EvalInput});
    EST_ASSERT_OK(result);
    EXPECT_EQ(log.infos.empty(), false);
    if (steps > 0) {
      EXPECT_THAT(log.infos, Contains(HasSubstr("Evaluating 2 batches before the training")));
    }
    bits[steps / 2] =
        absl::StrCat(*CheckpointBits(**estimator.LatestCheckpoint()), (*result->eval_result)["mae"],
                     Glob(estimator.EvalDir() + "/*")->size());
  }
  EXPECT_EQ(bits[0], bits[1]);
}

}  // namespace
}  // namespace estimator
