// State: what a recurrent cell hands from one time step to the next.
#ifndef ESTIMATOR_NN_RNN_STATE_H_
#define ESTIMATOR_NN_RNN_STATE_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "estimator/graph/tensor.h"

namespace estimator::rnn_cell {

// The state of an LSTM: its memory c and its output h.
// Source: TF 2.15 tf.compat.v1.nn.rnn_cell.LSTMStateTuple.
struct LSTMStateTuple {
  Tensor c;
  Tensor h;
};

// One of three:
//   a tensor                BasicRNNCell, GRUCell
//   an LSTMStateTuple       BasicLSTMCell, LSTMCell
//   a tuple of states       MultiRNNCell, one for each cell
// Asking for another one than it is gives an invalid tensor, and the graph keeps the error.
class State {
 public:
  State() = default;                                 // an invalid tensor
  State(const Tensor& tensor) : tensors_{tensor} {}  // NOLINT: by design
  State(const LSTMStateTuple& state)                 // NOLINT
      : kind_(Kind::kLSTM), tensors_{state.c, state.h} {}
  State(std::vector<State> states)  // NOLINT
      : kind_(Kind::kTuple), states_(std::move(states)) {}

  // A state that is a tensor can be used as one: layers::Dense(state, ...).
  operator Tensor() const { return tensor(); }  // NOLINT
  Tensor tensor() const;
  Tensor c() const;
  Tensor h() const;
  // The state of cell i of a MultiRNNCell. As in Python, -1 is the last one.
  State operator[](int i) const;
  int size() const { return static_cast<int>(states_.size()); }  // of a tuple; else 0

  // All tensors, in order.
  std::vector<Tensor> Flatten() const;
  // A state of the same structure: every tensor x of this state and y of `other` become fn(x, y).
  // The graph keeps an error if the structures differ.
  using ZipFn = std::function<Tensor(const Tensor& x, const Tensor& y)>;
  State Zip(const State& other, const ZipFn& fn) const;
  // A state of the same structure: tensor x becomes fn(x, index in Flatten(), whether x is the c
  // of an LSTM).
  using MapFn = std::function<Tensor(const Tensor& x, int index, bool is_c)>;
  State Map(const MapFn& fn) const;
  // A state of the same structure, of the tensors flat[first], flat[first + 1], ...
  State Restored(const Tensors& flat, size_t first = 0) const {
    return Map([&](const Tensor&, int index, bool) { return flat[first + index]; });
  }

  // "f32 [8,5]", "(c=f32 [8,5], h=f32 [8,5])", "[..., ...]"
  std::string ToString() const;

 private:
  enum class Kind { kTensor, kLSTM, kTuple };
  State MapFrom(const MapFn& fn, int& index) const;
  Tensor Get(Kind kind, size_t i, absl::string_view what) const;
  Tensor Fail(absl::string_view what) const;

  Kind kind_ = Kind::kTensor;
  std::vector<Tensor> tensors_ = {};  // one, or c and h
  std::vector<State> states_ = {};    // of a tuple
};

}  // namespace estimator::rnn_cell

#endif  // ESTIMATOR_NN_RNN_STATE_H_
