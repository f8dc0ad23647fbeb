// Metrics against Keras, NumPy and other programs. testdata/keras/generate.py computes the numbers.
#include <gmock/gmock.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/nn/metrics/accuracy.h"
#include "estimator/nn/metrics/auc.h"
#include "estimator/nn/metrics/confusion.h"
#include "estimator/nn/metrics/correlation.h"
#include "estimator/nn/metrics/f_score.h"
#include "estimator/nn/metrics/mean.h"
#include "estimator/nn/metrics/text.h"
#include "estimator/nn/testdata/keras/goldens.h"
#include "estimator/nn/testdata/keras/keras_inputs.h"
#include "estimator/nn/testing/step.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/search.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using metrics::Average;
using metrics::Curve;
using metrics::KappaWeighting;
using metrics::Metric;
using metrics::MetricMap;
using testing::ExpectError;
using testing::ExpectNear;
using testing::Stepper;

using MaybeWeights = std::optional<Operand>;

class KerasMetrics : public GraphTest {
 protected:
  // The value after rows 0 to 7 and rows 8 to 11. `build` gets tensors of one batch.
  struct Batch {
    Tensor labels, predictions, weights;
  };
  using Build = std::function<Metric(const Batch&, const MaybeWeights&)>;
  void Expect(const std::string& golden, const Array& labels, const Array& predictions,
              const Build& build, double tolerance = 2e-6) {
    for (const bool weighted : {false, true}) {
      const std::string name = absl::StrCat(golden, weighted ? "_weighted" : "");
      // Four rows a batch, so that all batches have one shape; Keras' value does not depend on it.
      const auto feed = [](const Array& array) {
        Shape shape = array.shape();
        shape.set_dim(0, 4);
        return Placeholder(array.dtype(), shape);
      };
      const Batch batch = {feed(labels), feed(predictions), feed(in_.weights)};
      const Metric metric =
          build(batch, weighted ? MaybeWeights(Operand(batch.weights)) : std::nullopt);
      EST_ASSERT_OK(graph_.status());
      Stepper stepper(graph_);
      for (int64_t row = 0; row < 12; row += 4) {
        stepper.Run(metric.update, {{batch.labels, labels.Slice(row, row + 4)},
                                    {batch.predictions, predictions.Slice(row, row + 4)},
                                    {batch.weights, in_.weights.Slice(row, row + 4)}});
      }
      SCOPED_TRACE(name);
      ASSERT_TRUE(goldens::kKeras.count(name) > 0);
      ExpectNear(stepper.Eval(metric.value), goldens::kKeras.at(name), tolerance);
    }
  }
  // Column k of [12, 4] as [12].
  static Array Column(const Array& array, int64_t k) {
    Array column(array.dtype(), {array.shape().dim(0)});
    for (int64_t i = 0; i < column.num_elements(); ++i)
      column.data<float>()[i] = array.data<float>()[i * array.shape().dim(1) + k];
    return column;
  }

  const goldens::KerasInputs in_;
};

TEST_F(KerasMetrics, AreaUnderTheCurveOfSeveralLabels) {
  const auto auc = [](Curve curve) {
    return [curve](const Batch& b, const MaybeWeights& weights) {
      return metrics::Auc(b.labels, b.predictions,
                          {.weights = weights, .curve = curve, .multi_label = true});
    };
  };
  Expect("auc_roc_multi_label", in_.binary, in_.scores, auc(Curve::kRoc));
  Expect("auc_pr_multi_label", in_.binary, in_.scores, auc(Curve::kPr));
}

TEST_F(KerasMetrics, AreaUnderTheCurveOfOneLabel) {
  for (const auto& [name, curve] :
       {std::pair("auc_roc", Curve::kRoc), std::pair("auc_pr", Curve::kPr)}) {
    Expect(name, Column(in_.binary, 0), Column(in_.scores, 0),
           [curve = curve](const Batch& b, const MaybeWeights& weights) {
             return metrics::Auc(b.labels, b.predictions, {.weights = weights, .curve = curve});
           });
  }
}

TEST_F(KerasMetrics, AreaOfEachLabelAndTheirMeanShareTheSums) {
  const Tensor labels = Constant(in_.binary), scores = Constant(in_.scores);
  const MetricMap metrics =
      metrics::AucByLabel(labels, scores, {"a", "b", "c", "d"}, {.curve = Curve::kPr});
  EST_ASSERT_OK(graph_.status());
  EXPECT_EQ(graph_.variables().size(), 4u);
  Stepper stepper(graph_);
  std::vector<Operation> updates;
  for (const auto& [name, metric] : metrics) updates.push_back(metric.update);
  stepper.Run(Group(updates));
  ExpectNear(stepper.Eval(metrics.at("auc").value), goldens::kKeras.at("auc_pr_multi_label"));
  int i = 0;
  for (const char* name : {"auc/a", "auc/b", "auc/c", "auc/d"}) {
    ExpectNear(stepper.Eval(metrics.at(name).value),
               {goldens::kKeras.at("auc_pr_by_label")[static_cast<size_t>(i++)]});
  }
}

TEST_F(KerasMetrics, AreaOfALabelWithoutPositivesIsZeroAsInKeras) {
  const Metric auc = metrics::Auc(Constant({2, 2}, {0.f, 1.f, 0.f, 0.f}),
                                  Constant({2, 2}, {.1f, .9f, .2f, .3f}), {.multi_label = true});
  Stepper stepper(graph_);
  stepper.Run(auc.update);
  ExpectNear(stepper.Eval(auc.value), {0.5});
}

TEST_F(KerasMetrics, NamesOfLabelsThatDoNotFitAreRefused) {
  metrics::AucByLabel(Constant(in_.binary), Constant(in_.scores), {"a", "b", "c", "a"});
  ExpectError(graph_, {"auc: there must be a name for each of the 4 labels", "a, b, c, a"});
}

TEST_F(KerasMetrics, SeveralLabelsNeedAnAxis) {
  metrics::Auc(Constant(Column(in_.binary, 0)), Constant(Column(in_.scores, 0)),
               {.multi_label = true});
  ExpectError(graph_, {"auc: with multi_label, labels and predictions must be [N,L]", "f32 [12]"});
}

TEST_F(KerasMetrics, FScores) {
  const std::vector<std::pair<std::string, Average>> averages = {{"none", Average::kNone},
                                                                 {"micro", Average::kMicro},
                                                                 {"macro", Average::kMacro},
                                                                 {"weighted", Average::kWeighted}};
  for (const auto& [name, average] : averages) {
    for (const bool half : {false, true}) {
      Expect(absl::StrCat("f1_", name, half ? "_half" : "_largest"), in_.binary, in_.scores,
             [half, average = average](const Batch& b, const MaybeWeights& weights) {
               metrics::FBetaScoreOptions options{.weights = weights, .average = average};
               if (half) options.threshold = 0.5;
               return metrics::F1Score(b.labels, b.predictions, options);
             });
    }
  }
  Expect("fbeta_2", in_.binary, in_.scores, [](const Batch& b, const MaybeWeights& weights) {
    return metrics::FBetaScore(
        b.labels, b.predictions,
        {.weights = weights, .average = Average::kMacro, .beta = 2, .threshold = 0.5});
  });
}

TEST_F(KerasMetrics, TheFScoreOfOneClassNeedsAThreshold) {
  metrics::F1Score(Constant(Column(in_.binary, 0)), Constant(Column(in_.scores, 0)));
  ExpectError(graph_, {"f1_score: one class needs a threshold", "f32 [12]"});
}

TEST_F(KerasMetrics, Accuracies) {
  Expect("binary_accuracy", in_.binary, in_.scores,
         [](const Batch& b, const MaybeWeights& weights) {
           return metrics::BinaryAccuracy(b.labels, b.predictions, {.weights = weights});
         });
  Expect("binary_accuracy_0.3", in_.binary, in_.scores,
         [](const Batch& b, const MaybeWeights& weights) {
           return metrics::BinaryAccuracy(b.labels, b.predictions,
                                          {.weights = weights, .threshold = 0.3});
         });
  Expect("categorical_accuracy", in_.one_hot, in_.scores,
         [](const Batch& b, const MaybeWeights& weights) {
           return metrics::CategoricalAccuracy(b.labels, b.predictions, {.weights = weights});
         });
  Expect("sparse_categorical_accuracy", in_.classes, in_.scores,
         [](const Batch& b, const MaybeWeights& weights) {
           return metrics::SparseCategoricalAccuracy(b.labels, b.predictions, {.weights = weights});
         });
  Expect("top_2", in_.one_hot, in_.scores, [](const Batch& b, const MaybeWeights& weights) {
    return metrics::TopKCategoricalAccuracy(b.labels, b.predictions, 2, {.weights = weights});
  });
  Expect("sparse_top_2", in_.classes, in_.scores, [](const Batch& b, const MaybeWeights& weights) {
    return metrics::SparseTopKCategoricalAccuracy(b.labels, b.predictions, 2, {.weights = weights});
  });
}

TEST_F(KerasMetrics, AThresholdIsComparedInTheDtypeOfThePredictions) {
  // 0.3f is larger than the double 0.3, but not larger than 0.3f.
  const Metric accuracy =
      metrics::BinaryAccuracy(Constant({0.f}), Constant({0.3f}), {.threshold = 0.3});
  Stepper stepper(graph_);
  stepper.Run(accuracy.update);
  ExpectNear(stepper.Eval(accuracy.value), {1});
  EXPECT_EQ(testing::VariableNames(graph_)[0], "binary_accuracy/total");
}

// Fixed bug: probabilities never equal a label, and the accuracy was 0 without a word.
TEST_F(KerasMetrics, AccuracyOfScoresIsRefusedAndNamesWhatToCall) {
  const Metric metric = metrics::Accuracy(Constant(in_.classes), Constant(in_.scores));
  EXPECT_FALSE(metric.value.valid());
  ExpectError(graph_, {"accuracy: predictions are f32 [12,4], labels i64 [12]",
                       "BinaryAccuracy(labels, predictions, {.threshold = 0.5})",
                       "CategoricalAccuracy", "ArgMax(logits, 1)"});
}

TEST_F(KerasMetrics, OneHotLabelsOfASparseAccuracyAreRefused) {
  metrics::SparseTopKCategoricalAccuracy(Constant(in_.one_hot), Constant(in_.scores));
  ExpectError(graph_, {"sparse_top_k_categorical_accuracy: labels are f32 [12,4]",
                       "call the function without Sparse"});
}

// The numbers are those of sklearn.metrics.cohen_kappa_score 1.9.1 too.
TEST_F(KerasMetrics, AgreementOfClasses) {
  for (const auto& [name, weighting] : {std::pair("kappa_none", KappaWeighting::kNone),
                                        std::pair("kappa_linear", KappaWeighting::kLinear),
                                        std::pair("kappa_quadratic", KappaWeighting::kQuadratic)}) {
    Expect(name, in_.classes, in_.scores,
           [weighting = weighting](const Batch& b, const MaybeWeights& weights) {
             return metrics::CohenKappa(b.labels, ArgMax(b.predictions, 1), 4,
                                        {.weights = weights, .weighting = weighting});
           });
  }
  Expect("confusion_matrix", in_.classes, in_.scores,
         [](const Batch& b, const MaybeWeights& weights) {
           return metrics::ConfusionMatrix(b.labels, ArgMax(b.predictions, 1), 4,
                                           {.weights = weights});
         });
}

TEST_F(KerasMetrics, CorrelationOfNumbers) {
  Expect(
      "pearson", Column(in_.logits, 0), Column(in_.scores, 1),
      [](const Batch& b, const MaybeWeights& weights) {
        return metrics::PearsonCorrelation(b.labels, b.predictions, {.weights = weights});
      },
      1e-9);
}

TEST_F(KerasMetrics, ALargeMeanCostsTheCorrelationNoDigits) {
  const Tensor x = Placeholder(DType::kFloat64, {2}), y = Placeholder(DType::kFloat64, {2});
  const Metric correlation = metrics::PearsonCorrelation(x, y);
  Stepper stepper(graph_);
  ExpectNear(stepper.Eval(correlation.value), {0});  // of nothing
  constexpr double kFar = 1e9;
  const auto pair = [](double a, double b) { return Array::Of<double>({2}, {a + kFar, b + kFar}); };
  stepper.Run(correlation.update, {{x, pair(1, 2)}, {y, pair(2, 1)}});
  stepper.Run(correlation.update, {{x, pair(3, 4)}, {y, pair(4, 3)}});
  ExpectNear(stepper.Eval(correlation.value), {0.6}, 1e-9);  // numpy.corrcoef
}

// Numbers of rouge_score 0.1.2, and of compute_bleu of tensorflow/nmt; those of the first three
// sentences are NLTK 3.10's too, which counts an n-gram of an empty sentence.
TEST_F(KerasMetrics, ScoresOfSentences) {
  const Array labels = Array::Of<int32_t>({4, 8}, {3, 4, 5, 6, 7, 8, 1, 0,  //
                                                   5, 6, 7, 9, 4, 3, 2, 8,  //
                                                   4, 4, 4, 9, 0, 0, 0, 0,  //
                                                   2, 0, 0, 0, 0, 0, 0, 0});
  const Array predictions = Array::Of<int32_t>({4, 9}, {3, 4, 5, 6, 8, 7, 0, 0, 0,  //
                                                        6, 7, 9, 4, 3, 2, 8, 8, 5,  //
                                                        4, 4, 9, 4, 0, 7, 7, 0, 0,  //
                                                        0, 2, 2, 2, 2, 2, 2, 2, 2});
  const Tensor l = Placeholder(DType::kInt32, {4, 8}), p = Placeholder(DType::kInt32, {4, 9});
  const auto value = [&](const Metric& metric, int64_t rows) {
    return metric.host->fn({labels.Slice(0, rows), predictions.Slice(0, rows)})
        .value()
        .array.scalar<double>();
  };
  EXPECT_NEAR(value(metrics::Bleu(l, p), 4), 0.634774478137318, 1e-12);
  EXPECT_NEAR(value(metrics::Bleu(l, p, {.max_order = 2}), 4), 0.7656639490585833, 1e-12);
  EXPECT_NEAR(value(metrics::Bleu(l, p, {.smooth = true}), 4), 0.6606548657370528, 1e-12);
  EXPECT_NEAR(value(metrics::Bleu(l, p), 3), 0.6690784797014215, 1e-12);
  EXPECT_NEAR(value(metrics::RougeN(l, p, 1), 4), 0.7160633484162896, 1e-12);
  EXPECT_NEAR(value(metrics::RougeN(l, p, 2), 4), 0.5030303030303029, 1e-12);
  EXPECT_NEAR(value(metrics::RougeL(l, p), 4), 0.5856900452488688, 1e-12);
  EXPECT_EQ(value(metrics::Bleu(l, p), 0), 0);
}

TEST_F(KerasMetrics, SentencesAreTokens) {
  metrics::Bleu(Constant(in_.scores), Constant(in_.scores));
  ExpectError(graph_, {"bleu: labels are f32 [12,4]", "both must be tokens"});
}

TEST_F(KerasMetrics, AMetricOnTheHostNeedsExamples) {
  metrics::OnHost([](const std::vector<Array>&) { return 0.0; },
                  {Constant(1.0f, "number"), Tensor()});
  ExpectError(graph_, {"metric on the host: tensor 0 ('number:0') is a scalar",
                       "tensor 1 is not a tensor"});
}

}  // namespace
}  // namespace estimator
