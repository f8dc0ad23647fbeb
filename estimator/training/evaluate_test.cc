// Evaluate: exact, whatever the batch size; names, checkpoints, hooks.
#include <cmath>
#include <memory>

#include "estimator/base/file.h"
#include "estimator/base/interrupt.h"
#include "estimator/base/testing/captured_log.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/reduction.h"
#include "estimator/ops/shape_ops.h"
#include "estimator/ops/summary.h"
#include "estimator/proto/summary.pb.h"
#include "estimator/summary/event_reader.h"
#include "estimator/training/testing/tiny_model.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

constexpr auto Endless = [](const TinyParams&) { return TinyDataset(4).Repeat(); };
constexpr auto Once = [](const TinyParams&) { return TinyDataset(4); };

class EvaluateTest : public ::testing::Test {
 protected:
  Estimator<TinyParams> Trained(const std::string& name, int64_t steps) {
    Estimator<TinyParams> estimator(TinyOptions(dir_.File(name)));
    const absl::Status trained = estimator.Train(Endless, Steps(steps));
    EST_EXPECT_OK(trained);
    return estimator;
  }
  TempDir dir_;
};

// The loss is the mean of the feature.
EstimatorSpec MeanModel(const Features& features, const Labels&, Mode, const TinyParams&) {
  return EstimatorSpec::Eval(ReduceMean(features["x"]));
}

// Behaviour E1.
TEST_F(EvaluateTest, TheLossIsTheMeanOverTheInput) {
  auto options = TinyOptions(dir_.File("m"));
  options.model_fn = MeanModel;
  Estimator<TinyParams> estimator(options);
  const auto of = [&](std::vector<float> values) {
    const Array x =
        Array::FromSpan<float>({static_cast<int64_t>(values.size())}, absl::MakeConstSpan(values));
    const auto result = estimator.Evaluate([x](const TinyParams&) {
      return Dataset::FromTensorSlices({.features = {{"x", x}}, .labels = {}}).Batch(1);
    });
    EST_EXPECT_OK(result);
    return (*result)["loss"];
  };
  EXPECT_EQ(of({2, 4, 6, 8, 10}), 6);
  EXPECT_EQ(of({11, 22}), 16.5);
}

TEST_F(EvaluateTest, EveryExampleCountsOnceForEveryBatchSize) {
  Estimator<TinyParams> estimator = Trained("m", 8);
  double loss = 0, mae = 0;
  for (const int64_t batch_size : {20, 1, 3, 7, 16}) {
    const auto recorder = std::make_shared<RunRecorder>();
    const auto result = estimator.Evaluate(
        [&](const TinyParams&) { return TinyDataset(batch_size); }, {.hooks = {recorder}});
    EST_ASSERT_OK(result);
    EXPECT_EQ(result->num_examples, 20);
    EXPECT_EQ(result->num_steps, (20 + batch_size - 1) / batch_size);
    if (batch_size == 20) {
      loss = (*result)["loss"];
      mae = (*result)["mae"];
    }
    EXPECT_NEAR((*result)["loss"], loss, 1e-6 * loss) << "batches of " << batch_size;
    EXPECT_NEAR((*result)["mae"], mae, 1e-6 * mae) << "batches of " << batch_size;
    // Behaviour E5: a hook is called once a step, for the last, smaller batch as well.
    EXPECT_EQ(static_cast<int64_t>(recorder->losses.size()), result->num_steps);
    EXPECT_EQ(recorder->num_begins, 1);
    EXPECT_EQ(recorder->num_ends, 1);
  }
  // Metrics start from zero each time.
  EXPECT_NEAR((*estimator.Evaluate(Once))["mae"], mae, 1e-6 * mae);
}

// Behaviour E2.
TEST_F(EvaluateTest, GlobalStepIsReturned) {
  Estimator<TinyParams> estimator = Trained("m", 3);
  const auto result = estimator.Evaluate(Once);
  EST_ASSERT_OK(result);
  EXPECT_EQ(result->global_step(), 3);
  EXPECT_THAT(result->ToString(), HasSubstr("global_step = 3"));
  EXPECT_TRUE(std::isnan((*result)["no such metric"]));
}

// Behaviour E3.
TEST_F(EvaluateTest, WithoutACheckpointTheInitialValuesAreEvaluated) {
  Estimator<TinyParams> fresh(TinyOptions(dir_.File("fresh")));
  const testing::CapturedLog log;
  const auto result = fresh.Evaluate(Once);
  EST_ASSERT_OK(result);
  EXPECT_THAT(log.warnings,
              Contains("Could not find trained model in model_dir: " + dir_.File("fresh") +
                       ", evaluating freshly initialized variables; train first, or set model_dir "
                       "to the folder of a trained model"));
  EXPECT_EQ(result->global_step(), 0);
  EXPECT_EQ(result->checkpoint_path, "");
  Estimator<TinyParams> trained = Trained("m", 1);
  const auto at_zero = trained.Evaluate(Once, {.checkpoint_path = dir_.File("m/model.ckpt-0")});
  EST_ASSERT_OK(at_zero);
  EXPECT_EQ((*at_zero)["loss"], (*result)["loss"]);
}

// Behaviour E4, and F7 for the path.
TEST_F(EvaluateTest, ACheckpointOfAnotherEstimatorServesAndOneThatIsNoneIsRefused) {
  Estimator<TinyParams> trained = Trained("m", 6);
  Estimator<TinyParams> other(TinyOptions(dir_.File("other")));
  const auto there = trained.Evaluate(Once),
             here = other.Evaluate(Once, {.checkpoint_path = dir_.File("m/model.ckpt-6")});
  EST_ASSERT_OK(here);
  EXPECT_EQ((*here)["loss"], (*there)["loss"]);
  EXPECT_EQ(here->global_step(), 6);
  EXPECT_EQ(here->checkpoint_path, dir_.File("m/model.ckpt-6"));
  const auto none = other.Evaluate(Once, {.checkpoint_path = dir_.File("m/model.ckpt-7")});
  EXPECT_THAT(none, ErrorHas("checkpoint_path"));
  EXPECT_THAT(none, ErrorHas("model.ckpt-7"));
}

TEST_F(EvaluateTest, FollowsTrainingFromCallToCall) {
  Estimator<TinyParams> estimator(TinyOptions(dir_.File("m")));
  Estimator<TinyParams> reader(
      TinyOptions(dir_.File("m")));  // reads from disk what the other has in memory
  for (int64_t step = 2; step <= 6; step += 2) {
    EST_ASSERT_OK(estimator.Train(Endless, Steps(2)));
    const auto own = estimator.Evaluate(Once), read = reader.Evaluate(Once);
    EST_ASSERT_OK(own);
    EST_ASSERT_OK(read);
    EXPECT_EQ(own->global_step(), step);
    EXPECT_EQ((*own)["loss"], (*read)["loss"]);
  }
}

// Behaviour E5.
TEST_F(EvaluateTest, StepsLimitItAndMustBePositive) {
  Estimator<TinyParams> estimator(TinyOptions(dir_.File("m")));
  EXPECT_THAT(estimator.Evaluate(Once, {.steps = 0}), ErrorIs("Must specify steps > 0, given: 0"));
  EXPECT_THAT(estimator.Evaluate(Once, {.steps = -1}),
              ErrorIs("Must specify steps > 0, given: -1"));
  EXPECT_THAT(estimator.Evaluate(Once, {.hooks = {nullptr}}), ErrorHas("null"));
  const auto result = estimator.Evaluate(Endless, {.steps = 3});
  EST_ASSERT_OK(result);
  EXPECT_EQ(result->num_steps, 3);
  EXPECT_EQ(result->num_examples, 12);
}

TEST_F(EvaluateTest, AnInterruptEndsItAfterTheBatchAndWritesNothing) {
  Estimator<TinyParams> estimator = Trained("m", 3);
  RequestInterruptForTest();
  const auto result = estimator.Evaluate(Endless, {.steps = 1000});
  ClearInterrupt();
  EXPECT_EQ(result.status(), absl::CancelledError("interrupted while evaluating"));
  EXPECT_FALSE(FileExists(dir_.File("m/eval")));
  EXPECT_EQ(estimator.Evaluate(Once)->num_examples, 20) << "the next call is a whole one";
}

// A fixed bug: it evaluated for ever and said nothing.
TEST_F(EvaluateTest, AnInputWithoutEndNeedsSteps) {
  Estimator<TinyParams> estimator(TinyOptions(dir_.File("m")));
  EXPECT_THAT(estimator.Evaluate(Endless),
              ErrorHas("the evaluation input never ends, and no number of steps is given"));
  EXPECT_EQ(estimator.Evaluate(Endless, {.steps = 2})->num_examples, 8);
}

TEST_F(EvaluateTest, AnEmptyInputIsAnError) {
  Estimator<TinyParams> estimator(TinyOptions(dir_.File("m")));
  const auto result = estimator.Evaluate([](const TinyParams&) { return TinyDataset(4).Take(0); });
  EXPECT_THAT(result, ErrorHas("the evaluation input is empty"));
}

std::vector<SummaryRecord> RecordsOf(const std::string& directory) {
  std::vector<SummaryRecord> all;
  const std::vector<std::string> paths = *Glob(JoinPath(directory, "*"));
  for (const std::string& path : paths) {
    const std::vector<SummaryRecord> records = *ReadEventFile(path);
    all.insert(all.end(), records.begin(), records.end());
  }
  return all;
}

// Behaviours E6 and E9.
TEST_F(EvaluateTest, WritesScalarsAndTheCheckpointsPathToTheEvalDir) {
  Estimator<TinyParams> estimator = Trained("m", 3);
  EXPECT_EQ(estimator.EvalDir(), dir_.File("m/eval"));
  EXPECT_EQ(estimator.EvalDir("foo"), dir_.File("m/eval_foo"));
  const auto result = estimator.Evaluate(Once, {.name = "foo"});
  EST_ASSERT_OK(result);
  const auto scalars = ReadScalars(estimator.EvalDir("foo"));
  EST_ASSERT_OK(scalars);
  ASSERT_EQ(scalars->size(), 1u);
  EXPECT_EQ(scalars->count(3), 1u);
  EXPECT_FLOAT_EQ(static_cast<float>(scalars->at(3).at("mae")),
                  static_cast<float>((*result)["mae"]));
  EXPECT_EQ(scalars->at(3).count("global_step"), 0u);
  std::vector<std::string> checkpoint_paths;
  for (const SummaryRecord& record : RecordsOf(estimator.EvalDir("foo"))) {
    if (record.tag != "checkpoint_path") continue;
    proto::Summary::Value value;
    ASSERT_TRUE(value.ParseFromString(record.bytes));
    ASSERT_EQ(value.tensor().string_val_size(), 1);
    checkpoint_paths.push_back(value.tensor().string_val(0));
    EXPECT_EQ(record.step, 3);
  }
  EXPECT_THAT(checkpoint_paths, ElementsAre(**estimator.LatestCheckpoint()));
  EXPECT_FALSE(FileExists(estimator.EvalDir()));
}

// Behaviour E6.
TEST_F(EvaluateTest, AMetricThatIsPicturesIsWrittenUnderItsNameAndANumber) {
  auto options = TinyOptions(dir_.File("m"));
  options.model_fn = [](const Features& features, const Labels&, Mode, const TinyParams&) {
    const Variable counts = GetVariable(
        "counts", {5, 3, 3, 1},
        {.initializer = [](const Shape& shape, DType dtype) { return Zeros(shape, dtype); },
         .trainable = false,
         .local = true});
    const Operation update = AssignAdd(counts, Ones({5, 3, 3, 1}));
    return EstimatorSpec::Eval(
        ReduceMean(features["x"]),
        {{"foo", {.value = summary::ImageValue("bar", counts), .update = update}},
         {"note", {.value = Constant(Array::String("\xff no summary")), .update = update}}});
  };
  Estimator<TinyParams> estimator(options);
  const testing::CapturedLog log;
  const auto result = estimator.Evaluate([](const TinyParams&) { return TinyDataset(7); });
  EST_ASSERT_OK(result);
  std::vector<std::string> tags;
  for (const SummaryRecord& record : RecordsOf(estimator.EvalDir())) {
    if (record.kind != SummaryRecord::Kind::kScalar) tags.push_back(record.tag);
    proto::Summary::Value value;
    ASSERT_TRUE(value.ParseFromString(record.bytes));
    EXPECT_EQ(value.image().height(), record.kind == SummaryRecord::Kind::kImage ? 3 : 0);
  }
  EXPECT_THAT(tags, ElementsAre("foo/0", "foo/1", "foo/2"));
  EXPECT_THAT(log.warnings, Contains("Skipping summary for note, cannot parse string to Summary"));
  EXPECT_THAT(result->ToString(), MatchesRegex("global_step = 0, loss = [0-9.]+"));
}

// Behaviour E8.
TEST_F(EvaluateTest, VariablesHaveNamesAndValuesAfterTrainingOnly) {
  Estimator<TinyParams> fresh(TinyOptions(dir_.File("fresh")));
  EXPECT_THAT(fresh.GetVariableNames(), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(fresh.GetVariableValue("dense/kernel"), ErrorHas("train first"));
  Estimator<TinyParams> trained = Trained("m", 1);
  EXPECT_THAT(*trained.GetVariableNames(),
              ElementsAre("dense/bias", "dense/bias/Momentum", "dense/kernel",
                          "dense/kernel/Momentum", "dense_1/bias", "dense_1/bias/Momentum",
                          "dense_1/kernel", "dense_1/kernel/Momentum", "global_step"));
  EXPECT_EQ(trained.GetVariableValue("dense/kernel")->shape(), (Shape{2, 4}));
  EXPECT_THAT(trained.GetVariableValue("dense/kernal"), ErrorHas("dense/kernel"));
}

// Behaviour E7 (a metric is a tensor here, never a nested tuple).
TEST_F(EvaluateTest, AVectorMetricIsReturnedWholeAndStoredAsATensor) {
  auto options = TinyOptions(dir_.File("m"));
  options.model_fn = [](const Features& features, const Labels&, Mode, const TinyParams&) {
    const Variable sums = GetVariable(
        "sums", {2},
        {.initializer = [](const Shape& shape, DType dtype) { return Zeros(shape, dtype); },
         .trainable = false,
         .local = true});
    const metrics::Metric columns{.value = sums,
                                  .update = AssignAdd(sums, ReduceSum(features["x"], 0))};
    return EstimatorSpec::Eval(ReduceMean(features["x"]), {{"columns", columns}});
  };
  Estimator<TinyParams> estimator(options);
  const auto result = estimator.Evaluate([](const TinyParams&) { return TinyDataset(7); });
  EST_ASSERT_OK(result);
  EXPECT_EQ(result->values.at("columns").shape(), (Shape{2}));
  EXPECT_NEAR(result->values.at("columns").AsDouble(0), 9.5, 1e-5) << "0 + 0.05 + ... + 0.95";
  bool stored = false;
  for (const SummaryRecord& record : RecordsOf(estimator.EvalDir()))
    stored |= record.tag == "columns" && record.kind == SummaryRecord::Kind::kTensor;
  EXPECT_TRUE(stored);
}

// Behaviour C2: a loss of shape [1] is a scalar.
TEST_F(EvaluateTest, ALossOfShapeOneIsAScalar) {
  auto options = TinyOptions(dir_.File("m"));
  options.model_fn = [](const Features& features, const Labels&, Mode, const TinyParams&) {
    return EstimatorSpec::Eval(Reshape(ReduceMean(features["x"]), Shape{1}));
  };
  Estimator<TinyParams> estimator(options);
  const auto result = estimator.Evaluate(Once);
  EST_ASSERT_OK(result);
  EXPECT_EQ(result->values.at("loss").shape().rank(), 0);
}

}  // namespace
}  // namespace estimator
