// AttentionWrapper: a recurrent cell that also looks at a memory in each time step.
#ifndef ESTIMATOR_NN_SEQ2SEQ_ATTENTION_WRAPPER_H_
#define ESTIMATOR_NN_SEQ2SEQ_ATTENTION_WRAPPER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "estimator/graph/tensor.h"
#include "estimator/nn/rnn/cell.h"
#include "estimator/nn/seq2seq/attention.h"

namespace estimator::seq2seq {

// The state of an AttentionWrapper by its parts:
//   const auto start = AttentionWrapperState(cell.ZeroState(8)).Clone(encoder_state);
//   AttentionWrapperState(final_state).alignments[0]
// Source: TF 1.15 tf.contrib.seq2seq.AttentionWrapperState.
struct AttentionWrapperState {
  explicit AttentionWrapperState(const rnn_cell::State& state);
  AttentionWrapperState(rnn_cell::State cell_state, const Tensor& attention, Tensors alignments)
      : cell_state(std::move(cell_state)),
        attention(attention),
        alignments(std::move(alignments)) {}
  // A tuple of the cell's state, the attention, and the alignments of each mechanism.
  operator rnn_cell::State() const;  // NOLINT: it is one
  // The same with another state of the cell, such as the last one of an encoder.
  // Errors (kept by the graph): INVALID_ARGUMENT if its structure, a type or a shape differs.
  AttentionWrapperState Clone(const rnn_cell::State& cell_state) const;

  rnn_cell::State cell_state;
  Tensor attention;    // what the last time step has found, [N, A]
  Tensors alignments;  // [N, M] of each mechanism
};

struct AttentionWrapperOptions {
  // The attention of each mechanism is [output of the cell, context] attention_layer/kernel, of
  // this size. 0: it is the context, the memory weighted by the alignments.
  int64_t attention_layer_size = 0;
  // The inputs of the cell. None: Concat({inputs, attention}, 1).
  std::function<Tensor(const Tensor& inputs, const Tensor& attention)> cell_input_fn = nullptr;
  // true: the output is the attention, as Luong's. false: that of the cell, as Bahdanau's.
  bool output_attention = true;
  std::string name = "";  // none: attention_wrapper, attention_wrapper_1, ...
};

// In each time step:
//   cell_output, cell_state <- cell(cell_input_fn(inputs, attention), cell_state)
//   alignments <- mechanism(cell_output);  context = sum_m alignments[n, m] memory[n, m]
//   attention <- the context, or a dense layer of Concat({cell_output, context}, 1)
// With several mechanisms, the attention is the concatenation of theirs.
//   State: AttentionWrapperState.  Output: the attention, or the output of the cell.
//   Variables: in `attention_wrapper`: those of the cell, those of the mechanisms, and
//              `attention_layer/kernel` [output_size + D, attention_layer_size].
// Errors (kept by the graph): those of the cell and of the mechanisms; INVALID_ARGUMENT if there is
// no mechanism, or if ZeroState gets another batch size than the memory has.
// Source: TF 1.15 tf.contrib.seq2seq.AttentionWrapper.
class AttentionWrapper : public rnn_cell::RNNCell {
 public:
  AttentionWrapper(rnn_cell::Cell cell, AttentionMechanism attention_mechanism,
                   AttentionWrapperOptions options = {})
      : AttentionWrapper(std::move(cell), std::vector{std::move(attention_mechanism)},
                         std::move(options)) {}
  AttentionWrapper(rnn_cell::Cell cell, std::vector<AttentionMechanism> attention_mechanisms,
                   AttentionWrapperOptions options = {});
  int64_t output_size() const override;
  rnn_cell::State ZeroState(int64_t batch_size, DType dtype = DType::kFloat32) const override;

 protected:
  rnn_cell::CellOutput Call(const Tensor& inputs, const rnn_cell::State& state) const override;

 private:
  int64_t attention_size() const;

  rnn_cell::Cell cell_;
  std::vector<AttentionMechanism> mechanisms_;
  AttentionWrapperOptions options_;
};

}  // namespace estimator::seq2seq

#endif  // ESTIMATOR_NN_SEQ2SEQ_ATTENTION_WRAPPER_H_
