// The model_fn of BERT's pretraining: masked words, and whether the second sentence follows the
// first one.
#ifndef MODELS_BERT_PRETRAINING_H_
#define MODELS_BERT_PRETRAINING_H_

#include <optional>
#include <string>

#include "models/bert/bert_config.h"
#include "models/bert/optimization.h"
#include "tpu/tpu_estimator.h"

namespace estimator::bert {

struct PretrainingParams : tpu::Params {
  BertConfig bert_config;
  std::string init_checkpoint;  // a checkpoint whose values variables start at; "": none
  OptimizerOptions optimizer;
  // As in modeling.h. None: use_tpu, as the original's programs pass it.
  std::optional<bool> use_one_hot_embeddings = std::nullopt;
};

// Builds the network with the heads of both tasks. P is the number of places for masked words.
//   features: input_ids, input_mask and segment_ids, i32 [N, S]; masked_lm_positions and
//     masked_lm_ids, i32 [N, P]; masked_lm_weights, f32 [N, P]: 0 for a place that is not used;
//     next_sentence_labels, i32 [N, 1]. labels: none.
//   Variables: those of modeling.h;
//     cls/predictions/transform/{dense/{kernel,bias},LayerNorm/{beta,gamma}},
//     cls/predictions/output_bias [vocab_size]; cls/seq_relationship/output_weights [2, H],
//     output_bias [2].
//   loss = sum(weights * masked_lm_losses) / (sum(weights) + 1e-5) + mean(next_sentence_losses)
//   EVAL: masked_lm_accuracy, masked_lm_loss, next_sentence_accuracy and next_sentence_loss.
// Errors (kept by the graph): UNIMPLEMENTED in PREDICT, as in the original.
// Source: google-research/bert run_pretraining.model_fn_builder.
tpu::TPUEstimatorSpec PretrainingModelFn(const Features& features, const Labels& labels, Mode mode,
                                         const PretrainingParams& params);

}  // namespace estimator::bert

#endif  // MODELS_BERT_PRETRAINING_H_
