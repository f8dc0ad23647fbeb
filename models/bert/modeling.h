// The BERT network (Devlin et al. 2018), with the variable names of google-research/bert, so that
// its checkpoints fit. H is hidden_size, I is intermediate_size:
//
//   bert/embeddings/word_embeddings [vocab_size, H], token_type_embeddings, position_embeddings,
//       LayerNorm/{beta,gamma}
//   bert/encoder/layer_0/attention/self/{query,key,value}/{kernel,bias}            [H, H]
//   bert/encoder/layer_0/attention/output/{dense/{kernel,bias},LayerNorm/{beta,gamma}}
//   bert/encoder/layer_0/intermediate/dense/{kernel,bias}                          [H, I]
//   bert/encoder/layer_0/output/{dense/{kernel,bias},LayerNorm/{beta,gamma}}       [I, H]
//   bert/pooler/dense/{kernel,bias}                                                [H, H]
#ifndef MODELS_BERT_MODELING_H_
#define MODELS_BERT_MODELING_H_

#include "absl/strings/string_view.h"
#include "estimator/estimator.h"
#include "models/bert/bert_config.h"

namespace estimator::bert {

// The input of the network: N sequences of S words.
struct BertInput {
  Tensor input_ids;       // i32 [N, S], in [0, vocab_size)
  Tensor input_mask;      // i32 [N, S]: 1 for a word, 0 for padding
  Tensor token_type_ids;  // i32 [N, S], in [0, type_vocab_size): the sentence of each word
};

struct BertModel {
  Tensor sequence_output;    // f32 [N, S, H]: the output of the last layer
  Tensor pooled_output;      // f32 [N, H]: a dense layer with tanh over the first word
  Variable embedding_table;  // f32 [vocab_size, H]
};

// Builds the network.
//   is_training: whether the dropout of `config` applies.
//   use_one_hot_embeddings: whether words are one-hot vectors that are multiplied with the table,
//     as the original does on a TPU, or looked up with Gather. The product takes N * S * vocab_size
//     floats. Both give the same output and gradients, but another global norm if a word occurs
//     twice: the gradient of a lookup is IndexedSlices, whose norm counts each slice.
// Errors (kept by the graph): INVALID_ARGUMENT if S is more than max_position_embeddings. The step
// fails for a looked-up word out of range, naming it. A one-hot word and a token type out of range
// add nothing, as in the original.
// Source: google-research/bert modeling.BertModel.
BertModel BuildBertModel(const BertConfig& config, bool is_training, const BertInput& input,
                         bool use_one_hot_embeddings = false);

// Parts that the heads of both tasks share.
Initializer CreateInitializer(const BertConfig& config);
Activation HiddenActivation(const BertConfig& config);
// x * transpose(weights) + bias.
//   x: f32 [N, H].  weights: [C, H].  bias: [C].  Returns f32 [N, C].
Tensor OutputLayer(const Tensor& x, const Variable& weights, const Variable& bias);

// Lets the variables that the checkpoint has start at its values. "" does nothing. Call it after
// the network is built. A checkpoint in the model's own folder takes precedence.
// Errors (kept by the graph): as train::GetAssignmentMapFromCheckpoint and
// train::InitFromCheckpoint.
void InitFromBertCheckpoint(absl::string_view init_checkpoint);

// Checks that a checkpoint is one of BERT, that is, that it has bert/embeddings/word_embeddings
// with vocab_size rows. "" is OK.
// Errors: NOT_FOUND or DATA_LOSS for the checkpoint; INVALID_ARGUMENT naming both shapes, or some
// variables that the checkpoint has instead.
absl::Status CheckBertCheckpoint(absl::string_view init_checkpoint, const BertConfig& config);

}  // namespace estimator::bert

#endif  // MODELS_BERT_MODELING_H_
