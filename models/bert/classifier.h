// The model_fn of BERT's classifier of sentences and of pairs of sentences.
#ifndef MODELS_BERT_CLASSIFIER_H_
#define MODELS_BERT_CLASSIFIER_H_

#include <cstdint>
#include <optional>
#include <string>

#include "models/bert/bert_config.h"
#include "models/bert/optimization.h"
#include "tpu/tpu_estimator.h"

namespace estimator::bert {

struct ClassifierParams : tpu::Params {
  BertConfig bert_config;
  int64_t num_labels = 2;
  std::string init_checkpoint;  // a checkpoint whose values variables start at; "": none
  OptimizerOptions optimizer;
  // As in modeling.h. None: use_tpu, as the original's programs pass it.
  std::optional<bool> use_one_hot_embeddings = std::nullopt;
};

// Builds the network with one output layer on its pooled output.
//   features: input_ids, input_mask and segment_ids, i32 [N, S]; in training and evaluation also
//     label_ids i32 [N], and optionally is_real_example i32 [N]. labels: none.
//   Variables: those of modeling.h, `output_weights` [num_labels, H] and `output_bias`.
//   TRAIN: the loss is the mean softmax cross entropy, the tensor `loss/Mean`.
//   EVAL: eval_accuracy and eval_loss, over the examples whose is_real_example is 1.
//   PREDICT: probabilities, f32 [N, num_labels].
// Where the original has a dropout of 0.1 before the output layer, this has hidden_dropout_prob.
// Errors of the step: a label outside [0, num_labels), naming its row.
// Source: google-research/bert run_classifier.model_fn_builder.
tpu::TPUEstimatorSpec ClassifierModelFn(const Features& features, const Labels& labels, Mode mode,
                                        const ClassifierParams& params);

// The input of an exported classifier: input_ids, input_mask and segment_ids, i32
// [N, max_seq_length].
ServingInputReceiverFn ClassifierServingInput(int64_t max_seq_length);

}  // namespace estimator::bert

#endif  // MODELS_BERT_CLASSIFIER_H_
