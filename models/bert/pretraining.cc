#include "models/bert/pretraining.h"

#include "models/bert/modeling.h"

namespace estimator::bert {
namespace {

// The logits of a task and the cross entropy of each of its labels.
struct Task {
  Tensor labels;       // i32 [M]
  Tensor logits;       // f32 [M, C]
  Tensor losses;       // f32 [M]
  Tensor predictions;  // the argmax of each row, i32 [M]
};

Task MakeTask(const Tensor& labels, const Tensor& logits) {
  return {.labels = labels,
          .logits = logits,
          .losses = SparseSoftmaxCrossEntropyWithLogits(labels, logits),
          .predictions = ArgMax(logits, 1, {.output_type = DType::kInt32})};
}

// M = N * P. The output weights are the table of the words.
Task MaskedLm(const BertConfig& config, const BertModel& model, const Features& features) {
  const Tensor places =
      Gather(model.sequence_output, features["masked_lm_positions"], {.axis = 1, .batch_dims = 1});
  const VariableScope scope("cls/predictions");
  Tensor x = Reshape(places, {-1, config.hidden_size});
  {
    const VariableScope transform("transform");
    x = layers::Dense(x, {.units = config.hidden_size,
                          .activation = HiddenActivation(config),
                          .kernel_initializer = CreateInitializer(config)});
    x = layers::LayerNorm(x, {.begin_norm_axis = -1});
  }
  const Variable bias =
      GetVariable("output_bias", {config.vocab_size}, {.initializer = initializers::Zeros()});
  return MakeTask(Reshape(features["masked_lm_ids"], {-1}),
                  OutputLayer(x, model.embedding_table, bias));
}

Task NextSentence(const BertConfig& config, const BertModel& model, const Features& features) {
  const VariableScope scope("cls/seq_relationship");
  const Variable weights = GetVariable("output_weights", {2, config.hidden_size},
                                       {.initializer = CreateInitializer(config)});
  const Variable bias = GetVariable("output_bias", {2}, {.initializer = initializers::Zeros()});
  return MakeTask(Reshape(features["next_sentence_labels"], {-1}),
                  OutputLayer(model.pooled_output, weights, bias));
}

// The metrics of the masked words get all their tensors as [N, P], so that the batch is axis 0.
MetricMap PretrainingMetricFn(const Tensor& masked_lm_ids, const Tensor& masked_lm_predictions,
                              const Tensor& masked_lm_losses, const Tensor& masked_lm_weights,
                              const Tensor& next_sentence_labels,
                              const Tensor& next_sentence_predictions,
                              const Tensor& next_sentence_losses) {
  return {{"masked_lm_accuracy",
           metrics::Accuracy(masked_lm_ids, masked_lm_predictions, {.weights = masked_lm_weights})},
          {"masked_lm_loss", metrics::Mean(masked_lm_losses, {.weights = masked_lm_weights})},
          {"next_sentence_accuracy",
           metrics::Accuracy(next_sentence_labels, next_sentence_predictions)},
          {"next_sentence_loss", metrics::Mean(next_sentence_losses)}};
}

}  // namespace

tpu::TPUEstimatorSpec PretrainingModelFn(const Features& features, const Labels&, Mode mode,
                                         const PretrainingParams& params) {
  const BertConfig& config = params.bert_config;
  const BertModel model = BuildBertModel(config, mode == Mode::kTrain,
                                         {.input_ids = features["input_ids"],
                                          .input_mask = features["input_mask"],
                                          .token_type_ids = features["segment_ids"]},
                                         params.use_one_hot_embeddings.value_or(params.use_tpu));
  const Task masked_lm = MaskedLm(config, model, features);
  const Task next_sentence = NextSentence(config, model, features);
  InitFromBertCheckpoint(params.init_checkpoint);
  const Tensor weights = features["masked_lm_weights"];
  const Shape places = weights.shape();
  const Tensor masked_lm_losses = Reshape(masked_lm.losses, places);
  const Tensor loss = ReduceSum(weights * masked_lm_losses) / (ReduceSum(weights) + 1e-5f) +
                      ReduceMean(next_sentence.losses);
  if (mode == Mode::kTrain) {
    return tpu::TPUEstimatorSpec::Train(loss, CreateOptimizer(loss, params.optimizer));
  }
  if (mode == Mode::kEval) {
    return tpu::TPUEstimatorSpec::Eval(
        loss, {PretrainingMetricFn,
               {features["masked_lm_ids"], Reshape(masked_lm.predictions, places), masked_lm_losses,
                weights, next_sentence.labels, next_sentence.predictions, next_sentence.losses}});
  }
  Graph::Current().Fail(
      absl::UnimplementedError("pretraining can be trained and evaluated; it predicts nothing"));
  return tpu::TPUEstimatorSpec::Predict({});
}

}  // namespace estimator::bert
