// RNNCell: one step of a recurrent network. Users derive their own cells from it.
#ifndef ESTIMATOR_NN_RNN_CELL_H_
#define ESTIMATOR_NN_RNN_CELL_H_

#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "estimator/array/dtype.h"
#include "estimator/graph/tensor.h"
#include "estimator/graph/variable.h"
#include "estimator/nn/rnn/state.h"

namespace estimator::rnn_cell {

// The result of one step: const auto [output, state] = cell(x, state).
struct CellOutput {
  Tensor output;  // [N, output_size]
  State state;
};

// The result of all time steps, computed together by one op (ops/recurrent.h).
struct SequenceOutput {
  Tensor outputs;  // [T, N, output_size]
  State states;    // after each time step: each part is [T, N, ...]
};

// Copies of a cell are the same cell, as in Python: they share the weights. The first call creates
// the variables in the scope of the caller; later calls use them, from any scope.
// Source: TF 2.15 tf.compat.v1.nn.rnn_cell.RNNCell.
class RNNCell {
 public:
  virtual ~RNNCell() = default;

  // One step. Variables are `<scope>/<name>/...`.
  //   inputs: [N, C], floating.  state: of the structure of ZeroState(N).
  // Errors (kept by the graph): INVALID_ARGUMENT if the inputs or the state have other shapes.
  CellOutput operator()(const Tensor& inputs, const State& state) const;

  // Whether Sequence can be called: whether there is an op for the cell, with its options, and for
  // inputs like these.
  virtual bool HasSequence(const Tensor& /*inputs*/) const { return false; }
  // All time steps, with the variables and the numbers of calls for one step after the other.
  //   inputs: [T, N, C].  state: before the first step.
  // REQUIRES: HasSequence(inputs). Errors: as those of a call.
  SequenceOutput Sequence(const Tensor& inputs, const State& state) const;

  virtual int64_t output_size() const = 0;
  // The state before the first step, all zeros, for a batch of `batch_size` examples.
  virtual State ZeroState(int64_t batch_size, DType dtype = DType::kFloat32) const = 0;

 protected:
  // name: of the scope of the variables, made unique: basic_lstm_cell, basic_lstm_cell_1, ...
  explicit RNNCell(std::string name);
  // One step, inside the scope of the cell. GetVariable and layers create the weights in the first
  // call and return the same ones in later calls.
  virtual CellOutput Call(const Tensor& inputs, const State& state) const = 0;
  // The same for all time steps. Only cells whose HasSequence can be true have it.
  virtual SequenceOutput CallSequence(const Tensor& inputs, const State& state) const;

 private:
  friend class LayerRNNCell;
  friend class CellWrapper;
  struct Scope;
  // fn(), inside the scope of the cell.
  template <typename Fn>
  auto InScope(Fn&& fn) const;
  const std::shared_ptr<Scope> scope_;
};

// Base of the cells here. It differs from RNNCell in the names of ops, as in TensorFlow.
class LayerRNNCell : public RNNCell {
 protected:
  explicit LayerRNNCell(std::string name);
};

// Any cell. It holds a copy, which is the same cell:
//   rnn_cell::Cell cell = rnn_cell::LSTMCell(128);
//   if (mode == Mode::kTrain) cell = rnn_cell::DropoutWrapper(cell, {.output_keep_prob = 0.5});
class Cell {
 public:
  template <std::derived_from<RNNCell> C>
  Cell(C cell) : cell_(std::make_shared<const C>(std::move(cell))) {}  // NOLINT: by design

  CellOutput operator()(const Tensor& inputs, const State& state) const {
    return (*cell_)(inputs, state);
  }
  bool HasSequence(const Tensor& inputs) const { return cell_->HasSequence(inputs); }
  SequenceOutput Sequence(const Tensor& inputs, const State& state) const {
    return cell_->Sequence(inputs, state);
  }
  int64_t output_size() const { return cell_->output_size(); }
  State ZeroState(int64_t batch_size, DType dtype = DType::kFloat32) const {
    return cell_->ZeroState(batch_size, dtype);
  }

 private:
  std::shared_ptr<const RNNCell> cell_;
};

// Base of DropoutWrapper and ResidualWrapper, which have no scope of their own.
class CellWrapper : public RNNCell {
 public:
  int64_t output_size() const override { return cell_.output_size(); }
  State ZeroState(int64_t batch_size, DType dtype = DType::kFloat32) const override;

 protected:
  // wrapper: the name of the derived class, with which ZeroState names its scope.
  CellWrapper(Cell cell, std::string wrapper);

  Cell cell_;

 private:
  std::string wrapper_;
};

}  // namespace estimator::rnn_cell

#endif  // ESTIMATOR_NN_RNN_CELL_H_
