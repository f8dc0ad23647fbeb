#include "estimator/nn/rnn/raw_rnn.h"

#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/variable.h"
#include "estimator/nn/rnn/batch_time.h"
#include "estimator/ops/building/loop.h"
#include "estimator/ops/comparison.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/reduction.h"

namespace estimator {
namespace {

using rnn_cell::State;

// The loop variables: these, then the tensors of the cell's state, then those of the function's.
enum StepVariable { kStepTime, kStepFinished, kStepInput, kStepState };

Tensors JoinVariables(Tensors first, const State& state, const Tensors& loop_state) {
  for (const Tensor& part : state.Flatten()) first.push_back(part);
  first.insert(first.end(), loop_state.begin(), loop_state.end());
  return first;
}

}  // namespace

RawRnnResult RawRnn(const rnn_cell::Cell& cell, const RawRnnLoopFn& loop_fn,
                    const RawRnnOptions& options) {
  const VariableScope scope(options.scope.empty() ? "rnn" : options.scope);
  const Tensor zero = Constant(0, "time");
  const RawRnnNext start = loop_fn(zero, {}, {}, {});
  Graph& graph = GraphFor({zero});
  const size_t first_loop_state = kStepState + start.next_cell_state.Flatten().size();
  const Tensor &finished = start.elements_finished, &input = start.next_input;
  const int64_t max_steps = options.maximum_iterations.value_or(0);
  if (max_steps <= 0) {
    graph.Fail(
        InvalidArgument("RawRnn: maximum_iterations must be given and positive, because shapes are "
                        "static; give the number of time steps of the longest example"));
  } else if (!finished.valid() || !input.valid() || input.rank() == 0 ||
             !(finished.spec() == TensorSpec{DType::kBool, {input.dim(0)}})) {
    graph.Fail(InvalidArgument(
        "RawRnn: loop_fn must return elements_finished bool [N] and next_input [N, ...], got ",
        finished.spec().ToString(), " and ", input.spec().ToString()));
  }
  // The number of outputs is known after the body has been built.
  size_t num_emitted = 0;
  const auto body = [&](const Tensors& v, const Tensors&) {
    const State state = start.next_cell_state.Restored(v, kStepState);
    const auto [cell_output, cell_state] = cell(v[kStepInput], state);
    const Tensor next_time = v[kStepTime] + 1;
    const RawRnnNext next =
        loop_fn(next_time, cell_output, cell_state,
                Tensors(v.begin() + static_cast<int64_t>(first_loop_state), v.end()));
    if (next.next_loop_state.size() != start.next_loop_state.size()) {
      Graph::Current().Fail(InvalidArgument("RawRnn: loop_fn returns ", next.next_loop_state.size(),
                                            " tensors of next_loop_state after ",
                                            start.next_loop_state.size(), " in its first call"));
    }
    const State kept =
        state.Zip(next.next_cell_state, [&](const Tensor& old_part, const Tensor& part) {
          return UnlessFinished(v[kStepFinished], part, old_part);
        });
    Tensors results = JoinVariables(
        {next_time, LogicalOr(v[kStepFinished], next.elements_finished), next.next_input}, kept,
        next.next_loop_state);
    num_emitted = next.emit_output.size();
    for (const Tensor& emitted : next.emit_output)
      results.push_back(UnlessFinished(v[kStepFinished], emitted, 0));
    return results;
  };
  const Tensor invalid(&graph, nullptr, 0);
  Tensors last;
  if (graph.status().ok()) {
    last =
        AddLoop({.name = "while",
                 .trips = Constant(max_steps, "maximum_iterations"),
                 .cond = [](const Tensors& v) { return LogicalNot(ReduceAll(v[kStepFinished])); },
                 .body = body,
                 .carried = JoinVariables({zero, finished, input}, start.next_cell_state,
                                          start.next_loop_state),
                 .capacity = max_steps});
  }
  if (last.empty()) {
    graph.Fail(InvalidArgument("RawRnn: loop_fn must return a state in its first call"));
    return {{TensorArray(invalid)}, start.next_cell_state, start.next_loop_state};
  }
  RawRnnResult result;
  result.state = start.next_cell_state.Restored(last, kStepState);
  const auto loop_state = last.begin() + static_cast<int64_t>(first_loop_state);
  const auto emitted = last.end() - static_cast<int64_t>(num_emitted);
  result.loop_state = Tensors(loop_state, emitted);
  result.emit_ta = std::vector<TensorArray>(emitted, last.end());
  return result;
}

}  // namespace estimator
