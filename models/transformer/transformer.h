// The official transformer of TensorFlow 1: an encoder, and a decoder that attends to it, for
// translation. Decoding keeps the keys and values of earlier positions in a cache.
//
//   tpu::TPUEstimator<TransformerParams> estimator({.model_fn = TransformerModelFn, ...});
//
// Names and shapes of the variables are the original's, so its checkpoints fit.
// Source: official/transformer of tensorflow/models r1.13; Vaswani et al. 2017.
#ifndef MODELS_TRANSFORMER_TRANSFORMER_H_
#define MODELS_TRANSFORMER_TRANSFORMER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tpu/tpu_estimator.h"

namespace estimator::transformer {

// Token 0 is padding and begins a decoded sequence; token 1 ends a sequence.
inline constexpr int64_t kPadding = 0, kEnd = 1;

// The defaults are the original's "base" parameters.
struct TransformerParams : tpu::Params {
  int64_t vocab_size = 33708;
  int64_t hidden_size = 512;  // even, and a multiple of num_heads
  int64_t num_hidden_layers = 6;
  int64_t num_heads = 8;
  int64_t filter_size = 2048;
  // Rates of dropout in training.
  double layer_postprocess_dropout = 0.1;
  double attention_dropout = 0.1;
  double relu_dropout = 0.1;
  double label_smoothing = 0.1;
  // The rate rises linearly for learning_rate_warmup_steps, and falls with 1 / sqrt(step) then.
  double learning_rate = 2;
  int64_t learning_rate_warmup_steps = 16000;
  double optimizer_adam_beta1 = 0.9;
  double optimizer_adam_beta2 = 0.997;
  double optimizer_adam_epsilon = 1e-9;
  // Decoded sequences have up to input length + extra_decode_length tokens.
  int64_t extra_decode_length = 50;
  int64_t beam_size = 4;
  double alpha = 0.6;  // how much longer sequences are preferred
};

// What the decoder reads of the inputs [N, S].
struct EncoderMemory {
  Tensors keys, values;  // of each layer of the decoder, f32 [N, S, hidden_size]
  Tensor bias;           // f32 [N, 1, 1, S]: 0 for a token, -1e9 for padding
};

// The network in the current graph. All calls of all objects share the variables, which are below
// `model/Transformer/`.
class Transformer {
 public:
  //   is_training: with dropout.
  Transformer(const TransformerParams& params, bool is_training)
      : params_(params), is_training_(is_training) {}

  //   inputs: i32 [N, S], padded with 0.
  EncoderMemory Encode(const Tensor& inputs) const;
  // The logits f32 [N, T, vocab_size] of each target, given the targets before it.
  //   targets: i32 [N, T].
  Tensor Logits(const Tensor& targets, const EncoderMemory& memory) const;

  // For decoding: no earlier positions. f32 [batch_size, max_decode_length, hidden_size] each.
  seq2seq::BeamCache InitialCache(int64_t batch_size, int64_t max_decode_length) const;
  // The logits f32 [M, vocab_size] after token `ids` [M, 1] at position `i`, and the cache with
  // that position.
  seq2seq::SymbolsToLogits NextLogits(const Tensor& ids, const Tensor& i, seq2seq::BeamCache cache,
                                      const EncoderMemory& memory) const;

 private:
  // Inside, activations are rows: [N * S, hidden_size].
  // The keys and values that a layer's self attention reads, from those of its own input.
  using Remember = std::function<std::pair<Tensor, Tensor>(int64_t layer, const Tensor& keys,
                                                           const Tensor& values)>;

  VariableScope Scope() const;
  Tensor Embeddings() const;
  Tensor Embed(const Tensor& ids) const;
  Tensor Dropout(const Tensor& x, double rate) const;
  Tensor Project(const Tensor& x, const std::string& name) const;
  Tensor Attend(const Tensor& query, const Tensor& keys, const Tensor& values, const Tensor& bias,
                int64_t batch_size) const;
  Tensor FeedForward(const Tensor& x) const;
  Tensor Residual(const Tensor& x, const std::string& name,
                  const std::function<Tensor(const Tensor&)>& layer) const;
  Tensor DecoderStack(Tensor x, const Tensor& bias, const EncoderMemory& memory,
                      const Remember& remember) const;

  const TransformerParams& params_;
  const bool is_training_;
};

// features: i32 [N, S]. labels: i32 [N, T]. Both are padded with 0, and sequences end with 1.
//   loss: the cross entropy of smoothed targets less the least possible one, the mean over all
//     targets that are not padding.
//   PREDICT: outputs, i32 [N, S + extra_decode_length], and scores, f32 [N]: the best sequence of a
//     beam search.
tpu::TPUEstimatorSpec TransformerModelFn(const Features& features, const Tensor& labels, Mode mode,
                                         const TransformerParams& params);

}  // namespace estimator::transformer

#endif  // MODELS_TRANSFORMER_TRANSFORMER_H_
