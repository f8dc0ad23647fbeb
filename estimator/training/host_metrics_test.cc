// metrics::OnHost: a function of all examples, whatever the batches.
#include <map>
#include <string>
#include <vector>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/nn/metrics/mean.h"
#include "estimator/ops/constant.h"
#include "estimator/training/early_stopping.h"
#include "estimator/training/metrics/gathered_metrics.h"
#include "estimator/training/testing/tiny_model.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

// Depends on every row, and on their order.
double Checksum(const std::vector<Array>& all) {
  double sum = 0;
  for (int64_t i = 0; i < all[0].num_elements(); ++i)
    sum += static_cast<double>(i + 1) * all[0].AsDouble(i);
  return sum;
}

class HostMetricsTest : public ::testing::Test {
 protected:
  // An estimator whose evaluation has this metric of labels and predictions, beside one of a graph.
  Estimator<TinyParams> Evaluating(const std::string& name, const metrics::HostValueFn& fn) {
    auto options = TinyOptions(dir_.File("m"));
    options.model_fn = [name, fn](const Features& features, const Labels& labels, Mode mode,
                                  const TinyParams& params) {
      if (mode != Mode::kEval) return TinyModel(features, labels, mode, params);
      const Tensor y = TinyNetwork(features, false, 0);
      return EstimatorSpec::Eval(TinyLoss(labels, y),
                                 {{name, metrics::OnHost(fn, {labels, y})},
                                  {"mae", metrics::MeanAbsoluteError(labels, y)},
                                  {"rows", metrics::Concat(labels)}});
    };
    return Estimator<TinyParams>(options);
  }
  TempDir dir_;
};

TEST_F(HostMetricsTest, TheFunctionGetsEveryExampleOnceInOrderForEveryBatchSize) {
  Estimator<TinyParams> estimator = Evaluating("checksum", Checksum);
  EST_ASSERT_OK(
      estimator.Train([](const TinyParams&) { return TinyDataset(4).Repeat(); }, Steps(2)));
  const Array labels = TinyExamples().labels.at("");
  for (const int64_t batch_size : {20, 1, 3, 7}) {
    SCOPED_TRACE(batch_size);
    const auto result =
        estimator.Evaluate([&](const TinyParams&) { return TinyDataset(batch_size); });
    EST_ASSERT_OK(result);
    EXPECT_DOUBLE_EQ((*result)["checksum"], Checksum({labels}));
    const Array rows = result->values.at("rows");
    ASSERT_EQ(rows.TypeString(), labels.TypeString());
    for (int64_t i = 0; i < rows.num_elements(); ++i)
      EXPECT_EQ(rows.AsDouble(i), labels.AsDouble(i));
    EXPECT_GT((*result)["mae"], 0);
  }
  // Early stopping reads it from the event files.
  const auto read = ReadEvalMetrics(estimator.EvalDir());
  EST_ASSERT_OK(read);
  EXPECT_EQ(read->at(2).at("checksum"), static_cast<float>(Checksum({labels})));
}

TEST_F(HostMetricsTest, AnErrorOfTheFunctionNamesTheMetric) {
  Estimator<TinyParams> estimator =
      Evaluating("bleu", [](const std::vector<Array>&) -> absl::StatusOr<metrics::HostValue> {
        return absl::OutOfRangeError("no sentences");
      });
  const auto result = estimator.Evaluate([](const TinyParams&) { return TinyDataset(4); });
  EXPECT_EQ(result.status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_THAT(result, ErrorHas("metric 'bleu': no sentences"));
}

TEST_F(HostMetricsTest, TheNameOfTheLossIsRefused) {
  Estimator<TinyParams> estimator = Evaluating("loss", Checksum);
  EXPECT_THAT(estimator.Evaluate([](const TinyParams&) { return TinyDataset(4); }),
              ErrorHas("a metric may not be called 'loss'"));
}

TEST(GatheredMetrics, BatchesThatDifferInAnotherAxisAreRefused) {
  Graph graph;
  const GraphScope scope(graph);
  const Tensor tokens = Placeholder(DType::kInt32, {2, 3});
  const metrics::MetricMap map = {{"tokens", metrics::Concat(tokens)}};
  GatheredMetrics gathered;
  gathered.Add({Array(DType::kInt32, {2, 3})});
  gathered.Add({Array(DType::kInt32, {1, 3})});
  std::map<std::string, Array> values;
  EST_ASSERT_OK(gathered.Compute(map, values));
  EXPECT_EQ(values.at("tokens").TypeString(), "i32 [3,3]");
  gathered.Add({Array(DType::kInt32, {2, 4})});
  EXPECT_THAT(gathered.Compute(map, values),
              ErrorHas("metric 'tokens': tensor 0 is i32 [2,3] in the first batch and i32 [2,4] in "
                       "a later one; only axis 0 may differ: pad it to one length"));
}

}  // namespace
}  // namespace estimator
