// Batches of several shapes in one call: each shape has a program, and the bits are those of the
// shape alone.
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/captured_log.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/nn/layers/core.h"
#include "estimator/nn/layers/dense.h"
#include "estimator/nn/losses/losses.h"
#include "estimator/nn/metrics/accuracy.h"
#include "estimator/nn/train/adam.h"
#include "estimator/ops/activations.h"
#include "estimator/ops/comparison.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/reduction.h"
#include "estimator/ops/shape_ops.h"
#include "estimator/training/testing/tiny_model.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Sentence i has 1 to 9 tokens of 1 to 49, and a label of 0 to 2.
absl::StatusOr<Element> Sentence(const Element& number) {
  const int64_t i = number.features.Only()->scalar<int64_t>();
  Array tokens(DType::kInt64, {1 + i * 5 % 9});
  for (int64_t t = 0; t < tokens.num_elements(); ++t)
    tokens.data<int64_t>()[t] = 1 + (i * 31 + t * 7) % 49;
  return Element{.features = {{"tokens", tokens}},
                 .labels = Array::Scalar(static_cast<int32_t>(i % 3))};
}
Dataset Sentences(int64_t n = 40) { return Dataset::Range(0, n).Map(Sentence); }
absl::StatusOr<int64_t> Length(const Element& sentence) {
  return sentence.features.at("tokens").shape()[0];
}
Dataset Buckets(const Dataset& sentences) {
  return sentences.BucketBySequenceLength(Length, {4, 7}, {6, 4, 3});
}
Dataset Shuffled(const TinyParams&) { return Buckets(Sentences().Shuffle(20).Repeat()); }

// The mean of the tokens that are not padding, with dropout, and two dense layers.
EstimatorSpec Classifier(const Features& features, const Labels& labels, Mode mode,
                         const TinyParams& params) {
  const Tensor tokens = features["tokens"];
  const Tensor words =
      layers::Dropout(layers::Embedding(tokens, {.input_dim = 50, .output_dim = 16}),
                      {.rate = params.dropout, .training = mode == Mode::kTrain});
  const Tensor mask = Cast(Greater(tokens, 0), DType::kFloat32);
  const Tensor sum = ReduceSum(Multiply(words, ExpandDims(mask, -1)), 1);
  const Tensor mean = Divide(sum, ReduceSum(mask, 1, {.keepdims = true}));
  const Tensor hidden =
      layers::Dense(mean, {.units = 16, .activation = [](const Tensor& x) { return Relu(x); }});
  const Tensor logits = layers::Dense(hidden, {.units = 3});
  if (mode == Mode::kPredict) return EstimatorSpec::Predict({{"logits", logits}, {"words", words}});
  const Tensor loss = Identity(losses::SparseSoftmaxCrossEntropy(labels, logits), "tiny_loss");
  const metrics::MetricMap accuracy = {
      {"accuracy", metrics::SparseCategoricalAccuracy(labels, logits)}};
  if (mode == Mode::kEval) return EstimatorSpec::Eval(loss, accuracy);
  return EstimatorSpec::Train(loss, train::Adam(params.learning_rate).Minimize(loss));
}

Estimator<TinyParams>::Options Options(const std::string& dir) {
  auto options = TinyOptions(dir);
  options.model_fn = Classifier;
  options.params.dropout = 0.3;
  return options;
}

// The file names of one checkpoint, as a kill after it leaves them.
void CopyCheckpoint(const std::string& from, int64_t step, const std::string& to) {
  EST_ASSERT_OK(CreateDirectories(to));
  const std::string prefix = absl::StrCat("model.ckpt-", step);
  const std::vector<std::string> paths = *Glob(JoinPath(from, prefix + ".*"));
  ASSERT_FALSE(paths.empty());
  for (const std::string& path : paths) {
    EST_ASSERT_OK(WriteFileAtomically(JoinPath(to, std::string(Basename(path))), *ReadFile(path)));
  }
  EST_ASSERT_OK(WriteFileAtomically(JoinPath(to, "checkpoint"),
                                    absl::StrCat("model_checkpoint_path: \"", prefix, "\"\n")));
}

std::string FinalBits(const Estimator<TinyParams>& estimator) {
  return *CheckpointBits(**estimator.LatestCheckpoint());
}

int NumOf(const std::vector<std::string>& messages, const std::string& text) {
  return static_cast<int>(std::count_if(messages.begin(), messages.end(),
                                        [&](const auto& m) { return absl::StrContains(m, text); }));
}

class BatchShapesTest : public ::testing::Test {
 protected:
  // The losses of 12 steps, and the bits of the last checkpoint.
  struct Run {
    std::vector<double> losses;
    std::string bits;
    std::vector<std::string> infos, warnings;
    int num_models = 0;
  };
  Run Train(const std::string& name, const std::function<void(RunConfig&)>& change = {}) {
    Run run;
    auto options = Options(dir_.File(name));
    options.config.keep_checkpoint_max = 0;
    if (change) change(options.config);
    options.model_fn = [&run](const Features& features, const Labels& labels, Mode mode,
                              const TinyParams& params) {
      ++run.num_models;
      return Classifier(features, labels, mode, params);
    };
    Estimator<TinyParams> estimator(options);
    const auto recorder = std::make_shared<RunRecorder>();
    const testing::CapturedLog log;
    EST_EXPECT_OK(estimator.Train(Shuffled, MaxSteps(12), {.hooks = {recorder}}));
    run.losses = recorder->losses;
    run.bits = FinalBits(estimator);
    run.infos = log.infos;
    run.warnings = log.warnings;
    return run;
  }
  TempDir dir_;
};

TEST_F(BatchShapesTest, EachStepHasTheBitsOfItsShapeAlone) {
  const Run mixed = Train("mixed", [](RunConfig& config) { config.save_checkpoints_steps = 1; });
  ASSERT_THAT(mixed.losses, SizeIs(12));
  EXPECT_GE(mixed.num_models, 3) << "the input has several shapes";
  for (int64_t step = 1; step < 12; ++step) {
    // A process that begins with this batch has a program for its shape only.
    const std::string dir = dir_.File(absl::StrCat("alone", step));
    CopyCheckpoint(dir_.File("mixed"), step, dir);
    Estimator<TinyParams> alone(Options(dir));
    const auto recorder = std::make_shared<RunRecorder>();
    EST_ASSERT_OK(alone.Train(Shuffled, Steps(1), {.hooks = {recorder}}));
    EXPECT_THAT(recorder->losses, ElementsAre(mixed.losses[static_cast<size_t>(step)])) << step;
    EXPECT_EQ(FinalBits(alone),
              *CheckpointBits(dir_.File(absl::StrCat("mixed/model.ckpt-", step + 1))))
        << step;
  }
}

TEST_F(BatchShapesTest, AResumedRunHasTheSameBits) {
  const Run whole = Train("whole");
  for (const int64_t kill : {5, 10}) {
    const std::string dir = dir_.File(absl::StrCat("killed", kill));
    CopyCheckpoint(dir_.File("whole"), kill, dir);
    Estimator<TinyParams> resumed(Options(dir));
    EST_ASSERT_OK(resumed.Train(Shuffled, MaxSteps(12)));
    EXPECT_EQ(FinalBits(resumed), whole.bits) << kill;
  }
}

TEST_F(BatchShapesTest, EachShapeIsBuiltOnceWithALineInTheLog) {
  const auto lengths = [](const TinyParams&) {
    return Sentences().Repeat().BucketBySequenceLength(
        Length, {4, 7, 10}, {4, 4, 4, 4},
        {.padded_shapes = {{"tokens", {-1}}}, .pad_to_bucket_boundary = true});
  };
  int num_models = 0;
  auto options = Options(dir_.File("m"));
  options.model_fn = [&num_models](const Features& features, const Labels& labels, Mode mode,
                                   const TinyParams& params) {
    ++num_models;
    return Classifier(features, labels, mode, params);
  };
  Estimator<TinyParams> estimator(options);
  const testing::CapturedLog log;
  const InputFn input = estimator.Input(lengths);
  EST_ASSERT_OK(estimator.Train(input, Steps(10)));
  EXPECT_EQ(num_models, 3);
  EXPECT_EQ(NumOf(log.infos, "Building the model again, for train batches of another shape"), 2);
  EXPECT_EQ(NumOf(log.infos, "(3 of at most 16): features['tokens'] i64 [4,"), 1);
  // Calls that begin with another shape keep the programs too.
  for (int call = 0; call < 4; ++call) EST_ASSERT_OK(estimator.Train(input, Steps(1)));
  EXPECT_EQ(num_models, 3);
  EXPECT_THAT(log.warnings, IsEmpty());
}

TEST_F(BatchShapesTest, TheLeastRecentlyUsedProgramIsDroppedWithOneWarning) {
  const Run all = Train("all");
  const Run few = Train("few", [](RunConfig& config) { config.max_compiled_shapes = 2; });
  EXPECT_GT(few.num_models, all.num_models);
  EXPECT_EQ(NumOf(few.warnings, "more than max_compiled_shapes = 2 shapes"), 1);
  EXPECT_EQ(NumOf(all.warnings, "max_compiled_shapes"), 0);
  EXPECT_EQ(few.losses, all.losses);
  EXPECT_EQ(few.bits, all.bits);
  RunConfig none;
  none.max_compiled_shapes = 0;
  EXPECT_THAT(none.Validate(), ErrorHas("max_compiled_shapes must be >= 1, given 0"));
}

// The sweep of one program writes the bf16 copies of variables that another program keeps.
TEST_F(BatchShapesTest, CopiesOfVariablesInOneProgramFollowTheOthers) {
  const auto bfloat16 = [](RunConfig& config) { config.compute_dtype = DType::kBfloat16; };
  const Run whole = Train("whole", bfloat16);
  CopyCheckpoint(dir_.File("whole"), 10, dir_.File("resumed"));
  EXPECT_EQ(Train("resumed", bfloat16).bits, whole.bits);
}

TEST_F(BatchShapesTest, EvaluationIsExactOverMixedLengths) {
  Estimator<TinyParams> estimator(Options(dir_.File("m")));
  EST_ASSERT_OK(estimator.Train(Shuffled, MaxSteps(5)));
  const auto one_by_one =
      estimator.Evaluate([](const TinyParams&) { return Sentences().Batch(1); });
  EST_ASSERT_OK(one_by_one);
  const auto buckets = estimator.Evaluate([](const TinyParams&) { return Buckets(Sentences()); });
  EST_ASSERT_OK(buckets);
  EXPECT_EQ(buckets->num_examples, 40);
  EXPECT_EQ(one_by_one->num_examples, 40);
  EXPECT_LT(buckets->num_steps, 20);
  EXPECT_EQ((*buckets)["accuracy"], (*one_by_one)["accuracy"]);
  EXPECT_NEAR((*buckets)["loss"], (*one_by_one)["loss"], 1e-6);
}

TEST_F(BatchShapesTest, ASmallerLastBatchOfAnEvaluationIsNoOtherShape) {
  Estimator<TinyParams> estimator(Options(dir_.File("m")));
  EST_ASSERT_OK(estimator.Train(Shuffled, MaxSteps(1)));
  const auto num_logged = [&](int64_t n, const std::map<std::string, Shape>& padded_shapes) {
    const testing::CapturedLog log;
    EST_EXPECT_OK(estimator.Evaluate([&](const TinyParams&) {
      return Sentences(n).PaddedBatch(4, {.padded_shapes = padded_shapes});
    }));
    return NumOf(log.infos, "for eval batches of another shape");
  };
  EXPECT_EQ(num_logged(10, {{"tokens", Shape{9}}}), 0);
  EXPECT_EQ(num_logged(8, {}), 1);  // 7 tokens, then 9
}

TEST_F(BatchShapesTest, PredictionsComeInTheOrderOfTheInput) {
  Estimator<TinyParams> estimator(Options(dir_.File("m")));
  EST_ASSERT_OK(estimator.Train(Shuffled, MaxSteps(5)));
  const auto one_by_one =
      estimator.Predict([](const TinyParams&) { return Sentences(9).Batch(1); }).All();
  EST_ASSERT_OK(one_by_one);
  const auto padded =
      estimator.Predict([](const TinyParams&) { return Sentences(9).PaddedBatch(4); }).All();
  EST_ASSERT_OK(padded);
  ASSERT_THAT(*padded, SizeIs(9));
  for (size_t i = 0; i < 9; ++i) {
    for (int64_t c = 0; c < 3; ++c) {
      EXPECT_NEAR((*padded)[i].at("logits").AsDouble(c), (*one_by_one)[i].at("logits").AsDouble(c),
                  1e-5);
    }
  }
  EXPECT_EQ((*one_by_one)[1].at("words").shape(), (Shape{6, 16}));
  EXPECT_EQ((*padded)[1].at("words").shape(), (Shape{7, 16})) << "the longest of the first four";
}

TEST_F(BatchShapesTest, AVariableThatDependsOnTheLengthIsNamed) {
  auto options = Options(dir_.File("m"));
  options.model_fn = [](const Features& features, const Labels& labels, Mode, const TinyParams&) {
    const Tensor x = Cast(features["tokens"], DType::kFloat32);
    const Tensor loss = losses::SparseSoftmaxCrossEntropy(labels, layers::Dense(x, {.units = 3}));
    return EstimatorSpec::Train(loss, train::Adam(0.01).Minimize(loss));
  };
  const auto input = [](const TinyParams&) { return Sentences(8).PaddedBatch(2); };
  EXPECT_THAT(Estimator<TinyParams>(options).Train(input, Steps(4)),
              ErrorIs(AllOf(HasSubstr("the variable 'dense/kernel' is f32 [7,3] for batches of "
                                      "features['tokens'] i64 [2,7], labels i32 [2], but f32 [6,3] "
                                      "for features['tokens'] i64 [2,6], labels i32 [2]"),
                            HasSubstr("(all steps up to 1 are saved in "))));
}

TEST_F(BatchShapesTest, AVariableThatOnlySomeLengthsHaveIsNamed) {
  auto options = Options(dir_.File("m"));
  options.model_fn = [](const Features& features, const Labels& labels, Mode, const TinyParams&) {
    const Tensor x =
        ReduceMean(layers::Embedding(features["tokens"], {.input_dim = 50, .output_dim = 3}), 1);
    const Tensor logits = features["tokens"].dim(1) > 6 ? layers::Dense(x, {.units = 3}) : x;
    const Tensor loss = losses::SparseSoftmaxCrossEntropy(labels, logits);
    return EstimatorSpec::Train(loss, train::Adam(0.01).Minimize(loss));
  };
  const auto input = [](const TinyParams&) { return Sentences(8).PaddedBatch(2); };
  EXPECT_THAT(Estimator<TinyParams>(options).Train(input, Steps(4)),
              ErrorHas("variable 2 is 'dense/kernel', not 'beta1_power'"));
}

TEST_F(BatchShapesTest, OtherArraysAreRefused) {
  const auto input = [](const TinyParams&) {
    return Dataset::Range(0, 2).FlatMap([](const Element& number) -> absl::StatusOr<Dataset> {
      Element batch{.features = {{"tokens", Array(DType::kInt64, {1, 3})}},
                    .labels = Array(DType::kInt32, {1})};
      batch.features["tokens"].data<int64_t>()[0] = 1;
      if (number.features.Only()->scalar<int64_t>() > 0)
        batch.features["extra"] = batch.features["tokens"];
      return Dataset::FromTensors(batch);
    });
  };
  EXPECT_THAT(Estimator<TinyParams>(Options(dir_.File("n"))).Train(input, Steps(4)),
              ErrorHas("input_fn gave a batch with features['extra'] i64 [1,3], "
                       "features['tokens'] i64 [1,3], labels i32 [1]; earlier ones had "
                       "features['tokens'] i64 [1,3], labels i32 [1]: batches may differ in shape, "
                       "but not in names and dtypes"));
}

TEST_F(BatchShapesTest, BatchesOfOneUpdateMustHaveOneShape) {
  auto options = Options(dir_.File("m"));
  options.config.accumulate_steps = 2;
  const auto input = [](const TinyParams&) { return Sentences(8).PaddedBatch(2); };
  EXPECT_THAT(Estimator<TinyParams>(options).Train(input, Steps(4)),
              ErrorHas("the parts of a step (of its replicas, and of the batches of "
                       "accumulate_steps) must have one shape"));
}

// As of an unrolled network: its ops are numbered, and their number depends on the length.
TEST_F(BatchShapesTest, HooksWatchTheLossWhateverItsNameIs) {
  auto options = Options(dir_.File("m"));
  options.model_fn = [](const Features& features, const Labels& labels, Mode, const TinyParams&) {
    const Tensor x = layers::Embedding(features["tokens"], {.input_dim = 50, .output_dim = 3});
    const Tensor zero = Multiply(ReduceSum(x), 0.0);
    Tensor loss = losses::SparseSoftmaxCrossEntropy(labels, ReduceMean(x, 1));
    for (int64_t i = 0; i < x.dim(1); ++i) loss = Add(loss, zero, "step");
    return EstimatorSpec::Train(loss, train::Adam(0.01).Minimize(loss));
  };
  struct Watch : SessionRunHook {
    Tensor loss;
    std::vector<double> losses;
    absl::Status Begin(Graph& graph) override {
      loss = graph.FindTensor("step_5");  // of the first batch, whose length is 6
      return absl::OkStatus();
    }
    std::vector<Tensor> BeforeRun(RunContext&) override { return {loss}; }
    absl::Status AfterRun(RunContext&, const RunValues& values) override {
      losses.push_back(values.results.at(0).AsDouble());
      return absl::OkStatus();
    }
  };
  const auto watch = std::make_shared<Watch>();
  const auto input = [](const TinyParams&) {
    return Sentences(6).Skip(1).Batch(1);  // lengths 6, 2, 7, 3, 8
  };
  EST_ASSERT_OK(Estimator<TinyParams>(options).Train(input, Steps(5), {.hooks = {watch}}));
  EXPECT_THAT(watch->losses, SizeIs(5)) << "a sentence of 2 tokens has no step_5";
}

// A hook's nodes are in the graph of the first batch only.
TEST_F(BatchShapesTest, ATensorThatAHookMakesIsRefusedForOtherShapes) {
  struct Doubles : SessionRunHook {
    Tensor twice;
    absl::Status Begin(Graph& graph) override {
      const GraphScope scope(graph);
      twice = Multiply(graph.FindTensor("tiny_loss"), 2.0, "twice_the_loss");
      return absl::OkStatus();
    }
    std::vector<Tensor> BeforeRun(RunContext&) override { return {twice}; }
  };
  EXPECT_THAT(Estimator<TinyParams>(Options(dir_.File("m")))
                  .Train(Shuffled, Steps(12), {.hooks = {std::make_shared<Doubles>()}}),
              ErrorIs(AllOf(HasSubstr("a hook asks for 'twice_the_loss:0', which the model for "
                                      "batches of another shape does not have"),
                            HasSubstr("make the tensor in model_fn"))));
}

TEST_F(BatchShapesTest, ARateThatAHookSetsHoldsForAllShapes) {
  struct Freezes : SessionRunHook {
    absl::Status AfterRun(RunContext& context, const RunValues& values) override {
      return values.global_step == 6 ? context.session().SetLearningRate(0) : absl::OkStatus();
    }
  };
  Estimator<TinyParams> estimator(Options(dir_.File("m")));
  EST_ASSERT_OK(estimator.Train(Shuffled, MaxSteps(12), {.hooks = {std::make_shared<Freezes>()}}));
  EST_ASSERT_OK(Estimator<TinyParams>(Options(dir_.File("six"))).Train(Shuffled, MaxSteps(6)));
  EXPECT_EQ(estimator.GetVariableValue("dense/kernel")->ToString(100),
            Estimator<TinyParams>(Options(dir_.File("six")))
                .GetVariableValue("dense/kernel")
                ->ToString(100));
}

TEST_F(BatchShapesTest, ANumberThatIsNotFiniteIsFoundInTheModelOfItsShape) {
  auto options = Options(dir_.File("m"));
  options.model_fn = [](const Features& features, const Labels& labels, Mode, const TinyParams&) {
    const Tensor log = Log(Cast(features["tokens"], DType::kFloat32));
    const Tensor logits = layers::Dense(ReduceMean(log, 1, {.keepdims = true}), {.units = 3});
    const Tensor loss = losses::SparseSoftmaxCrossEntropy(labels, logits);
    return EstimatorSpec::Train(loss, train::Adam(0.01).Minimize(loss));
  };
  const auto input = [](const TinyParams&) {
    return Sentences(8)
        .Map([](const Element& sentence) -> absl::StatusOr<Element> {
          Element zero = sentence;
          // The lengths are 1, 6, 2, 7, 3 and 8.
          if (*Length(sentence) == 8) zero.features["tokens"] = Array(DType::kInt64, {8});
          return zero;
        })
        .Batch(1);
  };
  EXPECT_THAT(Estimator<TinyParams>(options).Train(input, Steps(8)),
              ErrorHas("(f32 [1,8]) is Inf at [0,0]"));
}

TEST_F(BatchShapesTest, EpochsWeighBatchesByTheirExamples) {
  auto options = Options(dir_.File("m"));
  options.params.dropout = 0;
  options.params.learning_rate = 0;  // so that the mean is that of an evaluation
  const auto input = [](const TinyParams&) { return Buckets(Sentences()); };
  Estimator<TinyParams> estimator(options);
  EXPECT_THAT(estimator.TrainEpochs(input, {.epochs = 2}).status(),
              ErrorHas("set EpochOptions.steps_per_epoch"));
  const auto evaluated = estimator.Evaluate(input);
  EST_ASSERT_OK(evaluated);
  const auto history =
      estimator.TrainEpochs(input, {.epochs = 2, .steps_per_epoch = evaluated->num_steps});
  EST_ASSERT_OK(history);
  ASSERT_EQ(history->records.size(), 2u);
  for (const EpochRecord& record : history->records)
    EXPECT_NEAR(record.logs.at("loss"), (*evaluated)["loss"], 1e-6);
}

}  // namespace
}  // namespace estimator
