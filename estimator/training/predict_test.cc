// Predict: lazy, one row an example, in order.
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "estimator/base/interrupt.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/reduction.h"
#include "estimator/training/hooks/logging_tensor_hook.h"
#include "estimator/training/testing/tiny_model.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

constexpr auto Once = [](const TinyParams&) { return TinyDataset(8); };

class PredictTest : public ::testing::Test {
 protected:
  Estimator<TinyParams> With(const Estimator<TinyParams>::ModelFn& model_fn) {
    auto options = TinyOptions(dir_.File("m"));
    options.model_fn = model_fn;
    return Estimator<TinyParams>(options);
  }
  TempDir dir_;
};

// Behaviour F1.
TEST_F(PredictTest, NothingRunsBeforeTheFirstPullAndHooksRunOnceABatch) {
  int num_models = 0, num_inputs = 0;
  Estimator<TinyParams> estimator = With(
      [&](const Features& features, const Labels& labels, Mode mode, const TinyParams& params) {
        ++num_models;
        return TinyModel(features, labels, mode, params);
      });
  const auto recorder = std::make_shared<RunRecorder>();
  Predictions predictions = estimator.Predict(
      [&](const TinyParams&) {
        ++num_inputs;
        return TinyDataset(8);
      },
      {.hooks = {recorder}});
  EXPECT_EQ(num_models + num_inputs + recorder->num_begins, 0);
  EST_ASSERT_OK(predictions.Next());
  EXPECT_EQ(recorder->steps.size(), 1u);
  EXPECT_EQ(predictions.All()->size(), 19u);
  EXPECT_EQ(recorder->steps.size(), 3u) << "batches of 8, 8 and 4";
  EXPECT_EQ(recorder->num_ends, 1);
  EXPECT_FALSE(predictions.Next()->has_value()) << "the end stays the end";
}

TEST_F(PredictTest, AnInterruptEndsItBeforeTheNextBatch) {
  Estimator<TinyParams> estimator(TinyOptions(dir_.File("m")));
  Predictions predictions = estimator.Predict(Once);
  EST_ASSERT_OK(predictions.Next());
  RequestInterruptForTest();
  const auto rest = predictions.All();
  ClearInterrupt();
  EXPECT_EQ(rest.status(), absl::CancelledError("interrupted while predicting"));
}

// Behaviour F2; and rows in order for every batch size.
TEST_F(PredictTest, GivesOneRowAnExampleInOrderForEveryBatchSize) {
  Estimator<TinyParams> estimator(TinyOptions(dir_.File("m")));
  EST_ASSERT_OK(
      estimator.Train([](const TinyParams&) { return TinyDataset(4).Repeat(); }, Steps(4)));
  std::vector<float> expected;
  for (const int64_t batch_size : {20, 1, 3, 7}) {
    const auto rows =
        estimator
            .Predict([&](const TinyParams&) {
              return Dataset::FromTensorSlices({.features = TinyExamples().features, .labels = {}})
                  .Batch(batch_size);  // features only
            })
            .All();
    EST_ASSERT_OK(rows);
    ASSERT_EQ(rows->size(), 20u);
    for (size_t i = 0; i < rows->size(); ++i) {
      const float y = (*rows)[i].at("y").data<float>()[0];
      if (batch_size == 20) expected.push_back(y);
      EXPECT_NEAR(y, expected[i], 1e-6) << "row " << i << ", batches of " << batch_size;
      EXPECT_EQ((*rows)[i].at("twice").data<float>()[0], 2 * y);
      EXPECT_EQ((*rows)[i].at("y").shape(), (Shape{1}));
    }
  }
  EXPECT_NE(expected[0], expected[19]);
}

// Behaviour F2.
TEST_F(PredictTest, ABareTensorHasRowsWithoutAName) {
  Estimator<TinyParams> estimator =
      With([](const Features& features, const Labels&, Mode, const TinyParams&) {
        return EstimatorSpec::Predict({{"", features["x"]}});
      });
  const auto rows = estimator.Predict(Once).All();
  EST_ASSERT_OK(rows);
  ASSERT_EQ(rows->size(), 20u);
  EXPECT_EQ((*rows)[7].at("").data<float>()[0], 0.35f);
  // Behaviour F4.
  EXPECT_THAT(estimator.Predict(Once, {.predict_keys = {"y"}}).Next(),
              ErrorHas("predict_keys need predictions with names"));
}

// Behaviour F3.
TEST_F(PredictTest, RowsNeedOneBatchLengthAndWholeBatchesDoNot) {
  Estimator<TinyParams> estimator = With([](const Features& features, const Labels&, Mode,
                                            const TinyParams&) {
    return EstimatorSpec::Predict({{"rows", features["x"]}, {"sums", ReduceSum(features["x"], 0)}});
  });
  EXPECT_THAT(estimator.Predict(Once).Next(),
              ErrorHas("Batch length of predictions should be same"));
  const auto batches = estimator.Predict(Once, {.yield_single_examples = false}).All();
  EST_ASSERT_OK(batches);
  ASSERT_EQ(batches->size(), 3u);
  EXPECT_EQ((*batches)[0].at("rows").shape(), (Shape{8, 2}));
  EXPECT_EQ((*batches)[2].at("rows").shape(), (Shape{4, 2}));
  EXPECT_EQ((*batches)[2].at("sums").shape(), (Shape{2}));
}

// Behaviour F4.
TEST_F(PredictTest, PredictKeysFilterAndMustMatch) {
  Estimator<TinyParams> estimator(TinyOptions(dir_.File("m")));
  const auto row = estimator.Predict(Once, {.predict_keys = {"twice", "unknown"}}).Next();
  EST_ASSERT_OK(row);
  EXPECT_EQ((*row)->size(), 1u);
  EXPECT_EQ((*row)->count("twice"), 1u);
  Predictions none = estimator.Predict(Once, {.predict_keys = {"thrice"}});
  const absl::Status first = none.Next().status(), second = none.Next().status();
  EXPECT_THAT(first, ErrorHas("which has twice, y; predict_keys are thrice"));
  EXPECT_EQ(first, second) << "an error repeats";
}

// Behaviour F5.
TEST_F(PredictTest, TheModelSeesPredictModeAndNoLabelsEvenIfTheInputHasThem) {
  int num_calls = 0;
  Estimator<TinyParams> estimator = With(
      [&](const Features& features, const Labels& labels, Mode mode, const TinyParams& params) {
        EXPECT_EQ(mode, Mode::kPredict);
        EXPECT_TRUE(labels.empty());
        EXPECT_FALSE(Tensor(labels).valid());
        ++num_calls;
        return TinyModel(features, labels, mode, params);
      });
  EXPECT_EQ(estimator.Predict(Once).All()->size(), 20u);
  EXPECT_EQ(num_calls, 2) << "full batches, and the last, smaller one";
  EXPECT_EQ(estimator.Predict(Once).All()->size(), 20u);
  EXPECT_EQ(num_calls, 2) << "both programs are kept";
}

// Behaviour F7.
TEST_F(PredictTest, WithoutACheckpointInitialValuesCountAndAPathThatIsNoneIsRefused) {
  Estimator<TinyParams> estimator(TinyOptions(dir_.File("m")));
  EXPECT_EQ(estimator.Predict(Once).All()->size(), 20u);
  const absl::Status status =
      estimator.Predict(Once, {.checkpoint_path = dir_.File("none/model.ckpt-1")}).Next().status();
  EXPECT_THAT(status, ErrorHas("checkpoint_path"));
}

// Behaviour C1.
TEST_F(PredictTest, MissingPredictionsAreNamed) {
  Estimator<TinyParams> estimator =
      With([](const Features&, const Labels&, Mode, const TinyParams&) {
        return EstimatorSpec::Predict({});
      });
  EXPECT_THAT(estimator.Predict(Once).Next(), ErrorHas("Missing predictions."));
}

// Predict dropped the tensor, and LoggingTensorHook then read past the end of its results.
TEST_F(PredictTest, AHooksTensorThatTheLastBatchsModelLacksIsRefusedAsInEvaluate) {
  std::shared_ptr<SessionRunHook> hook;
  std::vector<std::string> lines;
  Estimator<TinyParams> estimator =
      With([&](const Features& features, const Labels& labels, Mode mode, const TinyParams&) {
        if (hook == nullptr) {  // in the model of full batches
          hook = std::make_shared<LoggingTensorHook>(LoggingTensorHook::Options{
              .tensors = {{"sum", ReduceSum(features["x"], ReduceAxes::All(),
                                            {.name = "sum_of_full_batch"})}},
              .every_n_iter = 1,
              .sink = [&](const std::string& line) { lines.push_back(line); }});
        }
        EstimatorSpecOptions options;
        options.prediction_hooks = options.evaluation_hooks = {hook};
        if (mode == Mode::kPredict)
          return EstimatorSpec::Predict({{"y", features["x"]}}, std::move(options));
        return EstimatorSpec::Eval(TinyLoss(labels, TinyNetwork(features, false, 0)), {},
                                   std::move(options));
      });
  const absl::Status predicted = estimator.Predict(Once).All().status();
  EXPECT_EQ(predicted,
            absl::InvalidArgumentError("a hook asks for 'sum_of_full_batch:0', which the model for "
                                       "batches of another shape does not have. Hooks add nodes to "
                                       "the model of the first batch only: make the tensor in "
                                       "model_fn"));
  EXPECT_EQ(lines.size(), 2u) << "the full batches ran";
  hook = nullptr;
  EXPECT_EQ(estimator.Evaluate(Once).status(), predicted);
}

// Counts the elements that were read, and those that were read outside a call of Next. A hook waits
// for a count.
class Reads {
 public:
  Dataset Count(const Dataset& dataset) {
    return dataset.Map([this](const Element& element) -> absl::StatusOr<Element> {
      const std::lock_guard<std::mutex> lock(mutex_);
      ++count_;
      outside_ += in_next_ ? 0 : 1;
      changed_.notify_all();
      return element;
    });
  }
  void WaitFor(int count) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return count_ >= count; });
  }
  // Calls predictions.Next(), and reports whether it returned a row.
  bool Next(Predictions& predictions) {
    SetInNext(true);
    const auto row = predictions.Next();
    SetInNext(false);
    EXPECT_TRUE(row.ok()) << row.status();
    // Time to read, for a thread that does not stop at the end of the call.
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return row.ok() && row->has_value();
  }
  int count() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return count_;
  }
  int outside() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return outside_;
  }

 private:
  void SetInNext(bool value) {
    const std::lock_guard<std::mutex> lock(mutex_);
    in_next_ = value;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool in_next_ = false;
  int count_ = 0, outside_ = 0;
};

struct WaitsForReads : SessionRunHook {
  WaitsForReads(Reads& reads, int count) : reads(reads), count(count) {}
  absl::Status AfterRun(RunContext&, const RunValues&) override {
    reads.WaitFor(count);
    return absl::OkStatus();
  }
  Reads& reads;
  const int count;
};

TEST_F(PredictTest, TheNextBatchesAreReadWhileABatchRuns) {
  Estimator<TinyParams> estimator(TinyOptions(dir_.File("m")));
  Reads reads;
  Predictions predictions =
      estimator.Predict([&](const TinyParams&) { return reads.Count(TinyDataset(4)); },
                        {.hooks = {std::make_shared<WaitsForReads>(reads, 3)}});
  EST_ASSERT_OK(predictions.Next());
  EXPECT_GE(reads.count(), 3) << "the batches of two steps ahead";
  // The rest is not read: the thread ends with the sequence.
}

TEST_F(PredictTest, NoBatchIsReadWhileTheRowsOfAnotherAreUsed) {
  Estimator<TinyParams> estimator(TinyOptions(dir_.File("m")));
  Reads reads;
  Predictions predictions =
      estimator.Predict([&](const TinyParams&) { return reads.Count(TinyDataset(4).Take(20)); });
  int rows = 0;
  while (reads.Next(predictions)) ++rows;
  EXPECT_EQ(rows, 4 * reads.count());
  EXPECT_GT(rows, 0);
  EXPECT_EQ(reads.outside(), 0);
}

TEST_F(PredictTest, AGeneratorMayMakeAnExampleOfTheLastPrediction) {
  Estimator<TinyParams> estimator(TinyOptions(dir_.File("m")));
  int num_calls = 0;
  Predictions predictions = estimator.Predict([&](const TinyParams&) {
    return Dataset::FromGenerator([&](int64_t) -> absl::StatusOr<std::optional<Element>> {
             ++num_calls;
             return Element{.features = {{"x", TinyExamples().features.at("x").Row(0)}},
                            .labels = {}};
           })
        .Batch(1);
  });
  for (int row = 1; row < 5; ++row) {
    EST_ASSERT_OK(predictions.Next());
    EXPECT_EQ(num_calls, row) << "it is called when its prediction is asked for";
  }
}

TEST_F(PredictTest, AnErrorOfTheInputComesAtItsRow) {
  Estimator<TinyParams> estimator(TinyOptions(dir_.File("m")));
  Predictions predictions = estimator.Predict([](const TinyParams&) {
    auto count = std::make_shared<int>(0);
    return TinyDataset(1).Map([count](const Element& element) -> absl::StatusOr<Element> {
      if (++*count == 4) return absl::DataLossError("damaged");
      return element;
    });
  });
  for (int row = 0; row < 3; ++row) EST_ASSERT_OK(predictions.Next());
  EXPECT_THAT(predictions.Next(), ErrorHas("damaged"));
  EXPECT_THAT(predictions.Next(), ErrorHas("damaged"));
}

TEST_F(PredictTest, AnEmptyInputHasNoRows) {
  Estimator<TinyParams> estimator(TinyOptions(dir_.File("m")));
  Predictions predictions =
      estimator.Predict([](const TinyParams&) { return TinyDataset(4).Take(0); });
  EXPECT_FALSE(predictions.Next()->has_value());
  EXPECT_FALSE(predictions.Next()->has_value());
}

// The examples with names, in batches.
Dataset NamedExamples(int64_t batch_size) {
  Element examples = TinyExamples();
  std::vector<std::string> names;
  for (int i = 0; i < 20; ++i) names.push_back("image_" + std::to_string(i));
  examples.features["name"] = Array::Strings(names);
  return Dataset::FromTensorSlices(examples).Batch(batch_size);
}

TEST_F(PredictTest, FeaturesPassBesideTheModelToTheirRows) {
  Estimator<TinyParams> estimator =
      With([](const Features& features, const Labels& labels, Mode mode, const TinyParams& params) {
        EXPECT_FALSE(features.has("name"));
        return TinyModel(features, labels, mode, params);
      });
  for (const int64_t batch_size : {20, 8, 3}) {
    const auto rows = estimator
                          .Predict([&](const TinyParams&) { return NamedExamples(batch_size); },
                                   {.predict_keys = {"y"}, .pass_features = {"name"}})
                          .All();
    EST_ASSERT_OK(rows);
    ASSERT_EQ(rows->size(), 20u);
    for (size_t i = 0; i < rows->size(); ++i) {
      const Prediction& row = (*rows)[i];
      EXPECT_EQ(row.size(), 2u);
      EXPECT_EQ(row.at("name").scalar<std::string>(), "image_" + std::to_string(i));
    }
  }
}

TEST_F(PredictTest, FeaturesThatCannotPassAreErrors) {
  Estimator<TinyParams> estimator(TinyOptions(dir_.File("m")));
  const auto error = [&](const std::vector<std::string>& names) {
    return estimator
        .Predict([](const TinyParams&) { return NamedExamples(4); }, {.pass_features = names})
        .Next()
        .status();
  };
  EXPECT_THAT(error({"nam"}), ErrorHas("PredictOptions::pass_features: "));
  EXPECT_THAT(error({"nam"}), ErrorHas("name"));
  EXPECT_THAT(error({"name", "x"}), ErrorHas("none is left for model_fn"));
  Estimator<TinyParams> echo =
      With([](const Features& features, const Labels&, Mode, const TinyParams&) {
        return EstimatorSpec::Predict({{"name", features["x"]}});
      });
  EXPECT_THAT(
      echo.Predict([](const TinyParams&) { return NamedExamples(4); }, {.pass_features = {"name"}})
          .Next(),
      ErrorHas("'name' is a prediction of the model as well"));
}

}  // namespace
}  // namespace estimator
