// The cells of tf.compat.v1.nn.rnn_cell: BasicRNNCell, GRUCell, BasicLSTMCell and LSTMCell.
//
// In the formulas, [x, h] is Concat({inputs, h}, 1), * between vectors is element by element, and
// `act` is the activation, Tanh by default. All take inputs [N, C], floating. Weights are f32 if
// the inputs are 16-bit floats.
// Errors (kept by the graph): INVALID_ARGUMENT if inputs are not [N, C], if num_units is not
// positive, or if a state does not fit.
#ifndef ESTIMATOR_NN_RNN_CELLS_H_
#define ESTIMATOR_NN_RNN_CELLS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "estimator/graph/variable.h"
#include "estimator/nn/activation.h"
#include "estimator/nn/rnn/cell.h"

namespace estimator::rnn_cell {

// What these cells share: a size and options. The output is [N, num_units], unless the cell says
// otherwise.
template <typename Options>
class CellOfUnits : public LayerRNNCell {
 public:
  int64_t output_size() const override { return num_units_; }

 protected:
  CellOfUnits(int64_t num_units, Options options, const char* default_name)
      : LayerRNNCell(options.name.empty() ? default_name : options.name),
        num_units_(num_units),
        options_(std::move(options)) {}

  int64_t num_units_;
  Options options_;
};

struct BasicRNNCellOptions {
  Activation activation = nullptr;  // none: Tanh
  std::string name = "";            // none: basic_rnn_cell, basic_rnn_cell_1, ...
};

// h <- act([x, h] kernel + bias). State: h, [N, num_units]. Output: h.
//   Variables: `kernel` [C + num_units, num_units], `bias` [num_units].
// Source: TF 2.15 tf.compat.v1.nn.rnn_cell.BasicRNNCell.
class BasicRNNCell : public CellOfUnits<BasicRNNCellOptions> {
 public:
  explicit BasicRNNCell(int64_t num_units, BasicRNNCellOptions options = {})
      : CellOfUnits(num_units, std::move(options), "basic_rnn_cell") {}
  State ZeroState(int64_t batch_size, DType dtype = DType::kFloat32) const override;

 protected:
  CellOutput Call(const Tensor& inputs, const State& state) const override;
};

struct GRUCellOptions {
  Activation activation = nullptr;           // none: Tanh
  Initializer kernel_initializer = nullptr;  // none: the variable scope's, or GlorotUniform
  Initializer bias_initializer = nullptr;    // none: ones for the gates, zeros for the candidate
  std::string name = "";                     // none: gru_cell, gru_cell_1, ...
};

// r, u = Split(Sigmoid([x, h] gates/kernel + gates/bias), 2)
// h <- u * h + (1 - u) * act([x, r * h] candidate/kernel + candidate/bias)
// State: h, [N, num_units]. Output: h.
//   Variables: `gates/kernel` [C + num_units, 2 * num_units], `gates/bias` [2 * num_units],
//              `candidate/kernel` [C + num_units, num_units], `candidate/bias` [num_units].
// Source: TF 2.15 tf.compat.v1.nn.rnn_cell.GRUCell.
class GRUCell : public CellOfUnits<GRUCellOptions> {
 public:
  explicit GRUCell(int64_t num_units, GRUCellOptions options = {})
      : CellOfUnits(num_units, std::move(options), "gru_cell") {}
  State ZeroState(int64_t batch_size, DType dtype = DType::kFloat32) const override;
  bool HasSequence(const Tensor& inputs) const override;

 protected:
  CellOutput Call(const Tensor& inputs, const State& state) const override;
  SequenceOutput CallSequence(const Tensor& inputs, const State& state) const override;
};

struct BasicLSTMCellOptions {
  double forget_bias = 1;  // is added to the forget gate, so that training starts remembering
  Activation activation = nullptr;  // none: Tanh
  std::string name = "";            // none: basic_lstm_cell, basic_lstm_cell_1, ...
};

// i, j, f, o = Split([x, h] kernel + bias, 4)
// c <- c * Sigmoid(f + forget_bias) + Sigmoid(i) * act(j)
// h <- act(c) * Sigmoid(o)
// State: LSTMStateTuple of [N, num_units]. Output: h.
//   Variables: `kernel` [C + num_units, 4 * num_units], `bias` [4 * num_units].
// Source: TF 2.15 tf.compat.v1.nn.rnn_cell.BasicLSTMCell.
class BasicLSTMCell : public CellOfUnits<BasicLSTMCellOptions> {
 public:
  explicit BasicLSTMCell(int64_t num_units, BasicLSTMCellOptions options = {})
      : CellOfUnits(num_units, std::move(options), "basic_lstm_cell") {}
  State ZeroState(int64_t batch_size, DType dtype = DType::kFloat32) const override;
  bool HasSequence(const Tensor& inputs) const override;

 protected:
  CellOutput Call(const Tensor& inputs, const State& state) const override;
  SequenceOutput CallSequence(const Tensor& inputs, const State& state) const override;
};

struct LSTMCellOptions {
  bool use_peepholes = false;                      // the gates also see c
  std::optional<double> cell_clip = std::nullopt;  // c is kept in [-cell_clip, cell_clip]
  Initializer initializer = nullptr;               // none: the variable scope's, or GlorotUniform
  int64_t num_proj = 0;                            // 0: h is not projected
  std::optional<double> proj_clip = std::nullopt;  // the projection is kept in [-it, it]
  double forget_bias = 1;                          // is added to the forget gate
  Activation activation = nullptr;                 // none: Tanh
  std::string name = "";                           // none: lstm_cell, lstm_cell_1, ...
};

// As BasicLSTMCell, with options:
//   use_peepholes:  Sigmoid(f + forget_bias + w_f_diag * c), Sigmoid(i + w_i_diag * c), and
//                   Sigmoid(o + w_o_diag * c) with the new c
//   num_proj:       h <- h projection/kernel; h and the output are [N, num_proj]
//   Variables: `kernel` [C + (num_proj or num_units), 4 * num_units], `bias` [4 * num_units],
//              `w_f_diag`, `w_i_diag`, `w_o_diag` [num_units], `projection/kernel`
//              [num_units, num_proj].
// Source: TF 2.15 tf.compat.v1.nn.rnn_cell.LSTMCell.
class LSTMCell : public CellOfUnits<LSTMCellOptions> {
 public:
  explicit LSTMCell(int64_t num_units, LSTMCellOptions options = {})
      : CellOfUnits(num_units, std::move(options), "lstm_cell") {}
  int64_t output_size() const override;
  State ZeroState(int64_t batch_size, DType dtype = DType::kFloat32) const override;
  bool HasSequence(const Tensor& inputs) const override;

 protected:
  CellOutput Call(const Tensor& inputs, const State& state) const override;
  SequenceOutput CallSequence(const Tensor& inputs, const State& state) const override;
};

}  // namespace estimator::rnn_cell

#endif  // ESTIMATOR_NN_RNN_CELLS_H_
