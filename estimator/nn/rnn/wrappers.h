// Cells made of other cells: MultiRNNCell, DropoutWrapper and ResidualWrapper.
#ifndef ESTIMATOR_NN_RNN_WRAPPERS_H_
#define ESTIMATOR_NN_RNN_WRAPPERS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "estimator/nn/rnn/cell.h"

namespace estimator::rnn_cell {

// Cells on top of each other: each takes the output of the one before it.
//   State: a tuple with the state of each cell.  Output: that of the last cell.
//   Variables: `multi_rnn_cell/cell_0/<those of the cell>`, `multi_rnn_cell/cell_1/...`.
// Errors (kept by the graph): INVALID_ARGUMENT if there are no cells.
// Source: TF 2.15 tf.compat.v1.nn.rnn_cell.MultiRNNCell.
class MultiRNNCell : public RNNCell {
 public:
  explicit MultiRNNCell(std::vector<Cell> cells);
  int64_t output_size() const override;
  State ZeroState(int64_t batch_size, DType dtype = DType::kFloat32) const override;
  bool HasSequence(const Tensor& inputs) const override;

 protected:
  CellOutput Call(const Tensor& inputs, const State& state) const override;
  // Layer after layer: all time steps of a cell, then those of the next one.
  SequenceOutput CallSequence(const Tensor& inputs, const State& state) const override;

 private:
  bool CheckState(const State& state) const;

  std::vector<Cell> cells_;
};

struct DropoutWrapperOptions {
  // The fraction of elements that are kept, in (0, 1]. Use 1 in evaluation.
  double input_keep_prob = 1;
  double output_keep_prob = 1;
  double state_keep_prob = 1;  // of the new state, but not of the c of an LSTM
  // Drops the same elements in all time steps and examples, drawn once for each training step.
  // Otherwise each time step draws anew.
  bool variational_recurrent = false;
  // The same seed gives TensorFlow's numbers in StaticRnn: there, as in TensorFlow's static_rnn,
  // all time steps drop the same elements. Default: the graph chooses.
  std::optional<int64_t> seed = std::nullopt;
};

// Drops elements of the inputs, of the output and of the new state, and scales the rest by
// 1 / keep_prob. It has no variables of its own.
// Errors (kept by the graph): INVALID_ARGUMENT if a probability is not in (0, 1].
// Source: TF 2.15 tf.compat.v1.nn.rnn_cell.DropoutWrapper.
class DropoutWrapper : public CellWrapper {
 public:
  DropoutWrapper(Cell cell, DropoutWrapperOptions options);

 protected:
  CellOutput Call(const Tensor& inputs, const State& state) const override;

 private:
  struct Seeds;
  Tensor Drop(const Tensor& x, double keep_prob, const char* salt, int index) const;

  DropoutWrapperOptions options_;
  std::shared_ptr<Seeds> seeds_;  // of variational_recurrent without a seed
};

// The output of a residual cell from the inputs and the output of the wrapped one.
using ResidualFn = std::function<Tensor(const Tensor& inputs, const Tensor& outputs)>;

// Adds the inputs to the output. It has no variables of its own.
// Errors (kept by the graph): INVALID_ARGUMENT if inputs and output have different shapes.
// Source: TF 2.15 tf.compat.v1.nn.rnn_cell.ResidualWrapper.
class ResidualWrapper : public CellWrapper {
 public:
  explicit ResidualWrapper(Cell cell, ResidualFn residual_fn = nullptr);

 protected:
  CellOutput Call(const Tensor& inputs, const State& state) const override;

 private:
  ResidualFn residual_fn_;
};

}  // namespace estimator::rnn_cell

#endif  // ESTIMATOR_NN_RNN_WRAPPERS_H_
