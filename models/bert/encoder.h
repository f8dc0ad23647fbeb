// A transformer encoder with a classifier on its first token: the network of BERT with sizes that a
// CPU trains in a second a step. encoder_benchmark.cc measures it.
#ifndef MODELS_BERT_ENCODER_H_
#define MODELS_BERT_ENCODER_H_

#include <cstdint>

#include "tpu/tpu_estimator.h"

namespace estimator::bert {

struct EncoderParams : tpu::Params {
  int64_t vocab_size = 8000;
  int64_t hidden_size = 256;
  int64_t num_layers = 4;
  int64_t num_heads = 4;
  int64_t intermediate_size = 1024;
  int64_t sequence_length = 128;
  double dropout_rate = 0.1;
  double learning_rate = 1e-4;  // falls linearly to 0 over 10,000 steps
  // The dtype of the products and activations: kFloat32 or kBfloat16. Variables, statistics and the
  // loss are float32.
  DType compute_dtype = DType::kFloat32;
};

// Builds the network, its loss and, in training, AdamW with the gradients' global norm clipped to
// 1.
//   features: ids and mask, i32 [N, sequence_length]. labels: i32 [N], 0 or 1.
//   Each layer is the post-norm layer of BERT: attention, then an intermediate layer with GELU
//   (tanh form); dropout of the probabilities and of the outputs of both halves.
//   PREDICT: probabilities, f32 [N, 2].
tpu::TPUEstimatorSpec EncoderModelFn(const Features& features, const Labels& labels, Mode mode,
                                     const EncoderParams& params);

}  // namespace estimator::bert

#endif  // MODELS_BERT_ENCODER_H_
