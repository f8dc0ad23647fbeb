// The gates of one time step of one example, forward and backward, in registers: each function
// reads and writes a row once.
//   Formulas: those of nn/rnn/cells.h. Internal to recurrent.
#ifndef ESTIMATOR_KERNELS_RECURRENT_GATES_H_
#define ESTIMATOR_KERNELS_RECURRENT_GATES_H_

#include <cstdint>

namespace estimator::recurrent {

// Rows of `units` numbers. F is float, or const float where they are read.
template <typename F>
struct LstmRows {
  F* i = nullptr;   // the input gate, Sigmoid
  F* cs = nullptr;  // the memory
  F* f = nullptr;   // the forget gate, Sigmoid
  F* o = nullptr;   // the output gate, Sigmoid
  F* ci = nullptr;  // the candidate, Tanh
  F* co = nullptr;  // Tanh(cs)
  F* h = nullptr;   // the output

  // The row of example `row` of tensors [rows, units].
  LstmRows At(int64_t row, int64_t units) const {
    const int64_t n = row * units;
    return {i + n, cs + n, f + n, o + n, ci + n, co + n, h + n};
  }
};

//   sums: [4 * units], x w + h w in the order i, ci, f, o.  bias: [4 * units].
void LstmGates(int64_t units, float forget_bias, const float* sums, const float* bias,
               const float* cs_prev, const LstmRows<float>& out);
// Backward.
//   h_grad, cs_grad: of this step's output and memory.  dh: what the next step adds to h_grad.
//   dcs: what the next step adds to cs_grad; becomes what this step adds to the one before.
//   sums_grad: [4 * units].  bias_grad: [4 * units], is added to.
void LstmGatesGrad(int64_t units, const LstmRows<const float>& rows, const float* cs_prev,
                   const float* h_grad, const float* cs_grad, const float* dh, float* dcs,
                   float* sums_grad, float* bias_grad);

// r and u of [2 * units] sums, and r h.
void GruGates(int64_t units, const float* sums, const float* bias, const float* h_prev, float* r,
              float* u, float* reset);
// c = Tanh(sums), h = u h_prev + (1 - u) c.
void GruOutput(int64_t units, const float* sums, const float* bias, const float* h_prev,
               const float* u, float* c, float* h);
// Backward, in the opposite order.
//   dh: what the next step adds to h_grad; becomes the part of it that h_prev gets by u.
//   u_sums_grad, c_sums_grad: [units].
void GruOutputGrad(int64_t units, const float* h_prev, const float* u, const float* c,
                   const float* h_grad, float* dh, float* u_sums_grad, float* c_sums_grad,
                   float* u_bias_grad, float* c_bias_grad);
//   reset_grad: of r h.  dh: the part that h_prev gets by r is added.
void GruGatesGrad(int64_t units, const float* h_prev, const float* r, const float* reset_grad,
                  float* dh, float* r_sums_grad, float* r_bias_grad);

}  // namespace estimator::recurrent

#endif  // ESTIMATOR_KERNELS_RECURRENT_GATES_H_
