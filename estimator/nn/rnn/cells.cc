#include "estimator/nn/rnn/cells.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/nn/initializers.h"
#include "estimator/nn/layers/layer.h"
#include "estimator/ops/activations.h"
#include "estimator/ops/bias.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/manipulation.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/matmul.h"
#include "estimator/ops/recurrent.h"

namespace estimator::rnn_cell {
namespace {

using layers::CheckPositive;
using layers::CheckRank;
using layers::GetWeight;

Activation OrTanh(const Activation& activation) {
  return activation ? activation : Activation(Tanh);
}

// Whether the inputs, [N, C] or [T, N, C], and the parts of the state fit. If not, the graph keeps
// the error.
bool Check(absl::string_view cell, const Tensor& inputs, int64_t num_units,
           const std::vector<std::pair<Tensor, int64_t>>& states, int rank = 2) {
  if (!CheckRank(inputs, cell, rank, rank) || !CheckPositive(num_units, cell, "num_units"))
    return false;
  for (const auto& [state, size] : states) {
    if (!state.valid()) return false;
    const TensorSpec expected{inputs.dtype(), {inputs.dim(rank - 2), size}};
    if (state.spec() == expected) continue;
    inputs.graph()->Fail(InvalidArgument(
        cell, ": the state '", state.name(), "' is ", state.spec().ToString(), ", but must be ",
        expected.ToString(), " for inputs ", inputs.spec().ToString()));
    return false;
  }
  return true;
}

// The variables `<prefix>kernel` and `<prefix>bias` of [x, h] kernel + bias.
struct LinearWeights {
  Tensor kernel, bias;
};
LinearWeights GetLinearWeights(const Tensor& x, const Tensor& h, int64_t size,
                               absl::string_view prefix, const Initializer& kernel_initializer,
                               const Initializer& bias_initializer) {
  const Tensor kernel = GetWeight(absl::StrCat(prefix, "kernel"), {x.dim(-1) + h.dim(-1), size}, x,
                                  kernel_initializer, nullptr, /*trainable=*/true);
  const Tensor bias = GetWeight(absl::StrCat(prefix, "bias"), {size}, x, bias_initializer, nullptr,
                                /*trainable=*/true);
  return {kernel, bias};
}

// [x, h] kernel + bias.
Tensor Linear(const Tensor& x, const Tensor& h, int64_t size, absl::string_view prefix,
              const Initializer& kernel_initializer, const Initializer& bias_initializer) {
  const auto [kernel, bias] =
      GetLinearWeights(x, h, size, prefix, kernel_initializer, bias_initializer);
  return BiasAdd(MatMul(Concat({x, h}, 1), kernel), bias);
}

// Whether there is an op for all time steps: TensorFlow's is for f32, and its activation is Tanh.
bool HasOp(const Tensor& inputs, const Activation& activation) {
  return inputs.rank() == 3 && inputs.dtype() == DType::kFloat32 && !activation;
}

// All time steps of an LSTM of `units` units.
SequenceOutput LstmSequence(absl::string_view cell, const Tensor& inputs, const State& state,
                            int64_t units, double forget_bias, const Initializer& initializer) {
  const Tensor c = state.c(), h = state.h();
  if (!Check(cell, inputs, units, {{c, units}, {h, units}}, 3))
    return {layers::InvalidLike(inputs), state};
  const auto [kernel, bias] =
      GetLinearWeights(inputs, h, 4 * units, "", initializer, initializers::Zeros());
  const auto [cs, outputs] = BlockLSTM(inputs, c, h, kernel, bias, static_cast<float>(forget_bias));
  return {outputs, LSTMStateTuple{cs, outputs}};
}

Tensor ZeroTensor(absl::string_view cell, int64_t batch_size, int64_t size, DType dtype) {
  const NameScope scope(absl::StrCat(cell, "ZeroState"));
  return Zeros({batch_size, size}, dtype);
}

State ZeroPair(absl::string_view cell, int64_t batch_size, int64_t c, int64_t h, DType dtype) {
  const NameScope scope(absl::StrCat(cell, "ZeroState"));
  const Tensor zero_c = Zeros({batch_size, c}, dtype);
  return LSTMStateTuple{zero_c, Zeros({batch_size, h}, dtype)};
}

}  // namespace

State BasicRNNCell::ZeroState(int64_t batch_size, DType dtype) const {
  return ZeroTensor("BasicRNNCell", batch_size, num_units_, dtype);
}

CellOutput BasicRNNCell::Call(const Tensor& inputs, const State& state) const {
  const Tensor h = state.tensor();
  if (!Check("basic_rnn_cell", inputs, num_units_, {{h, num_units_}}))
    return {layers::InvalidLike(inputs), state};
  const Tensor output = OrTanh(options_.activation)(
      Linear(inputs, h, num_units_, "", nullptr, initializers::Zeros()));
  return {output, output};
}

State GRUCell::ZeroState(int64_t batch_size, DType dtype) const {
  return ZeroTensor("GRUCell", batch_size, num_units_, dtype);
}

CellOutput GRUCell::Call(const Tensor& inputs, const State& state) const {
  const Tensor h = state.tensor();
  if (!Check("gru_cell", inputs, num_units_, {{h, num_units_}}))
    return {layers::InvalidLike(inputs), state};
  const auto bias = [&](const Initializer& otherwise) {
    return options_.bias_initializer ? options_.bias_initializer : otherwise;
  };
  const Tensor gates = Sigmoid(Linear(inputs, h, 2 * num_units_, "gates/",
                                      options_.kernel_initializer, bias(initializers::Ones())));
  const std::vector<Tensor> r_and_u = Split(gates, 2, {.axis = 1});
  const Tensor candidate =
      OrTanh(options_.activation)(Linear(inputs, r_and_u[0] * h, num_units_, "candidate/",
                                         options_.kernel_initializer, bias(initializers::Zeros())));
  const Tensor& u = r_and_u[1];
  const Tensor kept = u * h;
  const Tensor output = kept + (1 - u) * candidate;
  return {output, output};
}

bool GRUCell::HasSequence(const Tensor& inputs) const { return HasOp(inputs, options_.activation); }

SequenceOutput GRUCell::CallSequence(const Tensor& inputs, const State& state) const {
  const Tensor h = state.tensor();
  if (!Check("gru_cell", inputs, num_units_, {{h, num_units_}}, 3))
    return {layers::InvalidLike(inputs), state};
  const auto weights = [&](int64_t size, absl::string_view prefix, const Initializer& otherwise) {
    return GetLinearWeights(inputs, h, size, prefix, options_.kernel_initializer,
                            options_.bias_initializer ? options_.bias_initializer : otherwise);
  };
  const LinearWeights gates = weights(2 * num_units_, "gates/", initializers::Ones());
  const LinearWeights candidate = weights(num_units_, "candidate/", initializers::Zeros());
  const Tensor outputs =
      BlockGRU(inputs, h, gates.kernel, candidate.kernel, gates.bias, candidate.bias);
  return {outputs, outputs};
}

State BasicLSTMCell::ZeroState(int64_t batch_size, DType dtype) const {
  return ZeroPair("BasicLSTMCell", batch_size, num_units_, num_units_, dtype);
}

CellOutput BasicLSTMCell::Call(const Tensor& inputs, const State& state) const {
  const Tensor c = state.c(), h = state.h();
  if (!Check("basic_lstm_cell", inputs, num_units_, {{c, num_units_}, {h, num_units_}}))
    return {layers::InvalidLike(inputs), state};
  const Activation act = OrTanh(options_.activation);
  const std::vector<Tensor> gates =
      Split(Linear(inputs, h, 4 * num_units_, "", nullptr, initializers::Zeros()), 4, {.axis = 1});
  const Tensor &i = gates[0], &j = gates[1], &f = gates[2], &o = gates[3];
  // One op in each statement, so that the names of the ops are TensorFlow's.
  const Tensor kept = c * Sigmoid(f + options_.forget_bias);
  const Tensor input_gate = Sigmoid(i);
  const Tensor added = input_gate * act(j);
  const Tensor new_c = kept + added;
  const Tensor activated = act(new_c);
  const Tensor new_h = activated * Sigmoid(o);
  return {new_h, LSTMStateTuple{new_c, new_h}};
}

bool BasicLSTMCell::HasSequence(const Tensor& inputs) const {
  return HasOp(inputs, options_.activation);
}

SequenceOutput BasicLSTMCell::CallSequence(const Tensor& inputs, const State& state) const {
  return LstmSequence("basic_lstm_cell", inputs, state, num_units_, options_.forget_bias, nullptr);
}

int64_t LSTMCell::output_size() const {
  return options_.num_proj > 0 ? options_.num_proj : num_units_;
}

State LSTMCell::ZeroState(int64_t batch_size, DType dtype) const {
  return ZeroPair("LSTMCell", batch_size, num_units_, output_size(), dtype);
}

CellOutput LSTMCell::Call(const Tensor& inputs, const State& state) const {
  const Tensor c = state.c(), h = state.h();
  if (!Check("lstm_cell", inputs, num_units_, {{c, num_units_}, {h, output_size()}}))
    return {layers::InvalidLike(inputs), state};
  const auto weight = [&](absl::string_view name, const Shape& shape) {
    return GetWeight(name, shape, inputs, options_.initializer, nullptr, /*trainable=*/true);
  };
  const Activation act = OrTanh(options_.activation);
  const std::vector<Tensor> gates =
      Split(Linear(inputs, h, 4 * num_units_, "", options_.initializer, initializers::Zeros()), 4,
            {.axis = 1});
  const Tensor &i = gates[0], &j = gates[1], &f = gates[2], &o = gates[3];
  Tensor forget = f + options_.forget_bias, input = i, output = o, w_o;
  if (options_.use_peepholes) {
    const Tensor w_f = weight("w_f_diag", {num_units_}), w_i = weight("w_i_diag", {num_units_});
    w_o = weight("w_o_diag", {num_units_});
    forget = forget + w_f * c;
    input = input + w_i * c;
  }
  const Tensor kept = Sigmoid(forget) * c;
  const Tensor input_gate = Sigmoid(input);
  const Tensor added = input_gate * act(j);
  Tensor new_c = kept + added;
  if (options_.cell_clip) new_c = ClipByValue(new_c, -*options_.cell_clip, *options_.cell_clip);
  if (options_.use_peepholes) output = output + w_o * new_c;
  const Tensor output_gate = Sigmoid(output);
  Tensor new_h = output_gate * act(new_c);
  if (options_.num_proj > 0) {
    new_h = MatMul(new_h, weight("projection/kernel", {num_units_, options_.num_proj}));
    if (options_.proj_clip) new_h = ClipByValue(new_h, -*options_.proj_clip, *options_.proj_clip);
  }
  return {new_h, LSTMStateTuple{new_c, new_h}};
}

bool LSTMCell::HasSequence(const Tensor& inputs) const {
  return HasOp(inputs, options_.activation) && !options_.use_peepholes && !options_.cell_clip &&
         options_.num_proj <= 0;
}

SequenceOutput LSTMCell::CallSequence(const Tensor& inputs, const State& state) const {
  return LstmSequence("lstm_cell", inputs, state, num_units_, options_.forget_bias,
                      options_.initializer);
}

}  // namespace estimator::rnn_cell
