// The transformer in Predict. tools/replay/cases compares its training and its search with
// TensorFlow.
#include "models/transformer/transformer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"

namespace estimator::transformer {
namespace {

constexpr char kTraining[] = "testdata/reference/transformer/";
constexpr char kDecoding[] = "testdata/reference/transformer_decode/";

// The network of both cases.
TransformerParams TinyParams() {
  TransformerParams params;
  params.vocab_size = 14;
  params.hidden_size = 8;
  params.num_hidden_layers = 2;
  params.num_heads = 2;
  params.filter_size = 16;
  params.layer_postprocess_dropout = params.attention_dropout = params.relu_dropout = 0;
  params.learning_rate = 0.4;
  params.learning_rate_warmup_steps = 10;
  params.extra_decode_length = 4;
  params.beam_size = 3;
  return params;
}

Array Load(const std::string& checkpoint, const std::string& name) {
  const absl::StatusOr<Array> value = LoadVariable(checkpoint, name);
  EST_EXPECT_OK(value);
  return *value;
}

std::vector<double> Doubles(const Array& array) {
  std::vector<double> values;
  for (int64_t i = 0; i < array.num_elements(); ++i) values.push_back(array.AsDouble(i));
  return values;
}

// Our own training gives the network that TensorFlow's search has decoded with.
TEST(Transformer, PredictsTensorFlowsTokensAfterTwentySteps) {
  const Array inputs = Load(absl::StrCat(kTraining, "batches"), "features");
  const Array targets = Load(absl::StrCat(kTraining, "batches"), "labels");
  const int64_t num_batches = inputs.shape()[0];
  for (const bool use_tpu : {false, true}) {
    SCOPED_TRACE(use_tpu);
    const TempDir dir;
    tpu::RunConfig config;
    config.model_dir = dir.path();
    config.tpu_config.num_shards = 2;
    tpu::TPUEstimator<TransformerParams> translator(
        {.model_fn = TransformerModelFn,
         .config = config,
         .params = TinyParams(),
         .use_tpu = use_tpu,
         .train_batch_size = 6,
         .predict_batch_size = 6,
         .warm_start_from = absl::StrCat(kTraining, "initial")});
    EST_ASSERT_OK(translator.Train(
        [&](const TransformerParams&) {
          return Dataset::FromTensorSlices({.features = inputs, .labels = targets}).Repeat();
        },
        MaxSteps(20)));
    Predictions predictions = translator.Predict([&](const TransformerParams&) {
      return Dataset::FromTensorSlices({.features = inputs, .labels = {}});
    });
    const Array outputs = Load(absl::StrCat(kDecoding, "results"), "prediction/outputs");
    const Array scores = Load(absl::StrCat(kDecoding, "results"), "prediction/scores");
    for (int64_t batch = 0; batch < num_batches; ++batch) {
      for (int64_t n = 0; n < 6; ++n) {
        const auto row = predictions.Next();
        EST_ASSERT_OK(row);
        ASSERT_TRUE(row->has_value());
        EXPECT_EQ(Doubles((*row)->at("outputs")), Doubles(outputs.Row(batch).Row(n)));
        const double score = scores.Row(batch).AsDouble(n);
        EXPECT_NEAR((*row)->at("scores").AsDouble(), score, 1e-5 * (1 + std::abs(score)));
      }
    }
  }
}

}  // namespace
}  // namespace estimator::transformer
