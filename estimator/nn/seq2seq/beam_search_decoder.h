// BeamSearchDecoder: keeps the `beam_width` best sequences of each example.
//
//   const Tensor memory = seq2seq::TileBatch(encoder_outputs, kBeams);
//   const seq2seq::BeamSearchDecoder decoder(
//       cell, table, start_tokens, kEnd, seq2seq::TileBatch(encoder_state, kBeams),
//       {.beam_width = kBeams, .output_layer = projection, .length_penalty_weight = 0.6});
//   const auto [outputs, state, lengths] =
//       seq2seq::DynamicDecode(decoder, {.maximum_iterations = 50});
//   ... outputs.predicted_ids ...  // [N, T, B], the best one first
#ifndef ESTIMATOR_NN_SEQ2SEQ_BEAM_SEARCH_DECODER_H_
#define ESTIMATOR_NN_SEQ2SEQ_BEAM_SEARCH_DECODER_H_

#include <cstdint>

#include "estimator/graph/tensor.h"
#include "estimator/nn/rnn/cell.h"
#include "estimator/nn/seq2seq/decoder.h"
#include "estimator/nn/seq2seq/helper.h"

namespace estimator::seq2seq {

// Repeats each example: [N, ...] -> [N * multiplier, ...], with copies of one example side by side.
// Source: TF 1.15 tf.contrib.seq2seq.tile_batch.
Tensor TileBatch(const Tensor& x, int64_t multiplier);
rnn_cell::State TileBatch(const rnn_cell::State& state, int64_t multiplier);

// The tokens of each beam, from its last time step back to the first one.
//   step_ids, parent_ids: i32 [T, N, B]: the token, and the beam of the step before that it
//     extends.
//   max_sequence_lengths: i32 [N]: how many time steps count.
//   Returns i32 [T, N, B], with end_token after the first end_token of a beam and after the length.
// Source: TF 1.15 tf.contrib.seq2seq.gather_tree.
Tensor GatherTree(const Tensor& step_ids, const Tensor& parent_ids,
                  const Tensor& max_sequence_lengths, int64_t end_token);

// The state of a BeamSearchDecoder by its parts.
// Source: TF 1.15 tf.contrib.seq2seq.BeamSearchDecoderState.
struct BeamSearchDecoderState {
  explicit BeamSearchDecoderState(const rnn_cell::State& state)
      : BeamSearchDecoderState(state[0], state[1], state[2], state[3]) {}
  BeamSearchDecoderState(rnn_cell::State cell_state, const Tensor& log_probs,
                         const Tensor& finished, const Tensor& lengths)
      : cell_state(std::move(cell_state)),
        log_probs(log_probs),
        finished(finished),
        lengths(lengths) {}
  operator rnn_cell::State() const;  // NOLINT: it is one

  rnn_cell::State cell_state;  // [N * B, ...]; TensorFlow's is [N, B, ...]
  Tensor log_probs;            // of the beams, [N, B]
  Tensor finished;             // bool [N, B]
  Tensor lengths;              // i32 [N, B]: the end token counts
};

struct BeamSearchDecoderOptions {
  int64_t beam_width = 0;                            // required
  BasicDecoder::OutputLayer output_layer = nullptr;  // none: the output of the cell has the logits
  // A beam's score is its log probability / ((5 + length) / 6)^length_penalty_weight. 0: none.
  double length_penalty_weight = 0;
};

// Source: TF 1.15 tf.contrib.seq2seq.BeamSearchDecoderOutput, FinalBeamSearchDecoderOutput.
struct BeamSearchDecoderOutput {
  Tensor scores;         // [N, T, B]
  Tensor predicted_ids;  // i32 [N, T, B]: the token of each time step
  Tensor parent_ids;     // i32 [N, T, B]: the beam that it extends
};
struct FinalBeamSearchDecoderOutput {
  Tensor predicted_ids;  // i32 [N, T, B]: the sequences, the best one first
  BeamSearchDecoderOutput beam_search_decoder_output;
};

// In each time step, the best beam_width of all continuations of the beams of an example. A beam
// that is over stays as it is and competes with the others.
//   embedding: gives [..., C].  start_tokens: i32 [N].
//   initial_state: for N * beam_width examples, as TileBatch gives it. The memory of an
//     AttentionWrapper is tiled too.
// Errors (kept by the graph): INVALID_ARGUMENT if beam_width is not positive, if start_tokens is
// not i32 [N], or if the state has another batch than N * beam_width.
// Source: TF 1.15 tf.contrib.seq2seq.BeamSearchDecoder, without coverage_penalty_weight.
class BeamSearchDecoder : public Decoder {
 public:
  BeamSearchDecoder(rnn_cell::Cell cell, EmbeddingFn embedding, const Tensor& start_tokens,
                    int64_t end_token, rnn_cell::State initial_state,
                    BeamSearchDecoderOptions options);
  DecoderStart Initialize() const override;
  DecoderStep Step(const Tensor& time, const Tensor& inputs,
                   const rnn_cell::State& state) const override;
  Tensor Lengths(const rnn_cell::State& state) const override {
    return BeamSearchDecoderState(state).lengths;
  }
  Tensors Finalize(const Tensors& outputs, const rnn_cell::State& state) const override;

 private:
  Tensor Embed(const Tensor& ids) const;

  rnn_cell::Cell cell_;
  EmbeddingFn embedding_;
  Tensor start_tokens_;
  int64_t end_token_;
  rnn_cell::State initial_state_;
  BeamSearchDecoderOptions options_;
};
// sequence_lengths are [N, B].
DynamicDecodeResult<FinalBeamSearchDecoderOutput> DynamicDecode(
    const BeamSearchDecoder& decoder, const DynamicDecodeOptions& options = {});

}  // namespace estimator::seq2seq

#endif  // ESTIMATOR_NN_SEQ2SEQ_BEAM_SEARCH_DECODER_H_
