// Recurrent networks: a cell (cells.h, wrappers.h) run over the time steps of a sequence.
//
//   const rnn_cell::BasicLSTMCell cell(128);
//   const auto [outputs, state] = DynamicRnn(cell, words, {.sequence_length = features["length"]});
//   const Tensor logits = layers::Dense(state.h(), {.units = 2});
//
// The dynamic functions use one op for all time steps (ops/recurrent.h) of LSTMCell, BasicLSTMCell,
// GRUCell, and MultiRNNCell of them: in f32, and without peepholes, clipping, projection or an
// activation of their own. Otherwise a few time steps are unrolled into the graph, and many are one
// loop. A batch has sequences of one padded length, and `sequence_length` says how much of each
// counts.
#ifndef ESTIMATOR_NN_RNN_RNN_H_
#define ESTIMATOR_NN_RNN_RNN_H_

#include <optional>
#include <string>
#include <vector>

#include "estimator/array/dtype.h"
#include "estimator/graph/tensor.h"
#include "estimator/nn/rnn/cell.h"
#include "estimator/nn/rnn/cells.h"
#include "estimator/nn/rnn/state.h"
#include "estimator/nn/rnn/wrappers.h"

namespace estimator {

struct DynamicRnnOptions {
  // Integer [N]: the number of time steps of each example that count. After them the output is 0
  // and the state stays as it is. None: all time steps count.
  Tensor sequence_length = {};
  std::optional<rnn_cell::State> initial_state = std::nullopt;  // none: cell.ZeroState
  DType dtype = DType::kInvalid;  // of cell.ZeroState; none: that of the inputs
  bool time_major = false;        // inputs and outputs are [T, N, ...]
  // true: unrolls the time steps of every cell, for gradients of gradients, which the op and loops
  // lack. false: never unrolls. None: unrolls up to 128 time steps of a cell without an op.
  std::optional<bool> unroll = std::nullopt;
  std::string scope = "";  // none: rnn
};

struct DynamicRnnResult {
  Tensor outputs;         // [N, T, output_size], or [T, N, output_size] if time_major
  rnn_cell::State state;  // after the last time step that counts
};

// Runs `cell` over the time steps of `inputs`. Variables: `rnn/<those of the cell>`.
//   inputs: [N, T, C], floating.
// Errors (kept by the graph): INVALID_ARGUMENT if inputs have a rank below 3 or no time steps, if
// sequence_length is not [N], or if the cell changes the types of its state.
// Source: TF 2.15 tf.compat.v1.nn.dynamic_rnn.
DynamicRnnResult DynamicRnn(const rnn_cell::Cell& cell, const Tensor& inputs,
                            const DynamicRnnOptions& options = {});

struct BidirectionalDynamicRnnOptions {
  Tensor sequence_length = {};  // as that of DynamicRnn
  std::optional<rnn_cell::State> initial_state_fw = std::nullopt;
  std::optional<rnn_cell::State> initial_state_bw = std::nullopt;
  DType dtype = DType::kInvalid;
  bool time_major = false;
  std::optional<bool> unroll = std::nullopt;  // as that of DynamicRnn
  std::string scope = "";                     // none: bidirectional_rnn
};

struct BidirectionalDynamicRnnResult {
  std::vector<Tensor> outputs;          // forward and backward: Concat(outputs, 2) joins them
  std::vector<rnn_cell::State> states;  // forward and backward
};

// Runs `cell_fw` from the start and `cell_bw` from the end of each sequence. Both outputs are in
// the order of the inputs. Variables: `bidirectional_rnn/fw/...` and `bidirectional_rnn/bw/...`.
// Source: TF 2.15 tf.compat.v1.nn.bidirectional_dynamic_rnn.
BidirectionalDynamicRnnResult BidirectionalDynamicRnn(
    const rnn_cell::Cell& cell_fw, const rnn_cell::Cell& cell_bw, const Tensor& inputs,
    const BidirectionalDynamicRnnOptions& options = {});

struct StaticRnnOptions {
  std::optional<rnn_cell::State> initial_state = std::nullopt;  // none: cell.ZeroState
  DType dtype = DType::kInvalid;  // of cell.ZeroState; none: that of the inputs
  Tensor sequence_length = {};    // as that of DynamicRnn
  std::string scope = "";         // none: rnn
};

struct StaticRnnResult {
  std::vector<Tensor> outputs;  // of each time step, [N, output_size]
  rnn_cell::State state;
};

// The same for a list of time steps: StaticRnn(cell, Unstack(x, 1)).
//   inputs: each [N, C].
// Errors (kept by the graph): as those of DynamicRnn.
// Source: TF 2.15 tf.compat.v1.nn.static_rnn.
StaticRnnResult StaticRnn(const rnn_cell::Cell& cell, const std::vector<Tensor>& inputs,
                          const StaticRnnOptions& options = {});

struct StaticBidirectionalRnnOptions {
  std::optional<rnn_cell::State> initial_state_fw = std::nullopt;
  std::optional<rnn_cell::State> initial_state_bw = std::nullopt;
  DType dtype = DType::kInvalid;
  Tensor sequence_length = {};
  std::string scope = "";  // none: bidirectional_rnn
};

struct StaticBidirectionalRnnResult {
  std::vector<Tensor> outputs;  // of each time step, forward and backward joined: [N, fw + bw]
  rnn_cell::State state_fw;
  rnn_cell::State state_bw;
};

// Source: TF 2.15 tf.compat.v1.nn.static_bidirectional_rnn.
StaticBidirectionalRnnResult StaticBidirectionalRnn(
    const rnn_cell::Cell& cell_fw, const rnn_cell::Cell& cell_bw, const std::vector<Tensor>& inputs,
    const StaticBidirectionalRnnOptions& options = {});

}  // namespace estimator

#endif  // ESTIMATOR_NN_RNN_RNN_H_
