#include "estimator/nn/seq2seq/decoder.h"

#include <algorithm>
#include <vector>

#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/variable.h"
#include "estimator/nn/rnn/batch_time.h"
#include "estimator/ops/building/loop.h"
#include "estimator/ops/comparison.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/manipulation.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/reduction.h"
#include "estimator/ops/select.h"
#include "estimator/ops/shape_ops.h"

namespace estimator::seq2seq {
namespace {

using rnn_cell::State;

// The loop variables: these, and then the tensors of the state.
enum LoopVariable { kTime, kInputs, kFinished, kLengths, kState };

std::optional<int64_t> NumSteps(const Decoder& decoder, const DynamicDecodeOptions& options) {
  const std::optional<int64_t> known = decoder.num_steps();
  if (!known || !options.maximum_iterations) return known ? known : options.maximum_iterations;
  return std::min(*known, *options.maximum_iterations);
}

}  // namespace

DynamicDecodeResult<Tensors> DynamicDecode(const Decoder& decoder,
                                           const DynamicDecodeOptions& options) {
  const VariableScope scope(options.scope.empty() ? VariableScope::UniqueDefaultName("decoder")
                                                  : options.scope);
  const DecoderStart start = decoder.Initialize();
  Tensors carried = {Constant(0, "time"), start.inputs, start.finished, {}};
  Graph& graph = GraphFor({start.inputs});
  const auto invalid = [&] {
    const Tensor none(&graph, nullptr, 0);
    return DynamicDecodeResult<Tensors>{{none, none, none, none}, start.state, none};
  };
  const std::optional<int64_t> num_steps = NumSteps(decoder, options);
  const bool counts = !decoder.Lengths(start.state).valid();
  if (!num_steps.has_value() || *num_steps <= 0) {
    graph.Fail(InvalidArgument(
        "DynamicDecode: maximum_iterations must be given and positive, because shapes are "
        "static; give the longest output that you want"));
  } else if (options.impute_finished && !counts) {
    graph.Fail(
        InvalidArgument("DynamicDecode: impute_finished does not go with a beam search, "
                        "whose beams keep their own ends; leave it out"));
  }
  if (!start.finished.valid() || !start.inputs.valid() || !graph.status().ok()) return invalid();
  carried[kLengths] = Zeros(start.finished.shape(), DType::kInt32);
  for (const Tensor& part : start.state.Flatten()) carried.push_back(part);

  const auto body = [&](const Tensors& v, const Tensors&) {
    const State state = start.state.Restored(v, kState);
    DecoderStep step = decoder.Step(v[kTime], v[kInputs], state);
    const Tensor& finished = v[kFinished];
    if (options.impute_finished) {
      for (Tensor& output : step.outputs) output = UnlessFinished(finished, output, 0);
      step.state = state.Zip(step.state, [&](const Tensor& old_part, const Tensor& part) {
        return UnlessFinished(finished, part, old_part);
      });
    }
    const Tensor next = v[kTime] + 1;
    Tensors results = {next, step.inputs, step.finished, {}};
    if (counts) {
      results[kFinished] = LogicalOr(finished, step.finished);
      results[kLengths] = Where(finished, v[kLengths], next);
    } else {
      results[kLengths] = decoder.Lengths(step.state);
    }
    // Zip checks the structure.
    for (const Tensor& part :
         state.Zip(step.state, [](const Tensor&, const Tensor& part) { return part; }).Flatten())
      results.push_back(part);
    results.insert(results.end(), step.outputs.begin(), step.outputs.end());
    return results;
  };
  Tensors last =
      AddLoop({.name = "while",
               .trips = Constant(*num_steps, "maximum_iterations"),
               .cond = [](const Tensors& v) { return LogicalNot(ReduceAll(v[kFinished])); },
               .body = body,
               .carried = carried,
               .capacity = *num_steps});
  if (last.empty()) return invalid();
  const State last_state = start.state.Restored(last, kState);
  Tensors outputs(last.begin() + static_cast<int64_t>(carried.size()), last.end());
  outputs = decoder.Finalize(outputs, last_state);
  if (!options.output_time_major) {
    for (Tensor& output : outputs) output = TransposeBatchTime(output);
  }
  return {outputs, last_state, last[kLengths]};
}

DecoderStart BasicDecoder::Initialize() const {
  const auto [finished, inputs] = helper_->Initialize();
  return {finished, inputs, initial_state_};
}

DecoderStep BasicDecoder::Step(const Tensor& time, const Tensor& inputs, const State& state) const {
  auto [outputs, next_state] = cell_(inputs, state);
  if (output_layer_) outputs = output_layer_(outputs);
  const Tensor sample_ids = helper_->Sample(time, outputs, next_state);
  const auto [finished, next_inputs] = helper_->NextInputs(time, outputs, next_state, sample_ids);
  return {{outputs, sample_ids}, next_state, next_inputs, finished};
}

DynamicDecodeResult<BasicDecoderOutput> DynamicDecode(const BasicDecoder& decoder,
                                                      const DynamicDecodeOptions& options) {
  auto [outputs, state, lengths] = DynamicDecode(static_cast<const Decoder&>(decoder), options);
  return {{outputs[0], outputs[1]}, state, lengths};
}

}  // namespace estimator::seq2seq
