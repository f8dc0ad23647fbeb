// A property of evaluation, over many combinations: the batch size, the number of replicas and the
// length of the input change neither the counts of metrics, to the last bit, nor the loss.
#include <cstdint>
#include <map>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tpu/testing/tiny_tpu_model.h"

namespace estimator::tpu {
namespace {

constexpr int64_t kNumClasses = 3;
constexpr int64_t kMaxLength = 64;

// The class that the model predicts for an example, and its label. Both look random.
int64_t Predicted(int64_t i) { return (i * 7 + i / 5) % kNumClasses; }
int64_t Label(int64_t i) { return (i * i + i / 3) % kNumClasses; }
float Value(int64_t i) { return 0.1f + 0.37f * static_cast<float>((i * 29) % 23); }

Element Examples(int64_t length) {
  Array classes(DType::kInt64, Shape({length})), labels(DType::kInt64, Shape({length}));
  Array values(DType::kFloat32, Shape({length}));
  for (int64_t i = 0; i < length; ++i) {
    classes.data<int64_t>()[i] = Predicted(i);
    labels.data<int64_t>()[i] = Label(i);
    values.data<float>()[i] = Value(i);
  }
  return {.features = {{"class", classes}, {"value", values}}, .labels = labels};
}

MetricMap CountingMetrics(const Tensor& labels, const Tensor& classes, const Tensor& values) {
  const Tensor is_one = Equal(classes, int64_t{1});
  return {{"accuracy", metrics::Accuracy(labels, classes)},
          {"true_positives", metrics::TruePositives(Equal(labels, int64_t{1}), is_one)},
          {"false_negatives", metrics::FalseNegatives(Equal(labels, int64_t{1}), is_one)},
          {"mean_value", metrics::Mean(values)}};
}

TPUEstimatorSpec CountingModel(const Features& features, const Labels& labels, Mode mode,
                               const Params&) {
  const Tensor weight = GetVariable("weight", Shape({}), {.initializer = initializers::Ones()});
  const Tensor value = features["value"] * weight;
  const Tensor loss = ReduceMean(value);
  if (mode == Mode::kEval) {
    return TPUEstimatorSpec::Eval(
        loss, {CountingMetrics, {Tensor(labels), features["class"], features["value"]}});
  }
  return TPUEstimatorSpec::Train(loss,
                                 CrossShardOptimizer(train::GradientDescent(0.0)).Minimize(loss));
}

// The metrics by a plain loop over the examples.
struct Expected {
  int64_t right = 0, true_positives = 0, false_negatives = 0;
  double sum = 0;
};

Expected Count(int64_t length) {
  Expected expected;
  for (int64_t i = 0; i < length; ++i) {
    expected.right += Predicted(i) == Label(i);
    expected.true_positives += Label(i) == 1 && Predicted(i) == 1;
    expected.false_negatives += Label(i) == 1 && Predicted(i) != 1;
    expected.sum += static_cast<double>(Value(i));
  }
  return expected;
}

class TPUEvalPropertyTest : public ::testing::Test {
 protected:
  TinyTPUEstimator::Options Options(int replicas, int64_t batch) {
    auto options = TinyTPUOptions(dir_.File("m"), replicas);
    options.model_fn = CountingModel;
    options.eval_batch_size = batch;
    return options;
  }
  void SetUp() override {
    TinyTPUEstimator estimator(Options(0, 1));
    EST_ASSERT_OK(estimator.Train(
        [](const Params& params) {
          return Dataset::FromTensorSlices(Examples(kMaxLength))
              .Repeat()
              .Batch(params.batch_size, {.drop_remainder = true});
        },
        Steps(1)));
  }
  TempDir dir_;
};

TEST_F(TPUEvalPropertyTest, ResultsDependOnTheExamplesOnly) {
  const std::vector<int64_t> lengths = {1, 2, 3, 7, 8, 9, 31, kMaxLength};
  std::map<int64_t, double> accuracies;  // the first one of each length
  int num_combinations = 0;
  for (const int replicas : {0, 1, 2, 3, 8}) {
    for (const int64_t batch : {1, 2, 3, 5, 8, 24, 64, 120}) {
      if (replicas > 1 && batch % replicas != 0) continue;
      TinyTPUEstimator estimator(Options(replicas, batch));
      for (const int64_t length : lengths) {
        SCOPED_TRACE(
            absl::StrCat(replicas, " replicas, batches of ", batch, ", ", length, " examples"));
        const auto result = estimator.Evaluate([length](const Params& params) {
          return Dataset::FromTensorSlices(Examples(length)).Batch(params.batch_size);
        });
        EST_ASSERT_OK(result);
        const Expected expected = Count(length);
        const auto n = static_cast<double>(length);
        EXPECT_EQ(result->num_examples, length);
        // Accuracy is a quotient of two counts, so its bits are equal too.
        EXPECT_EQ((*result)["accuracy"],
                  accuracies.emplace(length, (*result)["accuracy"]).first->second);
        EXPECT_NEAR((*result)["accuracy"], static_cast<double>(expected.right) / n, 1e-7);
        EXPECT_EQ((*result)["true_positives"], static_cast<double>(expected.true_positives));
        EXPECT_EQ((*result)["false_negatives"], static_cast<double>(expected.false_negatives));
        EXPECT_NEAR((*result)["mean_value"], expected.sum / n, 1e-6 * expected.sum / n);
        EXPECT_NEAR((*result)["loss"], expected.sum / n, 1e-6 * expected.sum / n);
        ++num_combinations;
      }
    }
  }
  EXPECT_EQ(num_combinations, 8 * (8 + 8 + 5 + 3 + 4));
}

TEST_F(TPUEvalPropertyTest, AnInputWithoutExamplesIsTheSameErrorEverywhere) {
  for (const int replicas : {0, 1, 2, 8}) {
    for (const int64_t batch : {8, 64}) {
      TinyTPUEstimator estimator(Options(replicas, batch));
      const auto result = estimator.Evaluate([](const Params& params) {
        return Dataset::FromTensorSlices(Examples(1)).Take(0).Batch(params.batch_size);
      });
      EXPECT_THAT(result, ErrorHas("the evaluation input is empty")) << replicas << " " << batch;
    }
  }
}

}  // namespace
}  // namespace estimator::tpu
