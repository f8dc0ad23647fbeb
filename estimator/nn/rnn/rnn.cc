#include "estimator/nn/rnn/rnn.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/variable.h"
#include "estimator/nn/rnn/batch_time.h"
#include "estimator/nn/rnn/dropout_seed.h"
#include "estimator/ops/building/builder.h"
#include "estimator/ops/building/loop.h"
#include "estimator/ops/comparison.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/gather.h"
#include "estimator/ops/manipulation.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/reduction.h"
#include "estimator/ops/select.h"
#include "estimator/ops/shape_ops.h"
#include "estimator/ops/slicing.h"

namespace estimator {
namespace {

using rnn_cell::Cell;
using rnn_cell::CellOutput;
using rnn_cell::State;
using rnn_cell::TimeStepScope;

// Unrolled, time steps are fused with what is around them, and the graph takes longer to build:
// docs/recurrent.md has the figures.
constexpr int64_t kMaxUnrolled = 128;

// i32 [T]: 0, 1, ..., T - 1.
Tensor TimeSteps(Graph& graph, int64_t num_steps) {
  Array steps(DType::kInt32, {num_steps});
  for (int64_t t = 0; t < num_steps; ++t) steps.data<int32_t>()[t] = static_cast<int32_t>(t);
  return ConstantIn(graph, steps, "time");
}

// What the time steps of one network share.
struct Loop {
  Graph& graph;
  const Cell& cell;
  State state;
  std::vector<Tensor> finished;  // of each time step, bool [N, 1]; empty: never
  bool has_time_steps;           // whether the random ops of each time step get their own seeds
};

// Whether the lengths are [N]; returns them as i32. Invalid after an error.
Tensor CheckedLengths(const Tensor& lengths, int64_t batch_size) {
  if (!lengths.valid()) return lengths;
  if (lengths.shape() != Shape{batch_size}) {
    return lengths.graph()->Fail(InvalidArgument(
        "sequence_length '", lengths.name(), "' is ", lengths.spec().ToString(),
        ", but the inputs have a batch of ", batch_size, ": it must be [", batch_size, "]"));
  }
  return lengths.dtype() == DType::kInt32 ? lengths : Cast(lengths, DType::kInt32);
}

// Which examples are over at each time step, [T, N, 1].
Tensor Finished(const Tensor& lengths, int64_t num_steps) {
  const Tensor steps = TimeSteps(*lengths.graph(), num_steps);
  return GreaterEqual(Reshape(steps, {num_steps, 1, 1}), Reshape(lengths, {1, lengths.dim(0), 1}));
}

// Source: TF 2.15 rnn._rnn_step.
Tensor Step(Loop& loop, const Tensor& input, int64_t time) {
  const TimeStepScope step(loop.has_time_steps ? time : 0);
  auto [output, new_state] = loop.cell(input, loop.state);
  const Tensor finished = loop.finished.empty() ? Tensor() : loop.finished[time];
  if (finished.valid()) output = UnlessFinished(finished, output, 0);
  loop.state = loop.state.Zip(new_state, [&](const Tensor& old_part, const Tensor& new_part) {
    if (!old_part.valid() || !new_part.valid()) return new_part;
    if (old_part.spec() != new_part.spec()) {
      return loop.graph.Fail(
          InvalidArgument("time step ", time, ": the cell changes a part of its state from ",
                          old_part.spec().ToString(), " to ", new_part.spec().ToString()));
    }
    return finished.valid() ? UnlessFinished(finished, new_part, old_part) : new_part;
  });
  return output;
}

// Each of `inputs` is a time step, [N, ...].
StaticRnnResult Unroll(const Cell& cell, const std::vector<Tensor>& inputs,
                       const std::optional<State>& initial_state, DType dtype,
                       const Tensor& lengths, bool has_time_steps) {
  Graph& graph = GraphFor(inputs);
  if (inputs.empty()) {
    return {{}, graph.Fail(InvalidArgument("the inputs have no time steps"))};
  }
  const Tensor& first = inputs[0];
  for (const Tensor& input : inputs) {
    if (!first.valid() || !input.valid() || first.rank() == 0 || first.spec() != input.spec()) {
      const Tensor invalid =
          graph.Fail(InvalidArgument("all time steps must be [N, C] of one type, got ",
                                     first.spec().ToString(), " and ", input.spec().ToString()));
      return {std::vector<Tensor>(inputs.size(), invalid), invalid};
    }
  }
  const int64_t batch_size = first.dim(0);
  const Tensor checked = CheckedLengths(lengths, batch_size);
  Loop loop{graph,
            cell,
            initial_state
                ? *initial_state
                : cell.ZeroState(batch_size, dtype == DType::kInvalid ? first.dtype() : dtype),
            {},
            has_time_steps};
  if (checked.valid()) {
    const auto num_steps = static_cast<int64_t>(inputs.size());
    loop.finished = Unstack(Finished(checked, num_steps), 0, "finished");
  }
  std::vector<Tensor> outputs;
  for (const Tensor& input : inputs)
    outputs.push_back(Step(loop, input, static_cast<int64_t>(outputs.size())));
  return {std::move(outputs), std::move(loop.state)};
}

// The same as one loop, so that the graph does not grow with the time steps.
//   inputs: [T, N, ...].  lengths: as CheckedLengths returns them, or invalid.
DynamicRnnResult RunLoop(const Cell& cell, const Tensor& inputs, const State& initial,
                         const Tensor& lengths) {
  Graph& graph = GraphFor({inputs});
  const int64_t num_steps = inputs.dim(0);
  Tensors scanned = {inputs};
  if (lengths.valid()) scanned.push_back(Finished(lengths, num_steps));
  const auto body = [&](const Tensors& carried, const Tensors& elements) {
    // A random op draws other numbers at each trip, so the time steps need no seeds of their own.
    Loop step{Graph::Current(),
              cell,
              initial.Restored(carried),
              {elements.begin() + 1, elements.end()},
              false};
    const Tensor output = Step(step, elements[0], 0);
    Tensors results = step.state.Flatten();
    results.push_back(output);
    return results;
  };
  const Tensors last =
      AddLoop({.trips = graph.AddConst(Array::Scalar<int64_t>(num_steps), "time_steps"),
               .body = body,
               .carried = initial.Flatten(),
               .scanned = scanned,
               .capacity = num_steps});
  if (last.empty()) {
    const Tensor invalid(&graph, nullptr, 0);
    return {invalid, invalid};
  }
  return {last.back(), initial.Restored(last)};
}

// The part of the state after the last time step that counts.
//   states: after each time step, [T, N, ...].  initial: before the first one, [N, ...].
Tensor LastState(const Tensor& states, const Tensor& initial, const Tensor& lengths) {
  if (!states.valid()) return states;
  const int64_t num_steps = states.dim(0);
  if (!lengths.valid()) return StridedSlice(states, {Slicing::At(num_steps - 1)});
  const Tensor steps = Reshape(TimeSteps(*states.graph(), num_steps), {num_steps, 1, 1});
  const Tensor last =
      Reshape(Minimum(lengths, static_cast<int32_t>(num_steps)) - 1, {1, lengths.dim(0), 1});
  const Tensor picked = ReduceSum(Where(Equal(steps, last), states, 0), {0});
  return Where(LessEqual(Reshape(lengths, {lengths.dim(0), 1}), 0), initial, picked);
}

// All time steps by one op for each cell. Steps beyond a length are computed too, but nothing reads
// them: their outputs are replaced by 0, and so their gradients are 0.
//   inputs: [T, N, C]. The outputs of the result are [T, N, ...].
DynamicRnnResult RunSequence(const Cell& cell, const Tensor& inputs, const State& initial,
                             const Tensor& lengths) {
  auto [outputs, states] = cell.Sequence(inputs, initial);
  if (!outputs.valid()) return {outputs, initial};
  if (lengths.valid()) outputs = Where(Finished(lengths, inputs.dim(0)), 0, outputs);
  const State last = states.Zip(initial, [&](const Tensor& all, const Tensor& first) {
    return LastState(all, first, lengths);
  });
  return {outputs, last};
}

// Inside the scope of the network.
DynamicRnnResult DynamicRnnInScope(const Cell& cell, const Tensor& inputs,
                                   const DynamicRnnOptions& options) {
  Graph& graph = GraphFor({inputs});
  if (inputs.valid() && inputs.rank() < 3) {
    const Tensor invalid = graph.Fail(
        InvalidArgument("the inputs '", inputs.name(), "' are ", inputs.spec().ToString(),
                        ", but must be [N, T, C]; ExpandDims adds an axis of size 1"));
    return {invalid, invalid};
  }
  Tensor lengths = options.sequence_length;
  if (lengths.valid()) lengths = Identity(lengths, "sequence_length");
  const Tensor time_major = options.time_major ? inputs : TransposeBatchTime(inputs);
  if (time_major.valid() && time_major.dim(0) == 0) {
    const Tensor invalid = graph.Fail(InvalidArgument("the inputs have no time steps"));
    return {invalid, invalid};
  }
  const bool own_dtype = options.dtype == DType::kInvalid || options.dtype == inputs.dtype();
  DynamicRnnResult result;
  const bool has_op = own_dtype && time_major.valid() && cell.HasSequence(time_major);
  const bool few_steps = time_major.valid() && time_major.dim(0) <= kMaxUnrolled;
  if (time_major.valid() && !options.unroll.value_or(!has_op && few_steps)) {
    const int64_t batch_size = time_major.dim(1);
    const DType dtype = options.dtype == DType::kInvalid ? inputs.dtype() : options.dtype;
    const State initial =
        options.initial_state ? *options.initial_state : cell.ZeroState(batch_size, dtype);
    const Tensor checked = CheckedLengths(lengths, batch_size);
    if (lengths.valid() && !checked.valid()) return {checked, initial};
    result = has_op ? RunSequence(cell, time_major, initial, checked)
                    : RunLoop(cell, time_major, initial, checked);
  } else {
    StaticRnnResult unrolled = Unroll(cell, Unstack(time_major), options.initial_state,
                                      options.dtype, lengths, /*has_time_steps=*/true);
    result = {Stack(unrolled.outputs), std::move(unrolled.state)};
  }
  if (!options.time_major) result.outputs = TransposeBatchTime(result.outputs);
  return result;
}

// tf.reverse_sequence: reverses the first lengths[n] time steps of example n; all without lengths.
Tensor ReverseTime(const Tensor& x, const Tensor& lengths, bool time_major) {
  if (!lengths.valid() || !x.valid()) return Reverse(x, {time_major ? 0 : 1});
  const Tensor batch_major = time_major ? TransposeBatchTime(x) : x;
  const int64_t batch_size = batch_major.dim(0), num_steps = batch_major.dim(1);
  const Tensor checked = CheckedLengths(lengths, batch_size);
  if (!checked.valid()) return checked;
  const Tensor steps = Reshape(TimeSteps(*x.graph(), num_steps), {1, num_steps});
  const Tensor ends = Reshape(checked, {batch_size, 1});
  const Tensor order = Where(Less(steps, ends), ends - 1 - steps, steps);
  const Tensor reversed = Gather(batch_major, order, {.axis = 1, .batch_dims = 1});
  return time_major ? TransposeBatchTime(reversed) : reversed;
}

// The results of run(cell, inputs, initial_state) forward, and backward on reverse(inputs).
template <typename Inputs, typename Options, typename Run, typename Reverse>
auto BothDirections(const Cell& cell_fw, const Cell& cell_bw, const Inputs& inputs,
                    const Options& options, const Run& run, const Reverse& reverse) {
  const auto in_scope = [&run](const Cell& cell, const Inputs& x,
                               const std::optional<State>& initial_state) {
    // TensorFlow opens the scope of a direction twice, which shows in the names of ops.
    const VariableScope again(GetVariableScope());
    return run(cell, x, initial_state);
  };
  std::optional<VariableScope> direction;
  direction.emplace("fw");
  auto forward = in_scope(cell_fw, inputs, options.initial_state_fw);
  direction.emplace("bw");
  auto backward = in_scope(cell_bw, reverse(inputs), options.initial_state_bw);
  return std::pair(std::move(forward), std::move(backward));
}

}  // namespace

DynamicRnnResult DynamicRnn(const Cell& cell, const Tensor& inputs,
                            const DynamicRnnOptions& options) {
  const VariableScope scope(NameOr(options.scope, "rnn"));
  return DynamicRnnInScope(cell, inputs, options);
}

StaticRnnResult StaticRnn(const Cell& cell, const std::vector<Tensor>& inputs,
                          const StaticRnnOptions& options) {
  const VariableScope scope(NameOr(options.scope, "rnn"));
  return Unroll(cell, inputs, options.initial_state, options.dtype, options.sequence_length,
                /*has_time_steps=*/false);
}

BidirectionalDynamicRnnResult BidirectionalDynamicRnn(
    const Cell& cell_fw, const Cell& cell_bw, const Tensor& inputs,
    const BidirectionalDynamicRnnOptions& options) {
  const VariableScope scope(NameOr(options.scope, "bidirectional_rnn"));
  const auto run = [&](const Cell& cell, const Tensor& x,
                       const std::optional<State>& initial_state) {
    return DynamicRnnInScope(cell, x,
                             {.sequence_length = options.sequence_length,
                              .initial_state = initial_state,
                              .dtype = options.dtype,
                              .time_major = options.time_major,
                              .unroll = options.unroll});
  };
  const auto reverse = [&](const Tensor& x) {
    return ReverseTime(x, options.sequence_length, options.time_major);
  };
  const auto [forward, backward] = BothDirections(cell_fw, cell_bw, inputs, options, run, reverse);
  return {{forward.outputs, reverse(backward.outputs)}, {forward.state, backward.state}};
}

StaticBidirectionalRnnResult StaticBidirectionalRnn(const Cell& cell_fw, const Cell& cell_bw,
                                                    const std::vector<Tensor>& inputs,
                                                    const StaticBidirectionalRnnOptions& options) {
  const VariableScope scope(NameOr(options.scope, "bidirectional_rnn"));
  const auto run = [&](const Cell& cell, const std::vector<Tensor>& x,
                       const std::optional<State>& initial_state) {
    return Unroll(cell, x, initial_state, options.dtype, options.sequence_length,
                  /*has_time_steps=*/false);
  };
  const auto reverse = [&](std::vector<Tensor> steps) {
    if (options.sequence_length.valid() && !steps.empty())
      return Unstack(ReverseTime(Stack(steps), options.sequence_length, /*time_major=*/true));
    std::reverse(steps.begin(), steps.end());
    return steps;
  };
  const auto [forward, backward] = BothDirections(cell_fw, cell_bw, inputs, options, run, reverse);
  const std::vector<Tensor> in_order = reverse(backward.outputs);
  std::vector<Tensor> outputs;
  for (size_t t = 0; t < forward.outputs.size(); ++t)
    outputs.push_back(Concat({forward.outputs[t], in_order[t]}, 1));
  return {std::move(outputs), forward.state, backward.state};
}

}  // namespace estimator
