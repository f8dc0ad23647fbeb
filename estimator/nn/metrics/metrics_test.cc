// Metrics against numbers of TF 2.15 tf.compat.v1.metrics over the same batches.
#include <gmock/gmock.h>

#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/nn/metrics/at_k.h"
#include "estimator/nn/metrics/auc.h"
#include "estimator/nn/metrics/confusion.h"
#include "estimator/nn/metrics/mean.h"
#include "estimator/nn/testing/step.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/testing/eval.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using metrics::Metric;
using testing::ExpectError;
using testing::ExpectNear;
using testing::Stepper;
using testing::VariableNames;

class Metrics : public GraphTest {
 protected:
  // The value after one update per batch; labels and predictions are fed.
  void Expect(const Metric& metric, double expected,
              const std::vector<std::pair<Array, Array>>& batches) {
    EST_ASSERT_OK(graph_.status());
    Stepper stepper(graph_);
    for (const auto& [labels, predictions] : batches) {
      stepper.Run(metric.update,
                  {{labels_, labels}, {predictions_, predictions}, {scores_, predictions}});
    }
    ExpectNear(stepper.Eval(metric.value), {expected}, 1e-6);
  }
  // What the update of a batch says.
  static absl::Status UpdateError(const Metric& metric, const std::map<Tensor, Array>& feeds) {
    std::vector<Tensor> values;
    for (const Node* update : CollectAssigns({metric.update})) values.push_back(update->input(1));
    return testing::EvalAll(values, feeds).status();
  }

  const Tensor labels_ = Placeholder(DType::kInt32, {6});
  const Tensor predictions_ = Placeholder(DType::kInt32, {6});
  const Tensor scores_ = Placeholder(DType::kFloat32, {4});
  const Array l1_ = Array::Of<int32_t>({6}, {0, 1, 2, 2, 1, 0}),
              p1_ = Array::Of<int32_t>({6}, {0, 2, 2, 2, 1, 1});
  const Array l2_ = Array::Of<int32_t>({6}, {1, 1, 0, 3, 3, 3}),
              p2_ = Array::Of<int32_t>({6}, {1, 1, 1, 3, 0, 0});
  const Tensor weights_ = Constant({1.f, 2.f, .5f, 0.f, 1.f, 3.f});
};

TEST_F(Metrics, AccuracyCountsEqualElementsOverAllBatches) {
  const Metric accuracy = metrics::Accuracy(labels_, predictions_);
  Expect(accuracy, 0.6666667, {{l1_, p1_}});
  Expect(accuracy, 0.5833333, {{l1_, p1_}, {l2_, p2_}});
  Expect(metrics::Accuracy(labels_, predictions_, {.weights = weights_}), 0.33333334, {{l1_, p1_}});
  Expect(accuracy, 0, {});
  EXPECT_EQ(VariableNames(graph_),
            (std::vector<std::string>{"accuracy/total", "accuracy/count", "accuracy_1/total",
                                      "accuracy_1/count"}));
  EXPECT_TRUE(graph_.variables()[0].local());
  EXPECT_TRUE(graph_.TrainableVariables().empty());
}

TEST_F(Metrics, AccuracyTakesInt64PredictionsWithInt32Labels) {
  const Tensor classes = Constant(std::vector<int64_t>{0, 1, 2, 2, 1, 1});
  Expect(metrics::Accuracy(labels_, classes), 5.0 / 6, {{l1_, p1_}});
}

TEST_F(Metrics, MeanWeighsByWeights) {
  const Tensor values = Constant({1.f, 2.f, 3.f, 4.f, 5.f, 6.f});
  Expect(metrics::Mean(values), 3.5, {{l1_, p1_}, {l1_, p1_}});
  Expect(metrics::Mean(values, {.weights = weights_}), (1 + 4 + 1.5 + 5 + 18) / 7.5, {{l1_, p1_}});
}

TEST_F(Metrics, ErrorsOfRegression) {
  const Tensor labels = Constant({1.f, 2.f, 3.f}), predictions = Constant({1.5f, 2.f, 5.f});
  Expect(metrics::MeanSquaredError(labels, predictions), 1.4166666, {{l1_, p1_}});
  Expect(metrics::RootMeanSquaredError(labels, predictions), 1.190238, {{l1_, p1_}});
  Expect(metrics::MeanAbsoluteError(labels, predictions), 0.8333333, {{l1_, p1_}});
}

TEST_F(Metrics, OutcomesOfYesAndNo) {
  Expect(metrics::TruePositives(labels_, predictions_), 7, {{l1_, p1_}, {l2_, p2_}});
  Expect(metrics::FalsePositives(labels_, predictions_), 2, {{l1_, p1_}, {l2_, p2_}});
  Expect(metrics::TrueNegatives(labels_, predictions_), 1, {{l1_, p1_}, {l2_, p2_}});
  Expect(metrics::FalseNegatives(labels_, predictions_), 2, {{l1_, p1_}, {l2_, p2_}});
  EXPECT_EQ(VariableNames(graph_)[0], "true_positives/count");
}

TEST_F(Metrics, PrecisionAndRecall) {
  Expect(metrics::Precision(labels_, predictions_), 0.7777778, {{l1_, p1_}, {l2_, p2_}});
  Expect(metrics::Recall(labels_, predictions_), 0.7777778, {{l1_, p1_}, {l2_, p2_}});
  EXPECT_EQ(
      VariableNames(graph_),
      (std::vector<std::string>{"precision/true_positives/count", "precision/false_positives/count",
                                "recall/true_positives/count", "recall/false_negatives/count"}));
  Expect(metrics::Precision(labels_, predictions_, {.weights = weights_}), 0.53846157,
         {{l1_, p1_}});
}

TEST_F(Metrics, PerClassAccuracyAndIntersectionOverUnion) {
  Expect(metrics::MeanPerClassAccuracy(labels_, predictions_, 4), 0.6041667,
         {{l1_, p1_}, {l2_, p2_}});
  Expect(metrics::MeanPerClassAccuracy(labels_, predictions_, 3, {.weights = weights_}), 0.5277778,
         {{l1_, p1_}});
  Expect(metrics::MeanIou(labels_, predictions_, 4), 0.425, {{l1_, p1_}, {l2_, p2_}});
  Expect(metrics::MeanIou(labels_, predictions_, 3, {.weights = weights_}), 0.20555556,
         {{l1_, p1_}});
}

TEST_F(Metrics, AreaUnderTheCurve) {
  const Tensor labels = Constant({0, 0, 1, 1});
  const Array scores = Array::Of<float>({4}, {.1f, .4f, .35f, .8f});
  Expect(metrics::Auc(labels, scores_), 0.74999976, {{l1_, scores}});
  Expect(metrics::Auc(labels, scores_, {.weights = Constant({1.f, 2.f, 3.f, .5f})}), 0.42857146,
         {{l1_, scores}});
  Expect(metrics::Auc(labels, scores_, {.num_thresholds = 5}), 0.87499964, {{l1_, scores}});
}

// Fixed bug: logits gave an area of 0, or nonsense.
TEST_F(Metrics, AreaUnderTheCurveTakesProbabilitiesOnly) {
  const Metric auc = metrics::Auc(Constant({0, 0, 1, 1}), scores_);
  EST_EXPECT_OK(UpdateError(auc, {{scores_, Array::Of<float>({4}, {0, 1, .5f, 1})}}));
  const std::vector<std::pair<float, std::string>> cases = {
      {1.5f, "1.5"},
      {-.25f, "-0.25"},
      {1.0000002f, "1.00000024"},
      {std::numeric_limits<float>::quiet_NaN(), "nan"}};
  for (const auto& [bad, text] : cases) {
    EXPECT_THAT(UpdateError(auc, {{scores_, Array::Of<float>({4}, {0, 1, bad, 9})}}),
                ErrorHas(absl::StrCat("auc: predictions must be in [0, 1], but element 2 of "
                                      "f32 [4] is ",
                                      text, ": pass probabilities: for logits, Sigmoid(logits)")));
  }
}

// Fixed bug: such rows were left out of the matrix without a word.
TEST_F(Metrics, AClassBeyondNumClassesIsAnError) {
  const Metric iou = metrics::MeanIou(labels_, predictions_, 3);
  const Metric accuracy = metrics::MeanPerClassAccuracy(labels_, predictions_, 3);
  EST_EXPECT_OK(UpdateError(iou, {{labels_, l1_}, {predictions_, p1_}}));
  EST_EXPECT_OK(UpdateError(accuracy, {{labels_, l1_}, {predictions_, p2_}}));
  EXPECT_THAT(UpdateError(iou, {{labels_, l1_}, {predictions_, p2_}}),
              ErrorHas("mean_iou: predictions must be in [0, 2], but element 3 of i32 [6] is 3"));
  EXPECT_THAT(UpdateError(iou, {{labels_, l2_}, {predictions_, p1_}}),
              ErrorHas("mean_iou: labels must be in [0, 2], but element 3 of i32 [6] is 3"));
  EXPECT_THAT(UpdateError(accuracy, {{labels_, l2_}, {predictions_, p1_}}),
              ErrorHas("mean_per_class_accuracy: labels must be in [0, 2]"));
}

TEST_F(Metrics, RecallAndPrecisionAtK) {
  const Tensor scores = Constant({3, 3}, {.1f, .5f, .4f, .7f, .2f, .1f, .3f, .3f, .4f});
  const Tensor labels = Constant(std::vector<int64_t>{1, 2, 0});
  const Tensor several = Constant(Shape{3, 2}, std::initializer_list<int64_t>{1, 2, 2, 1, 0, 2});
  Expect(metrics::RecallAtK(labels, scores, 2), 0.6666667, {{l1_, p1_}});
  Expect(metrics::PrecisionAtK(labels, scores, 2), 0.3333333, {{l1_, p1_}});
  Expect(metrics::RecallAtK(labels, scores, 1, {.weights = Constant({1.f, 2.f, 3.f})}), 0.1666667,
         {{l1_, p1_}});
  Expect(metrics::RecallAtK(several, scores, 2), 0.8333333, {{l1_, p1_}});
  Expect(metrics::PrecisionAtK(several, scores, 2), 0.8333333, {{l1_, p1_}});
  Expect(metrics::InTopK(labels, scores, 2), 0.6666667, {{l1_, p1_}});
  EXPECT_EQ(VariableNames(graph_)[0], "recall_at_2/true_positive_at_2");
}

TEST_F(Metrics, DifferentShapesAreBothNamed) {
  const Metric metric = metrics::Accuracy(labels_, scores_);
  EXPECT_FALSE(metric.value.valid());
  EXPECT_FALSE(metric.update.valid());
  ExpectError(graph_, {"accuracy", "i32 [6]", "f32 [4]"});
}

}  // namespace
}  // namespace estimator
