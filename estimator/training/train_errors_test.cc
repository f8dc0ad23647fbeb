// Mistakes of a program that trains, each with the message that it gets.
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "estimator/base/file.h"
#include "estimator/base/interrupt.h"
#include "estimator/base/testing/captured_log.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/nn/initializers.h"
#include "estimator/nn/layers/dense.h"
#include "estimator/nn/losses/losses.h"
#include "estimator/nn/metrics/mean.h"
#include "estimator/nn/train/gradient_descent.h"
#include "estimator/ops/comparison.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/manipulation.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/matmul.h"
#include "estimator/ops/reduction.h"
#include "estimator/ops/select.h"
#include "estimator/ops/shape_ops.h"
#include "estimator/ops/softmax.h"
#include "estimator/ops/while_loop.h"
#include "estimator/runtime/control_flow/step_time.h"
#include "estimator/training/testing/tiny_model.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ModelFn = Estimator<TinyParams>::ModelFn;

constexpr auto Endless = [](const TinyParams&) { return TinyDataset(4).Repeat(); };

Operation Minimize(const Tensor& loss) { return train::GradientDescent(0.1).Minimize(loss); }

std::map<std::string, std::string> Contents(const std::string& pattern) {
  const absl::StatusOr<std::vector<std::string>> paths = Glob(pattern);
  std::map<std::string, std::string> contents;
  for (const std::string& path : *paths) contents[path] = *ReadFile(path);
  return contents;
}

class TrainErrorsTest : public ::testing::Test {
 protected:
  // The message of Train with this model; the second call gives the same.
  absl::Status TrainError(const ModelFn& model_fn,
                          const Estimator<TinyParams>::InputFnType& input_fn = Endless) {
    auto options = TinyOptions(dir_.File("m"));
    options.model_fn = model_fn;
    Estimator<TinyParams> estimator(options);
    const absl::Status first = estimator.Train(input_fn, Steps(3)),
                       second = estimator.Train(input_fn, Steps(3));
    EXPECT_FALSE(first.ok());
    EXPECT_EQ(first.ToString(), second.ToString());
    return first;
  }
  std::string EvaluateError(const ModelFn& model_fn) {
    auto options = TinyOptions(dir_.File("m"));
    options.model_fn = model_fn;
    Estimator<TinyParams> estimator(options);
    return std::string(
        estimator.Evaluate([](const TinyParams&) { return TinyDataset(4); }).status().message());
  }
  TempDir dir_;
};

// Behaviour D3.
TEST_F(TrainErrorsTest, StepsMustBePositive) {
  Estimator<TinyParams> estimator(TinyOptions(dir_.File("m")));
  EXPECT_THAT(estimator.Train(Endless, Steps(0)), ErrorIs("Must specify steps > 0, given: 0"));
  EXPECT_THAT(estimator.Train(Endless, Steps(-1)), ErrorIs("Must specify steps > 0, given: -1"));
  EXPECT_THAT(estimator.Train(Endless, MaxSteps(0)),
              ErrorIs("Must specify max_steps > 0, given: 0"));
  EXPECT_THAT(estimator.Train(Endless, MaxSteps(-1)),
              ErrorIs("Must specify max_steps > 0, given: -1"));
  EXPECT_FALSE(FileExists(dir_.File("m"))) << "nothing was touched";
}

TEST_F(TrainErrorsTest, WrongShapesNameTheOpAndBothShapes) {
  EXPECT_THAT(
      TrainError([](const Features& features, const Labels& labels, Mode, const TinyParams&) {
        const Tensor y = MatMul(features["x"], Zeros({3, 1}));
        const Tensor loss = losses::MeanSquaredError(labels, y);
        return EstimatorSpec::Train(loss, Minimize(loss));
      }),
      ErrorIs(AllOf(HasSubstr("MatMul"), HasSubstr("[4,2]"), HasSubstr("[3,1]"))));
}

// Behaviour C1.
TEST_F(TrainErrorsTest, AMissingLossAndTrainOpAreBothNamed) {
  EXPECT_THAT(
      TrainError([](const Features&, const Labels&, Mode, const TinyParams&) {
        return EstimatorSpec::Train(Tensor(), Operation());
      }),
      ErrorIs(AllOf(HasSubstr("the spec that model_fn returned for mode train is not usable"),
                    HasSubstr("Missing loss."), HasSubstr("Missing train_op."))));
  EXPECT_THAT(
      TrainError([](const Features& features, const Labels& labels, Mode, const TinyParams&) {
        return EstimatorSpec::Train(TinyLoss(labels, TinyNetwork(features, true, 0)), Operation());
      }),
      ErrorHas("Missing train_op."));
}

// Behaviour C2.
TEST_F(TrainErrorsTest, ALossOfTwoElementsIsRefused) {
  EXPECT_THAT(TrainError([](const Features& features, const Labels&, Mode, const TinyParams&) {
                const Tensor y = TinyNetwork(features, true, 0);
                return EstimatorSpec::Train(ReduceMean(features["x"], 0), Minimize(ReduceMean(y)));
              }),
              ErrorHas("Loss must be scalar, given f32 [2]; reduce it over the batch"));
}

TEST_F(TrainErrorsTest, ALossThatNoVariableReachesIsRefused) {
  EXPECT_THAT(
      TrainError([](const Features& features, const Labels& labels, Mode, const TinyParams&) {
        TinyNetwork(features, true, 0);
        const Tensor loss = ReduceMean(labels);
        return EstimatorSpec::Train(loss, Minimize(loss));
      }),
      ErrorIs(AllOf(HasSubstr("does not depend on any trainable variable"),
                    HasSubstr("'dense/kernel'"))));
}

TEST_F(TrainErrorsTest, AMisspelledFeatureGetsTheNamesAndTheNearest) {
  EXPECT_THAT(
      TrainError([](const Features& features, const Labels& labels, Mode, const TinyParams&) {
        const Tensor loss =
            losses::MeanSquaredError(labels, layers::Dense(features["X"], {.units = 1}));
        return EstimatorSpec::Train(loss, Minimize(loss));
      }),
      ErrorIs(AllOf(HasSubstr("features has no 'X'; input_fn gives 'x'"),
                    HasSubstr("did you mean 'x'?"))));
}

TEST_F(TrainErrorsTest, ASpecForAnotherModeIsRefused) {
  EXPECT_THAT(
      TrainError([](const Features& features, const Labels& labels, Mode, const TinyParams&) {
        return EstimatorSpec::Eval(TinyLoss(labels, TinyNetwork(features, true, 0)));
      }),
      ErrorHas("model_fn was called for mode train and returned a spec for mode eval"));
}

TEST_F(TrainErrorsTest, ATrainOpThatDoesNotAdvanceGlobalStepIsRefused) {
  EXPECT_THAT(
      TrainError([](const Features& features, const Labels& labels, Mode, const TinyParams&) {
        const Tensor loss = TinyLoss(labels, TinyNetwork(features, true, 0));
        return EstimatorSpec::Train(
            loss, train::GradientDescent(0.1).Minimize(loss, {.increment_global_step = false}));
      }),
      ErrorHas("train_op does not advance global_step, so training would never end"));
}

// Behaviour D7.
TEST_F(TrainErrorsTest, SeveralLabelsDoNotConvertToOne) {
  const auto two_labels = [](const TinyParams&) {
    const Element all = TinyExamples();
    return Dataset::FromTensorSlices(
               {.features = all.features,
                .labels = {{"a", *all.labels.Only()}, {"b", *all.labels.Only()}}})
        .Batch(4);
  };
  EXPECT_THAT(TrainError(TinyModel, two_labels),
              ErrorHas("model_fn takes labels as one tensor, but input_fn gives 2: 'a', 'b'"));
}

// Shapes are known when the model is built; what would make one depend on the data is named.
TEST_F(TrainErrorsTest, ADynamicShapeIsRefused) {
  EXPECT_THAT(
      TrainError([](const Features&, const Labels& labels, Mode, const TinyParams&) {
        const Tensor rows = Placeholder(DType::kFloat32, {-1, 2}, "rows");
        const Tensor loss = TinyLoss(labels, layers::Dense(rows, {.units = 1}));
        return EstimatorSpec::Train(loss, Minimize(loss));
      }),
      ErrorIs(AllOf(HasSubstr("rows"), HasSubstr("[?,2] has an unknown size; shapes are static"),
                    HasSubstr("drop_remainder"))));
  EXPECT_THAT(
      TrainError([](const Features& features, const Labels& labels, Mode, const TinyParams&) {
        const Tensor size =
            Cast(ReduceMax(features["x"], ReduceAxes::All(), {.keepdims = true}), DType::kInt32);
        const Tensor x = Reshape(features["x"], Reshape(size, Shape{1}, "size"), "resized");
        const Tensor loss = TinyLoss(labels, layers::Dense(x, {.units = 1}));
        return EstimatorSpec::Train(loss, Minimize(loss));
      }),
      ErrorIs(AllOf(HasSubstr("resized"),
                    HasSubstr("('size:0') must be a constant: shapes are static"),
                    HasSubstr("it depends on an input"))));
}

// Behaviour M4: a batch of another shape than the first one's, as tensor or in a dict, that the
// model does not take; the message says which.
TEST_F(TrainErrorsTest, FeaturesAndLabelsOfAnotherShapeThatDoNotFitAreNamed) {
  const auto with = [](const char* feature, const char* label, bool grow_labels) {
    return [=](const TinyParams&) {
      return Dataset::Range(0, 10).Map([=](const Element& e) -> absl::StatusOr<Element> {
        const int64_t n = e.features.at("").scalar<int64_t>();
        return Element{
            .features = {{feature, Array(DType::kFloat32, {4, grow_labels ? 2 : 2 + n})}},
            .labels = {{label, Array(DType::kFloat32, {4, grow_labels ? 1 + n : 1})}}};
      });
    };
  };
  const auto model = [](const Features& features, const Labels& labels, Mode, const TinyParams&) {
    const Tensor y = layers::Dense(features, {.units = 1});
    const Tensor loss = TinyLoss(labels, y);
    return EstimatorSpec::Train(loss, Minimize(loss));
  };
  const auto error = [&](const char* feature, const char* label, bool grow_labels) {
    auto options = TinyOptions(dir_.File(absl::StrCat(feature, grow_labels)));
    options.model_fn = model;
    Estimator<TinyParams> estimator(options);
    return estimator.Train(with(feature, label, grow_labels), Steps(3));
  };
  EXPECT_THAT(error("", "", false),
              ErrorIs(AllOf(HasSubstr("the variable 'dense/kernel' is f32 [3,1] for batches of "
                                      "features f32 [4,3], labels f32 [4,1], but f32 [2,1]"),
                            HasSubstr("(all steps up to 1 are saved in"))));
  EXPECT_THAT(error("", "", true), ErrorHas("the model for batches of another shape, features f32 "
                                            "[4,2], labels f32 [4,2]: "));
  EXPECT_THAT(error("image", "class", false),
              ErrorHas("for batches of features['image'] f32 [4,3], labels['class'] f32 [4,1]"));
  EXPECT_THAT(error("image", "class", true),
              ErrorHas("features['image'] f32 [4,2], labels['class'] f32 [4,2]: "));
}

// Behaviour C3, and E2 for the other name.
TEST_F(TrainErrorsTest, MetricsMustBePairsWithNamesOfTheirOwn) {
  const auto with = [](const std::string& name, bool updated) {
    return
        [name, updated](const Features& features, const Labels& labels, Mode, const TinyParams&) {
          const Tensor y = TinyNetwork(features, false, 0), loss = TinyLoss(labels, y);
          metrics::Metric metric = metrics::MeanAbsoluteError(labels, y);
          if (!updated) metric = {.value = loss, .update = Operation()};
          return EstimatorSpec::Eval(loss, {{name, metric}});
        };
  };
  EXPECT_THAT(EvaluateError(with("mae", false)),
              HasSubstr("metric 'mae' has no update; a metric is a (value, update) pair"));
  EXPECT_THAT(EvaluateError(with("loss", true)), HasSubstr("a metric may not be called 'loss'"));
  EXPECT_THAT(EvaluateError(with("global_step", true)),
              HasSubstr("a metric may not be called 'global_step'"));
}

// Behaviour D12.
TEST_F(TrainErrorsTest, ACheckpointOfAnotherNetworkGetsATableAndStaysAsItIs) {
  {
    Estimator<TinyParams> estimator(TinyOptions(dir_.File("m")));
    EST_ASSERT_OK(estimator.Train(Endless, Steps(5)));
  }
  const std::map<std::string, std::string> before = Contents(dir_.File("m/*"));
  auto options = TinyOptions(dir_.File("m"));
  options.params.hidden_units = 8;
  Estimator<TinyParams> other(options);
  for (const absl::Status& status : {other.Train(Endless, Steps(5)), other.Train(Endless, Steps(5)),
                                     other.Evaluate(Endless, {.steps = 1}).status()}) {
    EXPECT_THAT(status,
                StatusIs(absl::StatusCode::kInvalidArgument,
                         AllOf(HasSubstr("does not fit"), HasSubstr("dense/kernel"),
                               HasSubstr("f32 [2,8]"), HasSubstr("f32 [2,4]"),
                               HasSubstr("dense_1/kernel"), HasSubstr("another model_dir"))));
  }
  EXPECT_EQ(Contents(dir_.File("m/*")), before);
}

TEST_F(TrainErrorsTest, AModelDirThatCannotBeMadeIsNamed) {
  EST_ASSERT_OK(WriteFileAtomically(dir_.File("file"), "not a folder"));
  Estimator<TinyParams> estimator(TinyOptions(dir_.File("file/m")));
  const absl::Status status = estimator.Train(Endless, Steps(1));
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(status, ErrorHas(dir_.File("file")));
  EXPECT_EQ(*ReadFile(dir_.File("file")), "not a folder");
}

// The logarithm of row 5, in the second batch, is NaN.
EstimatorSpec LogModel(const Features& features, const Labels& labels, Mode mode,
                       const TinyParams& params) {
  const Tensor logs = Log(features["positive"], "logs");
  const Tensor y = layers::Dense(logs, {.units = 1});
  const Tensor loss = TinyLoss(labels, y);
  if (mode == Mode::kEval) return EstimatorSpec::Eval(loss);
  return EstimatorSpec::Train(loss, train::GradientDescent(params.learning_rate).Minimize(loss));
}

Dataset WithOne(float bad) {
  Array positive(DType::kFloat32, {20, 1});
  for (int64_t i = 0; i < 20; ++i)
    positive.data<float>()[i] = i == 5 ? bad : 1 + 0.1f * static_cast<float>(i);
  return Dataset::FromTensorSlices(
             {.features = {{"positive", positive}}, .labels = TinyExamples().labels})
      .Batch(4)
      .Repeat();
}

// Behaviour D6.
TEST_F(TrainErrorsTest, ANaNLossNamesTheStepAndTheFirstTensorAndSparesTheVariables) {
  auto options = TinyOptions(dir_.File("m"));
  options.model_fn = LogModel;
  options.config.save_checkpoints_steps = 1;
  Estimator<TinyParams> estimator(options);
  const auto recorder = std::make_shared<RunRecorder>();
  const absl::Status status = estimator.Train([](const TinyParams&) { return WithOne(-1); },
                                              Steps(10), {.hooks = {recorder}});
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument,
                               AllOf(HasSubstr("NaN loss during training, at step 2"),
                                     HasSubstr("logs:0 (f32 [4,1]) is NaN at [1,0]"))));
  EXPECT_EQ(recorder->losses.size(), 2u) << "user hooks see the step before the guard does";
  EXPECT_TRUE(std::isnan(recorder->losses[1]));
  EXPECT_EQ(recorder->num_ends, 0);
  EXPECT_EQ(estimator.GetVariableValue("global_step")->scalar<int64_t>(), 1);
  const std::vector<std::string> names = *estimator.GetVariableNames();
  for (const std::string& name : names) {
    const Array value = *estimator.GetVariableValue(name);
    for (int64_t i = 0; i < value.num_elements(); ++i)
      EXPECT_TRUE(std::isfinite(value.AsDouble(i))) << name;
  }
  // The batch was not trained on: it comes again.
  EXPECT_THAT(estimator.Train([](const TinyParams&) { return WithOne(-1); }, Steps(10)),
              ErrorHas("NaN loss during training, at step 2"));
}

TEST_F(TrainErrorsTest, ANaNLossIsNotAlsoAStepThatStandsStill) {
  auto options = TinyOptions(dir_.File("m"));
  options.model_fn = LogModel;
  options.config.log_step_count_steps = 1;
  Estimator<TinyParams> estimator(options);
  const testing::CapturedLog log;
  ASSERT_FALSE(estimator.Train([](const TinyParams&) { return WithOne(-1); }, Steps(10)).ok());
  EXPECT_THAT(log.warnings, ::testing::IsEmpty());
}

TEST_F(TrainErrorsTest, AnInfiniteLossStopsAsWell) {
  auto options = TinyOptions(dir_.File("m"));
  options.model_fn = LogModel;
  Estimator<TinyParams> estimator(options);
  const absl::Status status =
      estimator.Train([](const TinyParams&) { return WithOne(0); }, Steps(10));
  EXPECT_THAT(status, ErrorIs(AllOf(HasSubstr("Inf loss during training, at step 2"),
                                    HasSubstr("logs:0 (f32 [4,1]) is Inf at [1,0]"))));
}

// The gradient of sqrt(w * w) at w = 0 is NaN, though the loss is a number: the update ruins w.
TEST_F(TrainErrorsTest, AVariableThatAnUpdateMadeNaNIsNamedItself) {
  EXPECT_THAT(
      TrainError([](const Features& features, const Labels&, Mode, const TinyParams&) {
        const Variable w = GetVariable("w", {2}, {.initializer = initializers::Zeros()});
        const Tensor loss = ReduceMean(features["x"] + Sqrt(w * w));
        return EstimatorSpec::Train(loss, Minimize(loss));
      }),
      ErrorIs(AllOf(HasSubstr("NaN loss during training, at step 2: w:0 (f32 [2]) is NaN at [0]"),
                    HasSubstr("since before this step, the first tensor"))));
}

Variable Infinite(absl::string_view name) {
  return GetVariable(
      name, {}, {.initializer = initializers::Constant(std::numeric_limits<double>::infinity())});
}

// It was named in the place of the tensor that is NaN.
TEST_F(TrainErrorsTest, AVariableThatIsInfiniteOnPurposeDoesNotHideWhereTheNaNIs) {
  EXPECT_THAT(TrainError([](const Features& features, const Labels&, Mode, const TinyParams&) {
                const Variable best = Infinite("best_loss");
                const Tensor limit = best * 0.5f;
                const Variable w = GetVariable("w", {}, {.initializer = initializers::Ones()});
                const Tensor loss = ReduceMean(features["x"]) + Log(w - 2, "log");
                return EstimatorSpec::Train(
                    loss, Group({Minimize(loss), Assign(best, Minimum(limit, loss))}));
              }),
              ErrorHas("NaN loss during training, at step 1: log:0 (f32 []) is NaN, the first"));
}

TEST_F(TrainErrorsTest, AnInfiniteVariableIsNamedWhereAllElseFollowsFromIt) {
  EXPECT_THAT(TrainError([](const Features& features, const Labels&, Mode, const TinyParams&) {
                const Tensor loss = ReduceMean(features["x"]) + Infinite("w");
                return EstimatorSpec::Train(loss, Minimize(loss));
              }),
              ErrorHas("Inf loss during training, at step 1: w:0 (f32 []) is Inf since before "
                       "this step, the first"));
}

TEST_F(TrainErrorsTest, ANaNThatFollowsFromAnInfiniteVariableIsNamedWithIt) {
  EXPECT_THAT(TrainError([](const Features& features, const Labels&, Mode, const TinyParams&) {
                const Variable w = Infinite("w");
                const Tensor loss = ReduceMean(features["x"]) + Subtract(w, w * 2.f, "difference");
                return EstimatorSpec::Train(loss, Minimize(loss));
              }),
              ErrorHas("at step 1: difference:0 (f32 []) is NaN and its source w:0 (f32 []) is "
                       "Inf since before this step, the first"));
}

// It was named in the place of the tensor that is NaN.
TEST_F(TrainErrorsTest, AMaskOfInfinitiesDoesNotHideWhereTheNaNIs) {
  const auto model = [](bool broken) {
    return [broken](const Features& features, const Labels&, Mode, const TinyParams&) {
      const Tensor& x = features["x"];  // f32 [4, 1]
      const Variable w = GetVariable("w", {}, {.initializer = initializers::Ones()});
      const Tensor logits = Concat({Where(Equal(x, x), -std::numeric_limits<float>::infinity(), x),
                                    Log(w - (broken ? 2 : 0), "log") * Ones(x.shape())},
                                   1);
      const Tensor loss = ReduceMean(Softmax(logits)) + w;
      return EstimatorSpec::Train(loss, Minimize(loss));
    };
  };
  Estimator<TinyParams>::Options options = TinyOptions(dir_.File("whole"));
  options.model_fn = model(false);
  EST_EXPECT_OK(Estimator<TinyParams>(options).Train(Endless, Steps(1)));
  EXPECT_THAT(TrainError(model(true)),
              ErrorHas("NaN loss during training, at step 1: log:0 (f32 []) is NaN, the first"));
}

// Constants of strings were once asked whether they are finite.
TEST_F(TrainErrorsTest, AConstantOfStringsDoesNotHideWhereTheNaNIs) {
  EXPECT_THAT(TrainError([](const Features& features, const Labels&, Mode, const TinyParams&) {
                const Tensor kinds = Constant(Array::Of<std::string>({2}, {"a", "b"}));
                const Tensor same = Cast(Equal(kinds, kinds), DType::kFloat32);
                const Variable w = GetVariable("w", {}, {.initializer = initializers::Ones()});
                const Tensor loss =
                    ReduceMean(features["x"]) + Log(w - 2, "log") + ReduceMean(same);
                return EstimatorSpec::Train(loss, Minimize(loss));
              }),
              ErrorHas("NaN loss during training, at step 1: log:0 (f32 []) is NaN, the first"));
}

TEST_F(TrainErrorsTest, AnInfiniteConstantIsNamedWhereAllElseFollowsFromIt) {
  EXPECT_THAT(TrainError([](const Features& features, const Labels&, Mode, const TinyParams&) {
                const Tensor limit = Constant(std::numeric_limits<float>::infinity(), "limit");
                const Variable w = GetVariable("w", {}, {.initializer = initializers::Ones()});
                const Tensor loss = ReduceMean(features["x"]) + w + limit;
                return EstimatorSpec::Train(loss, Minimize(loss));
              }),
              ErrorHas("Inf loss during training, at step 1: limit:0 (f32 []) is Inf, the first"));
}

TEST_F(TrainErrorsTest, AnErrorOfInputFnIsReturnedAsItIs) {
  EXPECT_THAT(TrainError(TinyModel,
                         [](const TinyParams&) -> absl::StatusOr<Dataset> {
                           return absl::NotFoundError("no such data_dir");
                         }),
              ErrorIs("no such data_dir"));
}

TEST_F(TrainErrorsTest, AnErrorOfAHookStopsWithoutItsEnd) {
  class Failing : public SessionRunHook {
    absl::Status AfterRun(RunContext&, const RunValues&) override {
      return absl::InternalError("hook broke");
    }
  };
  Estimator<TinyParams> estimator(TinyOptions(dir_.File("m")));
  const auto recorder = std::make_shared<RunRecorder>();
  const testing::CapturedLog log;
  const absl::Status status =
      estimator.Train(Endless, Steps(3), {.hooks = {recorder, std::make_shared<Failing>()}});
  EXPECT_THAT(log.warnings, IsEmpty()) << "the steps are saved";
  EXPECT_THAT(status, ErrorIs(AllOf(HasSubstr("hook broke"),
                                    HasSubstr("(all steps up to 1 are saved in"))));
  EXPECT_EQ(recorder->num_ends, 0);
  // The next call continues after the step that was saved.
  const auto again = std::make_shared<RunRecorder>();
  EST_ASSERT_OK(estimator.Train(Endless, Steps(3), {.hooks = {again}}));
  EXPECT_THAT(again->steps, ElementsAre(2, 3, 4));
}

TEST_F(TrainErrorsTest, TheNextCallBuildsAGraphAgainThatAHookHasSpoilt) {
  class Spoiling : public SessionRunHook {
    absl::Status Begin(Graph& graph) override {
      const GraphScope scope(graph);
      Reshape(Zeros({2}), Shape{3});
      return absl::OkStatus();
    }
  };
  Estimator<TinyParams> estimator(TinyOptions(dir_.File("m")));
  EST_ASSERT_OK(estimator.Train(Endless, Steps(1)));
  EXPECT_THAT(estimator.Train(Endless, Steps(1), {.hooks = {std::make_shared<Spoiling>()}}),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EST_EXPECT_OK(estimator.Train(Endless, Steps(1)));
}

// From step 2 on, a loop of the model does not end.
EstimatorSpec EndlessFromStep2(const Features& features, const Labels& labels, Mode,
                               const TinyParams&) {
  const Tensor step = GetOrCreateGlobalStep().read();
  const Tensor i =
      WhileLoop([&](const Tensors& v) { return LogicalOr(Less(v[0], 3), GreaterEqual(step, 2)); },
                [](const Tensors& v) { return Tensors{FloorMod(v[0] + 1, 100)}; }, {Constant(0)},
                {.name = "search"})[0];
  const Tensor loss =
      TinyLoss(labels, TinyNetwork(features, true, 0)) + 0 * Cast(i, DType::kFloat32);
  return EstimatorSpec::Train(loss, Minimize(loss));
}

TEST_F(TrainErrorsTest, ALoopWithoutEndIsEndedByTheTimeoutAndTheStepsBeforeItAreSaved) {
  auto options = TinyOptions(dir_.File("m"));
  options.config.step_timeout_secs = 0.5;
  options.model_fn = EndlessFromStep2;
  Estimator<TinyParams> estimator(options);
  EXPECT_THAT(estimator.Train(Endless, Steps(10)),
              StatusIs(absl::StatusCode::kDeadlineExceeded,
                       AllOf(HasSubstr("search: trip "),
                             HasSubstr("the step runs longer than RunConfig.step_timeout_secs"),
                             HasSubstr("(all steps up to 2 are saved in"))));
  EXPECT_EQ(estimator.GetVariableValue("global_step")->scalar<int64_t>(), 2);
}

TEST_F(TrainErrorsTest, ALoopWithoutEndIsEndedByAnInterruptAndTheStepsBeforeItAreSaved) {
  class InterruptsStep3 : public SessionRunHook {
    std::vector<Tensor> BeforeRun(RunContext& context) override {
      if (context.session().global_step() == 2) RequestInterruptForTest();
      return {};
    }
  };
  SetStopGraceForTest(0.01);
  const absl::Cleanup over = [] {
    ClearInterrupt();
    SetStopGraceForTest(5);
  };
  auto options = TinyOptions(dir_.File("m"));
  options.model_fn = EndlessFromStep2;
  Estimator<TinyParams> estimator(options);
  EXPECT_THAT(estimator.Train(Endless, Steps(10), {.hooks = {std::make_shared<InterruptsStep3>()}}),
              StatusIs(absl::StatusCode::kCancelled,
                       AllOf(HasSubstr("a stop was requested, and the loop has not ended since"),
                             HasSubstr("(all steps up to 2 are saved in"))));
}

// A fixed bug: the kernel ended the process in the first step, without a word.
TEST_F(TrainErrorsTest, AStepThatTheMachineHasNoMemoryForIsRefusedWithWhatIsPlanned) {
  auto options = TinyOptions(dir_.File("m"));
  options.model_fn = [](const Features&, const Labels&, Mode, const TinyParams&) {
    const Variable w = GetVariable("w", {1 << 20, 1}, {});
    const Tensor loss = ReduceMean(Square(MatMul(w, w, {.transpose_b = true})));
    return EstimatorSpec::Train(loss, Minimize(loss));
  };
  Estimator<TinyParams> estimator(options);
  // Once only: the message says how much memory is free, which changes from call to call.
  const absl::Status status = estimator.Train(Endless, Steps(3));
  EXPECT_THAT(status,
              ErrorIs(AllOf(HasSubstr("a batch of 4: out of memory: a step is planned to take"),
                            HasSubstr(" TiB"), HasSubstr("take a smaller batch"))));
}

}  // namespace
}  // namespace estimator
