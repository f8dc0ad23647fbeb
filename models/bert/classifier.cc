#include "models/bert/classifier.h"

#include "models/bert/modeling.h"

namespace estimator::bert {
namespace {

struct Output {
  Tensor logits, probabilities;   // f32 [N, num_labels]
  Tensor per_example_loss, loss;  // f32 [N] and []; invalid without labels
};

Output CreateModel(const Features& features, bool is_training, const Tensor& label_ids,
                   const ClassifierParams& params) {
  const BertConfig& config = params.bert_config;
  const BertModel model = BuildBertModel(config, is_training,
                                         {.input_ids = features["input_ids"],
                                          .input_mask = features["input_mask"],
                                          .token_type_ids = features["segment_ids"]},
                                         params.use_one_hot_embeddings.value_or(params.use_tpu));
  const Variable weights = GetVariable("output_weights", {params.num_labels, config.hidden_size},
                                       {.initializer = CreateInitializer(config)});
  const Variable bias =
      GetVariable("output_bias", {params.num_labels}, {.initializer = initializers::Zeros()});
  const VariableScope scope("loss");
  Output output;
  const Tensor pooled = layers::Dropout(
      model.pooled_output, {.rate = config.hidden_dropout_prob, .training = is_training});
  output.logits = OutputLayer(pooled, weights, bias);
  output.probabilities = Softmax(output.logits);
  if (!label_ids.valid()) return output;
  output.per_example_loss = SparseSoftmaxCrossEntropyWithLogits(label_ids, output.logits);
  output.loss = ReduceMean(output.per_example_loss);
  return output;
}

MetricMap EvalMetricFn(const Tensor& per_example_loss, const Tensor& label_ids,
                       const Tensor& logits, const Tensor& is_real_example) {
  const Tensor predictions = ArgMax(logits, 1, {.output_type = DType::kInt32});
  return {
      {"eval_accuracy", metrics::Accuracy(label_ids, predictions, {.weights = is_real_example})},
      {"eval_loss", metrics::Mean(per_example_loss, {.weights = is_real_example})}};
}

}  // namespace

tpu::TPUEstimatorSpec ClassifierModelFn(const Features& features, const Labels&, Mode mode,
                                        const ClassifierParams& params) {
  const Tensor label_ids = mode == Mode::kPredict ? Tensor() : features["label_ids"];
  const Output output = CreateModel(features, mode == Mode::kTrain, label_ids, params);
  InitFromBertCheckpoint(params.init_checkpoint);
  if (mode == Mode::kPredict) {
    return tpu::TPUEstimatorSpec::Predict({{"probabilities", output.probabilities}});
  }
  if (mode == Mode::kTrain) {
    return tpu::TPUEstimatorSpec::Train(output.loss,
                                        CreateOptimizer(output.loss, params.optimizer));
  }
  const Tensor is_real_example = features.has("is_real_example")
                                     ? Cast(features["is_real_example"], DType::kFloat32)
                                     : OnesLike(output.per_example_loss);
  return tpu::TPUEstimatorSpec::Eval(
      output.loss,
      {EvalMetricFn, {output.per_example_loss, label_ids, output.logits, is_real_example}});
}

ServingInputReceiverFn ClassifierServingInput(int64_t max_seq_length) {
  const TensorSpec ids{DType::kInt32, {-1, max_seq_length}};
  return BuildRawServingInputReceiverFn(
      {{"input_ids", ids}, {"input_mask", ids}, {"segment_ids", ids}});
}

}  // namespace estimator::bert
