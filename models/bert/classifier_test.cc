// The classifier on replicas and on the CPU. tools/replay/cases compares it with TensorFlow.
#include "models/bert/classifier.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "estimator/base/exit_code.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/training/testing/loss_recorder.h"
#include "models/bert/classifier_data.h"

namespace estimator::bert {
namespace {

constexpr int64_t kLength = 12, kBatchSize = 4;
constexpr int kSteps = 8;

ClassifierParams Params(double dropout, double learning_rate = 2e-3) {
  ClassifierParams params;
  params.bert_config = {.vocab_size = 60,
                        .hidden_size = 16,
                        .num_hidden_layers = 2,
                        .num_attention_heads = 2,
                        .intermediate_size = 32,
                        .hidden_dropout_prob = dropout,
                        .attention_probs_dropout_prob = dropout,
                        .max_position_embeddings = 16,
                        .type_vocab_size = 2,
                        .initializer_range = 0.2};
  params.optimizer = {.learning_rate = learning_rate, .num_train_steps = 20, .num_warmup_steps = 2};
  return params;
}

// The losses of a run on this number of replicas, whose batch has the rows of the CPU's batch once
// for each replica. num_shards 0: use_tpu = false.
std::vector<double> Losses(int64_t num_shards, double dropout, double learning_rate = 2e-3) {
  const TempDir dir;
  const std::string path = dir.File("train.tf_record");
  EST_EXPECT_OK(WriteDrawnSentences(
      path, {.count = kBatchSize, .max_seq_length = kLength, .vocab_size = 60, .seed = 1}));
  tpu::RunConfig config;
  config.model_dir = dir.File("m");
  config.tf_random_seed = 1;
  config.save_summary_steps = config.log_step_count_steps = std::nullopt;
  config.tpu_config.iterations_per_loop = 1;
  const int64_t copies = num_shards > 0 ? num_shards : 1;
  config.tpu_config.num_shards = copies;
  tpu::TPUEstimator<ClassifierParams> estimator({.model_fn = ClassifierModelFn,
                                                 .config = config,
                                                 .params = Params(dropout, learning_rate),
                                                 .use_tpu = num_shards > 0,
                                                 .train_batch_size = kBatchSize * copies});
  const auto recorder = std::make_shared<LossRecorder>("loss/Mean:0");
  EST_EXPECT_OK(estimator.Train(
      [&](const ClassifierParams&) {
        const Dataset batches =
            ClassifierDataset({path}, kLength, Mode::kEval, kBatchSize).Repeat();
        return batches.Map([copies](const Element& batch) -> absl::StatusOr<Element> {
          Element result;
          for (const auto& [name, array] : batch.features) {
            result.features[name] = Concatenate(std::vector<Array>(copies, array));
          }
          return result;
        });
      },
      Steps(kSteps), {.hooks = {recorder}}));
  return recorder->losses;
}

TEST(BertClassifier, EightReplicasWithTheSameExamplesTakeTheStepsOfTheCpu) {
  const std::vector<double> cpu = Losses(0, 0);
  ASSERT_EQ(cpu.size(), static_cast<size_t>(kSteps));
  EXPECT_LT(cpu.back(), cpu.front() - 0.05) << "the steps change something";
  const std::vector<double> replicas = Losses(8, 0);
  ASSERT_EQ(replicas.size(), cpu.size());
  // The gradients are eight times as large, and the optimizer's epsilon does not scale with them:
  // the losses differ by 0.6 %.
  for (int i = 0; i < kSteps; ++i) EXPECT_NEAR(replicas[i], cpu[i], 0.02 * cpu[i]) << "step " << i;
}

TEST(BertClassifier, TheTpuCheckFindsNoViolation) {
  const TempDir dir;
  const std::string path = dir.File("train.tf_record");
  EST_EXPECT_OK(WriteDrawnSentences(
      path, {.count = 32, .max_seq_length = kLength, .vocab_size = 60, .seed = 1}));
  tpu::RunConfig config;
  config.model_dir = dir.File("m");
  config.tpu_config = {.iterations_per_loop = 50, .num_shards = 8};
  config.tpu_config.check = "rules";
  tpu::TPUEstimator<ClassifierParams> estimator({.model_fn = ClassifierModelFn,
                                                 .config = config,
                                                 .params = Params(0.1),
                                                 .train_batch_size = 16,
                                                 .eval_batch_size = 16,
                                                 .predict_batch_size = 16});
  testing::internal::CaptureStdout();
  const absl::Status status = estimator.Train(
      [&](const ClassifierParams& params) {
        return ClassifierDataset({path}, kLength, Mode::kTrain, params.batch_size);
      },
      MaxSteps(10));
  const std::string report = testing::internal::GetCapturedStdout();
  EXPECT_TRUE(IsFinishedEarly(status)) << status << "\n" << report;
  EXPECT_NE(report.find("train: checked with 2 rows on each of 8 cores"), std::string::npos)
      << report;
  EXPECT_NE(report.find("TPU check: 0 violations"), std::string::npos) << report;
}

TEST(BertClassifier, DropoutChangesTheLossOfTraining) {
  // All steps have the same examples, and with this rate the same weights.
  const std::vector<double> with = Losses(0, 0.3, /*learning_rate=*/0);
  const std::vector<double> without = Losses(0, 0, /*learning_rate=*/0);
  EXPECT_NE(with[0], with[1]);
  EXPECT_EQ(without[0], without[1]);
}

TEST(BertClassifier, TheExportedModelPredictsTheSameForAnyNumberOfExamples) {
  const TempDir dir;
  const std::string path = dir.File("examples.tf_record");
  EST_ASSERT_OK(WriteDrawnSentences(
      path, {.count = 13, .max_seq_length = kLength, .vocab_size = 60, .seed = 1}));
  tpu::RunConfig config;
  config.model_dir = dir.File("m");
  tpu::TPUEstimator<ClassifierParams> estimator({.model_fn = ClassifierModelFn,
                                                 .config = config,
                                                 .params = Params(0.1),
                                                 .use_tpu = false,
                                                 .train_batch_size = 8,
                                                 .predict_batch_size = 8});
  const auto input = [&](Mode mode) {
    return [&path, mode](const ClassifierParams& params) {
      return ClassifierDataset({path}, kLength, mode, params.batch_size);
    };
  };
  EST_ASSERT_OK(estimator.Train(input(Mode::kTrain), Steps(3)));
  const auto rows = estimator.Predict(input(Mode::kPredict)).All();
  EST_ASSERT_OK(rows);
  ASSERT_EQ(rows->size(), 13u);
  const auto exported =
      estimator.ExportSavedModel(dir.File("export"), ClassifierServingInput(kLength));
  EST_ASSERT_OK(exported);
  const auto predictor = LoadPredictor(*exported);
  EST_ASSERT_OK(predictor);
  for (const int64_t count : {13, 1}) {
    auto iterator = ClassifierDataset({path}, kLength, Mode::kPredict, count).MakeIterator();
    EST_ASSERT_OK(iterator);
    const absl::StatusOr<std::optional<Element>> batch = (*iterator)->Next();
    EST_ASSERT_OK(batch);
    ArrayMap inputs;
    for (const char* name : {"input_ids", "input_mask", "segment_ids"})
      inputs[name] = (*batch)->features.at(name);
    const absl::StatusOr<ArrayMap> outputs = (*predictor)->Predict(inputs);
    EST_ASSERT_OK(outputs);
    const Array& probabilities = outputs->at("probabilities");
    ASSERT_EQ(probabilities.shape(), Shape({count, 2}));
    for (int64_t i = 0; i < count; ++i) {
      const float expected = (*rows)[i].at("probabilities").values<float>()[0];
      EXPECT_NEAR(probabilities.values<float>()[2 * i], expected, 1e-6) << i;
    }
  }
}

}  // namespace
}  // namespace estimator::bert
