// Decoders: BasicDecoder runs a cell and a helper; DynamicDecode runs a decoder until all examples
// are over.
//
//   const seq2seq::BasicDecoder decoder(
//       cell, seq2seq::GreedyEmbeddingHelper(table, start_tokens, kEnd), cell.ZeroState(8),
//       [](const Tensor& x) { return layers::Dense(x, {.units = kVocabulary}); });
//   const auto [outputs, state, lengths] =
//       seq2seq::DynamicDecode(decoder, {.maximum_iterations = 50});
//   ... outputs.sample_id ...
#ifndef ESTIMATOR_NN_SEQ2SEQ_DECODER_H_
#define ESTIMATOR_NN_SEQ2SEQ_DECODER_H_

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "estimator/graph/tensor.h"
#include "estimator/nn/rnn/cell.h"
#include "estimator/nn/seq2seq/helper.h"

namespace estimator::seq2seq {

struct DecoderStart {
  Tensor finished;  // bool [N]
  Tensor inputs;    // of the first time step, [N, ...]
  rnn_cell::State state;
};
struct DecoderStep {
  Tensors outputs;  // [N, ...] each
  rnn_cell::State state;
  Tensor inputs;    // of the next time step
  Tensor finished;  // before the next time step
};

// Source: TF 1.15 tf.contrib.seq2seq.Decoder.
class Decoder {
 public:
  virtual ~Decoder() = default;
  virtual DecoderStart Initialize() const = 0;
  // One time step, in the body of the loop. It may create variables.
  //   time: i32 [].
  virtual DecoderStep Step(const Tensor& time, const Tensor& inputs,
                           const rnn_cell::State& state) const = 0;
  // The largest number of time steps, if the decoder knows it.
  virtual std::optional<int64_t> num_steps() const { return std::nullopt; }
  // The lengths that the decoder counts itself, i32, if an example that is over can continue, as a
  // beam can. Invalid: DynamicDecode counts, and an example that is over stays over.
  virtual Tensor Lengths(const rnn_cell::State&) const { return {}; }
  // From the outputs [T, N, ...] to the final ones, [T, N, ...] as well.
  virtual Tensors Finalize(const Tensors& outputs, const rnn_cell::State&) const { return outputs; }
};

struct DynamicDecodeOptions {
  bool output_time_major = false;  // outputs are [T, N, ...]
  // After an example is over, its outputs are 0 and its state stays as it is.
  bool impute_finished = false;
  // T, the largest number of time steps and the size of the outputs, because shapes are static.
  // Required unless the helper knows the number: those of training do.
  std::optional<int64_t> maximum_iterations = std::nullopt;
  std::string scope = "";  // none: decoder, decoder_1, ...
};

template <typename Outputs>
struct DynamicDecodeResult {
  Outputs outputs;  // [N, T, ...], or [T, N, ...] if output_time_major
  rnn_cell::State state;
  Tensor sequence_lengths;  // i32 [N]: the end token counts
};

// Runs the decoder while an example is not over. Outputs of time steps that did not run are 0.
// Variables: `decoder/<those of the decoder's step>`.
// Errors (kept by the graph): INVALID_ARGUMENT without a number of time steps; those of WhileLoop.
// Source: TF 1.15 tf.contrib.seq2seq.dynamic_decode.
DynamicDecodeResult<Tensors> DynamicDecode(const Decoder& decoder,
                                           const DynamicDecodeOptions& options = {});

// Source: TF 1.15 tf.contrib.seq2seq.BasicDecoderOutput.
struct BasicDecoderOutput {
  Tensor rnn_output;  // [N, T, V]
  Tensor sample_id;   // i32 [N, T]
};

// Samples from the outputs of a cell. `helper` says how, and what the next inputs are.
//   output_layer: from the output of the cell to the logits; none: they are the same.
// Source: TF 1.15 tf.contrib.seq2seq.BasicDecoder.
class BasicDecoder : public Decoder {
 public:
  using OutputLayer = std::function<Tensor(const Tensor& cell_output)>;
  template <std::derived_from<Helper> H>
  BasicDecoder(rnn_cell::Cell cell, H helper, rnn_cell::State initial_state,
               OutputLayer output_layer = nullptr)
      : cell_(std::move(cell)),
        helper_(std::make_shared<const H>(std::move(helper))),
        initial_state_(std::move(initial_state)),
        output_layer_(std::move(output_layer)) {}
  DecoderStart Initialize() const override;
  DecoderStep Step(const Tensor& time, const Tensor& inputs,
                   const rnn_cell::State& state) const override;
  std::optional<int64_t> num_steps() const override { return helper_->num_steps(); }

 private:
  rnn_cell::Cell cell_;
  std::shared_ptr<const Helper> helper_;
  rnn_cell::State initial_state_;
  OutputLayer output_layer_;
};
DynamicDecodeResult<BasicDecoderOutput> DynamicDecode(const BasicDecoder& decoder,
                                                      const DynamicDecodeOptions& options = {});

}  // namespace estimator::seq2seq

#endif  // ESTIMATOR_NN_SEQ2SEQ_DECODER_H_
