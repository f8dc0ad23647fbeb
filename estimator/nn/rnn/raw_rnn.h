// RawRnn: a loop over a recurrent cell whose next input, state and end a function chooses at each
// time step.
//
//   const auto loop_fn = [&](const Tensor& time, const Tensor& cell_output,
//                            const rnn_cell::State& cell_state, const Tensors& loop_state) {
//     const bool is_first = !cell_output.valid();
//     return RawRnnNext{.elements_finished = GreaterEqual(time, lengths),
//                       .next_input = Gather(inputs, Minimum(time, num_steps - 1)),
//                       .next_cell_state = is_first ? cell.ZeroState(batch_size) : cell_state,
//                       .emit_output = {cell_output}};
//   };
//   const auto [emit_ta, state, loop_state] =
//       RawRnn(cell, loop_fn, {.maximum_iterations = num_steps});
//   ... emit_ta[0].Stack() ...
#ifndef ESTIMATOR_NN_RNN_RAW_RNN_H_
#define ESTIMATOR_NN_RNN_RAW_RNN_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "estimator/graph/tensor.h"
#include "estimator/nn/rnn/cell.h"
#include "estimator/nn/rnn/state.h"
#include "estimator/ops/tensor_array.h"

namespace estimator {

struct RawRnnNext {
  Tensor elements_finished;  // bool [N]: the examples that are over before the next time step
  Tensor next_input = {};    // [N, ...], of the next time step
  rnn_cell::State next_cell_state = {};  // before the next time step
  Tensors emit_output = {};      // [N, ...] each, of this time step; the first call has none
  Tensors next_loop_state = {};  // what the function wants to get back in the next call
};

// Is called before the first time step, with invalid tensors except for `time`, and after each one.
//   time: i32 []: the number of the next time step.
using RawRnnLoopFn =
    std::function<RawRnnNext(const Tensor& time, const Tensor& cell_output,
                             const rnn_cell::State& cell_state, const Tensors& loop_state)>;

struct RawRnnOptions {
  // The largest number of time steps and the size of the arrays, because shapes are static.
  // Required: TensorFlow's arrays grow.
  std::optional<int64_t> maximum_iterations = std::nullopt;
  std::string scope = "";  // none: rnn
};

struct RawRnnResult {
  // One for each tensor of emit_output: element t is that of time step t. It is 0 for examples that
  // were over, and for time steps that did not run.
  std::vector<TensorArray> emit_ta;
  rnn_cell::State state;  // of each example when it was over
  Tensors loop_state;     // of the last call
};

// Runs `cell` until all examples are over. Variables: `rnn/<those of the cell and of loop_fn>`.
// Errors (kept by the graph): INVALID_ARGUMENT without maximum_iterations, if elements_finished is
// not bool [N], or if the function changes the type of the input, of a state or of an output.
// Source: TF 2.15 tf.compat.v1.nn.raw_rnn.
RawRnnResult RawRnn(const rnn_cell::Cell& cell, const RawRnnLoopFn& loop_fn,
                    const RawRnnOptions& options = {});

}  // namespace estimator

#endif  // ESTIMATOR_NN_RNN_RAW_RNN_H_
