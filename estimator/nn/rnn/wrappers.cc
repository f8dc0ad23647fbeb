#include "estimator/nn/rnn/wrappers.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/nn/layers/layer.h"
#include "estimator/nn/rnn/dropout_seed.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/random.h"

namespace estimator::rnn_cell {

MultiRNNCell::MultiRNNCell(std::vector<Cell> cells)
    : RNNCell("multi_rnn_cell"), cells_(std::move(cells)) {}

int64_t MultiRNNCell::output_size() const {
  return cells_.empty() ? 0 : cells_.back().output_size();
}

State MultiRNNCell::ZeroState(int64_t batch_size, DType dtype) const {
  const NameScope scope("MultiRNNCellZeroState");
  std::vector<State> states;
  for (const Cell& cell : cells_) states.push_back(cell.ZeroState(batch_size, dtype));
  return states;
}

// Whether the state is one for each cell. If not, the graph keeps the error.
bool MultiRNNCell::CheckState(const State& state) const {
  if (!cells_.empty() && state.size() == static_cast<int>(cells_.size())) return true;
  Graph::Current().Fail(InvalidArgument(
      cells_.empty() ? std::string("MultiRNNCell: there must be at least one cell")
                     : absl::StrCat("MultiRNNCell: the state must be a tuple of ", cells_.size(),
                                    " states, one for each cell, but it is ", state.ToString())));
  return false;
}

CellOutput MultiRNNCell::Call(const Tensor& inputs, const State& state) const {
  if (!CheckState(state)) return {layers::InvalidLike(inputs), state};
  Tensor x = inputs;
  std::vector<State> states;
  for (int i = 0; i < state.size(); ++i) {
    const VariableScope scope(absl::StrCat("cell_", i));
    auto [output, new_state] = cells_[i](x, state[i]);
    x = output;
    states.push_back(std::move(new_state));
  }
  return {x, states};
}

bool MultiRNNCell::HasSequence(const Tensor& inputs) const {
  return !cells_.empty() && std::all_of(cells_.begin(), cells_.end(),
                                        [&](const Cell& cell) { return cell.HasSequence(inputs); });
}

SequenceOutput MultiRNNCell::CallSequence(const Tensor& inputs, const State& state) const {
  if (!CheckState(state)) return {layers::InvalidLike(inputs), state};
  Tensor x = inputs;
  std::vector<State> states;
  for (int i = 0; i < state.size(); ++i) {
    const VariableScope scope(absl::StrCat("cell_", i));
    auto [outputs, new_states] = cells_[static_cast<size_t>(i)].Sequence(x, state[i]);
    if (!outputs.valid()) return {outputs, state};
    x = outputs;
    states.push_back(std::move(new_states));
  }
  return {x, states};
}

struct DropoutWrapper::Seeds {
  std::map<std::pair<std::string, int>, int64_t> of_salt;
};

DropoutWrapper::DropoutWrapper(Cell cell, DropoutWrapperOptions options)
    : CellWrapper(std::move(cell), "DropoutWrapper"),
      options_(options),
      seeds_(std::make_shared<Seeds>()) {}

Tensor DropoutWrapper::Drop(const Tensor& x, double keep_prob, const char* salt, int index) const {
  if (keep_prob == 1 || !x.valid()) return x;
  if (!(keep_prob > 0 && keep_prob < 1)) {
    return x.graph()->Fail(InvalidArgument("DropoutWrapper: ", salt,
                                           "_keep_prob must be in (0, 1], but it is ", keep_prob));
  }
  if (!options_.variational_recurrent) {
    std::optional<int64_t> seed;
    if (options_.seed) seed = DropoutSeed(*options_.seed, salt, index, TimeStepScope::Current());
    return Dropout(x, {.rate = 1 - keep_prob, .seed = seed});
  }
  // An op for each time step, all with the same seed, draws the same numbers.
  int64_t seed = 0;
  if (options_.seed) {
    seed = DropoutSeed(*options_.seed, salt, index, 0);
  } else {
    const auto [found, is_new] = seeds_->of_salt.try_emplace({salt, index}, 0);
    if (is_new) found->second = x.graph()->OpSeeds(std::nullopt).second;
    seed = found->second;
  }
  Shape noise_shape = x.shape();
  noise_shape.set_dim(0, 1);
  const Tensor noise = RandomUniform(noise_shape, {.dtype = x.dtype(), .seed = seed});
  return x / keep_prob * Floor(keep_prob + noise);
}

CellOutput DropoutWrapper::Call(const Tensor& inputs, const State& state) const {
  const Tensor x = Drop(inputs, options_.input_keep_prob, "input", 0);
  auto [output, new_state] = cell_(x, state);
  if (options_.state_keep_prob != 1) {
    new_state = new_state.Map([&](const Tensor& part, int index, bool is_c) {
      return is_c ? part : Drop(part, options_.state_keep_prob, "state", index);
    });
  }
  return {Drop(output, options_.output_keep_prob, "output", 0), new_state};
}

ResidualWrapper::ResidualWrapper(Cell cell, ResidualFn residual_fn)
    : CellWrapper(std::move(cell), "ResidualWrapper"), residual_fn_(std::move(residual_fn)) {}

CellOutput ResidualWrapper::Call(const Tensor& inputs, const State& state) const {
  auto [output, new_state] = cell_(inputs, state);
  if (residual_fn_) return {residual_fn_(inputs, output), new_state};
  if (output.valid() && output.spec() != inputs.spec()) {
    output = output.graph()->Fail(
        InvalidArgument("ResidualWrapper: the inputs are ", inputs.spec().ToString(),
                        ", but the output of the cell is ", output.spec().ToString(),
                        "; pass a residual_fn, or choose num_units as large as the inputs"));
    return {output, new_state};
  }
  return {inputs + output, new_state};
}

}  // namespace estimator::rnn_cell
