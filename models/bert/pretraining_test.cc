// Pretraining in evaluation. tools/replay/cases compares its training with TensorFlow.
#include "models/bert/pretraining.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"

namespace estimator::bert {
namespace {

constexpr char kFolder[] = "testdata/reference/bert_pretraining/";

// The first batch of the reference run: six examples.
Element FirstBatch() {
  Element batch;
  for (const char* name : {"input_ids", "input_mask", "segment_ids", "masked_lm_positions",
                           "masked_lm_ids", "masked_lm_weights", "next_sentence_labels"}) {
    const auto all =
        LoadVariable(absl::StrCat(kFolder, "batches"), absl::StrCat("features/", name));
    EST_EXPECT_OK(all);
    batch.features[name] = all->Row(0);
  }
  return batch;
}

tpu::TPUEstimator<PretrainingParams> MakeEstimator(const std::string& model_dir, bool use_tpu) {
  tpu::RunConfig config;
  config.model_dir = model_dir;
  config.tpu_config.num_shards = 2;
  PretrainingParams params;
  params.bert_config = {.vocab_size = 40,
                        .hidden_size = 16,
                        .num_hidden_layers = 2,
                        .num_attention_heads = 2,
                        .intermediate_size = 24,
                        .max_position_embeddings = 16,
                        .type_vocab_size = 2};
  params.optimizer.num_train_steps = 25;
  return tpu::TPUEstimator<PretrainingParams>({.model_fn = PretrainingModelFn,
                                               .config = config,
                                               .params = params,
                                               .use_tpu = use_tpu,
                                               .train_batch_size = 6,
                                               .eval_batch_size = 6,
                                               .predict_batch_size = 6});
}

Dataset Examples(const PretrainingParams& params) {
  return Dataset::FromTensorSlices(FirstBatch()).Batch(params.batch_size);
}

// An evaluation has no dropout, and neither has the reference.
TEST(BertPretraining, TheLossesOfBothTasksAddUpToTensorFlowsLossOfTheFirstStep) {
  const auto losses = LoadVariable(absl::StrCat(kFolder, "results"), "loss");
  EST_ASSERT_OK(losses);
  const double expected = losses->AsDouble(0);
  for (const bool use_tpu : {false, true}) {
    const TempDir dir;
    auto estimator = MakeEstimator(dir.path(), use_tpu);
    const absl::StatusOr<EvalResult> result =
        estimator.Evaluate(Examples, {.checkpoint_path = absl::StrCat(kFolder, "initial")});
    EST_ASSERT_OK(result);
    EXPECT_EQ(result->num_examples, 6);
    const EvalResult& values = *result;
    EXPECT_NEAR(values["masked_lm_loss"] + values["next_sentence_loss"], expected, 1e-4 * expected);
    for (const char* name : {"masked_lm_accuracy", "next_sentence_accuracy"}) {
      EXPECT_GE(values[name], 0) << name;
      EXPECT_LE(values[name], 1) << name;
    }
    EXPECT_NEAR(values["next_sentence_accuracy"] * 6,
                std::round(values["next_sentence_accuracy"] * 6), 1e-5);
  }
}

TEST(BertPretraining, PredictsNothing) {
  const TempDir dir;
  auto estimator = MakeEstimator(dir.path(), false);
  const absl::Status status =
      estimator.Predict(Examples, {.checkpoint_path = absl::StrCat(kFolder, "initial")})
          .Next()
          .status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented) << status;
  EXPECT_THAT(status, ErrorHas("it predicts nothing"));
}

}  // namespace
}  // namespace estimator::bert
