#include "estimator/nn/seq2seq/attention_wrapper.h"

#include <utility>

#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/variable.h"
#include "estimator/nn/layers/dense.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/manipulation.h"
#include "estimator/ops/matmul.h"
#include "estimator/ops/shape_ops.h"

namespace estimator::seq2seq {

using rnn_cell::State;

AttentionWrapperState::AttentionWrapperState(const State& state)
    : cell_state(state[0]), attention(state[1]) {
  for (int i = 2; i < state.size(); ++i) alignments.push_back(state[i]);
}

AttentionWrapperState::operator State() const {
  std::vector<State> states = {cell_state, attention};
  states.insert(states.end(), alignments.begin(), alignments.end());
  return states;
}

AttentionWrapperState AttentionWrapperState::Clone(const State& other) const {
  AttentionWrapperState result = *this;
  result.cell_state = cell_state.Zip(other, [&](const Tensor& old_part, const Tensor& part) {
    if (!old_part.valid() || !part.valid() || old_part.spec() == part.spec()) return part;
    return part.graph()->Fail(InvalidArgument(
        "Clone: the cell of the wrapper has the state ", cell_state.ToString(), ", but gets ",
        other.ToString(), ". A beam search needs TileBatch(state, beam_width)"));
  });
  return result;
}

AttentionWrapper::AttentionWrapper(rnn_cell::Cell cell, std::vector<AttentionMechanism> mechanisms,
                                   AttentionWrapperOptions options)
    : RNNCell(options.name.empty() ? "attention_wrapper" : options.name),
      cell_(std::move(cell)),
      mechanisms_(std::move(mechanisms)),
      options_(std::move(options)) {}

int64_t AttentionWrapper::attention_size() const {
  int64_t size = 0;
  for (const AttentionMechanism& mechanism : mechanisms_)
    size += options_.attention_layer_size > 0 ? options_.attention_layer_size
                                              : mechanism->values().dim(-1);
  return size;
}

int64_t AttentionWrapper::output_size() const {
  return options_.output_attention ? attention_size() : cell_.output_size();
}

State AttentionWrapper::ZeroState(int64_t batch_size, DType dtype) const {
  const NameScope scope("AttentionWrapperZeroState");
  Tensors alignments;
  for (const AttentionMechanism& mechanism : mechanisms_) {
    alignments.push_back(mechanism->InitialAlignments());
    const Tensor& values = mechanism->values();
    if (!values.valid() || values.dim(0) == batch_size) continue;
    alignments.back() = values.graph()->Fail(InvalidArgument(
        "attention_wrapper: ZeroState is asked for a batch of ", batch_size, ", but the memory is ",
        values.spec().ToString(),
        "; a beam search needs the memory TileBatch(memory, beam_width), and a batch of batch "
        "size * beam_width"));
  }
  return AttentionWrapperState(cell_.ZeroState(batch_size, dtype),
                               Zeros({batch_size, attention_size()}, dtype), std::move(alignments));
}

rnn_cell::CellOutput AttentionWrapper::Call(const Tensor& inputs, const State& state) const {
  const AttentionWrapperState now(state);
  if (mechanisms_.empty() || now.alignments.size() != mechanisms_.size()) {
    const Tensor invalid = GraphFor({inputs}).Fail(InvalidArgument(
        "attention_wrapper: a state with alignments of ", now.alignments.size(),
        " attention mechanisms for a cell with ", mechanisms_.size(),
        "; the cell needs at least one mechanism, and a state like that of ZeroState"));
    return {invalid, state};
  }
  const Tensor cell_inputs = options_.cell_input_fn ? options_.cell_input_fn(inputs, now.attention)
                                                    : Concat({inputs, now.attention}, 1);
  auto [cell_output, cell_state] = cell_(cell_inputs, now.cell_state);
  Tensors attentions, alignments;
  for (size_t i = 0; i < mechanisms_.size(); ++i) {
    const BaseAttention& mechanism = *mechanisms_[i];
    alignments.push_back(mechanism(cell_output, now.alignments[i]));
    const Tensor context =
        Squeeze(MatMul(ExpandDims(alignments.back(), 1), mechanism.values()), {1}, "context");
    attentions.push_back(
        options_.attention_layer_size == 0
            ? context
            : layers::Dense(Concat({cell_output, context}, 1),
                            {.units = options_.attention_layer_size,
                             .use_bias = false,
                             .name = VariableScope::UniqueDefaultName("attention_layer")}));
  }
  const Tensor attention = attentions.size() == 1 ? attentions[0] : Concat(attentions, 1);
  return {options_.output_attention ? attention : cell_output,
          AttentionWrapperState(cell_state, attention, std::move(alignments))};
}

}  // namespace estimator::seq2seq
