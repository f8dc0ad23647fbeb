// Recurrent layers over all time steps at once, and their gradients. nn/rnn/cells.h has the
// formulas. DynamicRnn uses these ops where a cell is one of them.
//
//   BlockLSTM, as in TF 2.15, without clipping and peepholes:
//     seq_len_max i64 []; x [T, N, C]; cs_prev, h_prev [N, U]; w [C + U, 4 U]; wci, wcf, wco [U],
//     which are not read; b [4 U]; attributes forget_bias, cell_clip (at most 0: none) and
//     use_peephole (false)
//     -> i, cs, f, o, ci, co, h, each [T, N, U]: 0 from time step seq_len_max on
//     w and b have the columns of i, ci, f and o, in this order.
//   BlockLSTMGrad: the inputs and outputs of BlockLSTM, cs_grad, h_grad -> the gradients of x,
//     cs_prev, h_prev, w, wci, wcf, wco and b. The other outputs pass on no gradient, as in
//     TensorFlow.
//   _BlockGRU: x [T, N, C]; h_prev [N, U]; w_ru [C + U, 2 U]; w_c [C + U, U]; b_ru [2 U]; b_c [U]
//     -> r, u, c, h, each [T, N, U]. w_ru and b_ru have the columns of r and u.
//     TensorFlow has GRUBlockCell, which is one time step of it.
//   _BlockGRUGrad: the inputs and outputs of _BlockGRU, h_grad -> the gradients of the inputs. Only
//     h passes on a gradient.
#ifndef ESTIMATOR_OPS_RECURRENT_H_
#define ESTIMATOR_OPS_RECURRENT_H_

#include "absl/strings/string_view.h"
#include "estimator/array/attrs.h"
#include "estimator/base/string_arg.h"
#include "estimator/graph/tensor.h"

namespace estimator {

struct BlockLSTMResult {
  Tensor cs;  // [T, N, U], the memory after each time step
  Tensor h;   // [T, N, U], the output of each time step
};

// All time steps of an LSTM.
//   x: floating [T, N, C].  cs_prev, h_prev: [N, U].  w: [C + U, 4 U].  b: [4 U].
//   forget_bias: is added to the forget gate.
// Errors (kept by the graph): INVALID_ARGUMENT if dtypes differ or shapes do not fit.
// Source: TF 2.15 tf.raw_ops.BlockLSTM.
BlockLSTMResult BlockLSTM(const Tensor& x, const Tensor& cs_prev, const Tensor& h_prev,
                          const Tensor& w, const Tensor& b, float forget_bias = 1,
                          StringArg name = "BlockLSTM");

// All time steps of a GRU. Returns h, [T, N, U].
//   x: floating [T, N, C].  h_prev: [N, U].  w_ru: [C + U, 2 U].  w_c: [C + U, U].
//   b_ru: [2 U].  b_c: [U].
// Errors (kept by the graph): as those of BlockLSTM.
// Source: TF 2.15 tf.raw_ops.GRUBlockCell, run over the time steps.
Tensor BlockGRU(const Tensor& x, const Tensor& h_prev, const Tensor& w_ru, const Tensor& w_c,
                const Tensor& b_ru, const Tensor& b_c, StringArg name = "BlockGRU");

// The outputs of one of the ops above, computed by plain ops for each time step: the form for a
// target that lacks the op. They are added to the graph of `inputs`.
//   op: BlockLSTM, BlockLSTMGrad, _BlockGRU or _BlockGRUGrad.  REQUIRES: it is, and its shape rule
//   accepts the inputs.
Tensors UnrollRecurrent(absl::string_view op, const Attrs& attrs, const Tensors& inputs);

}  // namespace estimator

#endif  // ESTIMATOR_OPS_RECURRENT_H_
