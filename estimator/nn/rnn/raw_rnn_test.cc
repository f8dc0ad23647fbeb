#include "estimator/nn/rnn/raw_rnn.h"

#include <vector>

#include "estimator/array/compare.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/gradients.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/nn/initializers.h"
#include "estimator/nn/rnn/rnn.h"
#include "estimator/nn/testing/step.h"
#include "estimator/ops/comparison.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/gather.h"
#include "estimator/ops/manipulation.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/reduction.h"
#include "estimator/ops/testing/eval.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using rnn_cell::BasicLSTMCell;
using rnn_cell::BasicRNNCell;
using rnn_cell::State;
using testing::ErrorOf;
using ::testing::HasSubstr;
using testing::Scrambled;

using RawRnnTest = GraphTest;

// The outputs [T, N, ...], the last state, and the gradients of a weighted sum of both.
Tensors Everything(const Tensor& outputs, const State& state, const Tensors& xs) {
  Tensors all = {outputs}, sums;
  for (const Tensor& part : state.Flatten()) all.push_back(part);
  for (const Tensor& tensor : all) {
    const Tensor weights = Constant(Scrambled(tensor.shape(), -1, 2, DType::kFloat32));
    sums.push_back(ReduceSum(tensor * weights));
  }
  for (const Tensor& gradient : Gradients(sums, xs)) all.push_back(gradient);
  return all;
}

// The loop_fn of the documentation of tf.compat.v1.nn.raw_rnn computes what dynamic_rnn does.
TEST_F(RawRnnTest, OverTheRowsOfAnInputEqualsTheUnrolledNetwork) {
  constexpr int64_t kSteps = 4, kBatch = 5;
  const Tensor inputs = Constant(Scrambled({kSteps, kBatch, 3}, -1, 1, DType::kFloat32));
  const Tensor lengths = Constant({0, 2, 4, 3, 1});
  const BasicLSTMCell cell(6);
  const auto unrolled =
      DynamicRnn(cell, inputs, {.sequence_length = lengths, .time_major = true, .unroll = true});
  const auto loop_fn = [&](const Tensor& time, const Tensor& cell_output, const State& cell_state,
                           const Tensors&) {
    return RawRnnNext{.elements_finished = GreaterEqual(time, lengths),
                      .next_input = Gather(inputs, Minimum(time, static_cast<int32_t>(kSteps - 1))),
                      .next_cell_state = cell_output.valid() ? cell_state : cell.ZeroState(kBatch),
                      .emit_output = {cell_output}};
  };
  // The loop ends after four time steps.
  const auto [emit_ta, state, loop_state] = RawRnn(cell, loop_fn, {.maximum_iterations = 7});
  ASSERT_EQ(graph_.status().ToString(), "OK");
  ASSERT_EQ(emit_ta.size(), 1u);
  EXPECT_EQ(emit_ta[0].size(), 7);
  EXPECT_TRUE(loop_state.empty());
  EXPECT_EQ(testing::VariableNames(graph_),
            (std::vector<std::string>{"rnn/basic_lstm_cell/kernel", "rnn/basic_lstm_cell/bias"}));
  Tensors xs = {inputs};
  for (const Variable& variable : graph_.TrainableVariables()) xs.push_back(variable.read());
  const std::vector<Tensor> parts = Split(emit_ta[0].Stack(), std::vector<int64_t>{kSteps, 3});
  Tensors fetches = Everything(unrolled.outputs, unrolled.state, xs);
  const size_t num_values = fetches.size();
  for (const Tensor& tensor : Everything(parts[0], state, xs)) fetches.push_back(tensor);
  fetches.push_back(parts[1]);
  const auto values = testing::EvalAll(fetches);
  EST_ASSERT_OK(values);
  for (size_t i = 0; i < num_values; ++i) {
    EXPECT_EQ(Compare((*values)[num_values + i], (*values)[i], {.relative = 1e-5, .absolute = 1e-6})
                  .report,
              "")
        << i;
  }
  for (const double value : testing::Doubles(values->back())) EXPECT_EQ(value, 0);
}

// The function feeds the output back, decays the state, and adds the outputs up.
RawRnnResult Feedback(const RawRnnOptions& options) {
  const VariableScope scope("net", {.initializer = initializers::Constant(0.3)});
  const BasicRNNCell cell(2);
  const auto loop_fn = [&](const Tensor& time, const Tensor& cell_output, const State& cell_state,
                           const Tensors& loop_state) {
    RawRnnNext next{.elements_finished = GreaterEqual(time, Constant({3, 1}))};
    if (!cell_output.valid()) {
      next.next_input = Constant({2, 2}, {1.0f, 2.0f, 3.0f, -1.0f});
      next.next_cell_state = cell.ZeroState(2);
      next.next_loop_state = {Constant(0.0f)};
      return next;
    }
    next.next_input = cell_output * 2 - 0.5;
    next.next_cell_state = cell_state.tensor() * 0.9;
    next.emit_output = {cell_output + 1};
    next.next_loop_state = {loop_state[0] + ReduceSum(cell_output)};
    return next;
  };
  return RawRnn(cell, loop_fn, options);
}

TEST_F(RawRnnTest, ComputesWhatTensorFlowDoes) {
  const RawRnnResult result = Feedback({.maximum_iterations = 4});
  ASSERT_EQ(graph_.status().ToString(), "OK");
  // TF 2.15 tf.compat.v1.nn.raw_rnn; its array has three elements.
  const auto values =
      testing::EvalAll({result.emit_ta[0].Stack(), result.state.tensor(), result.loop_state[0]});
  EST_ASSERT_OK(values);
  testing::ExpectNear((*values)[0], {1.7162979, 1.7162979, 1.5370495, 1.5370495, 1.7381300,
                                     1.7381300, 0, 0, 1.7549412, 1.7549412, 0, 0, 0, 0, 0, 0});
  testing::ExpectNear((*values)[1], {0.67944705, 0.67944705, 0.4833446, 0.4833446});
  testing::ExpectNear((*values)[2], {7.7762547}, 3e-6);
}

TEST_F(RawRnnTest, NeedsANumberOfTimeStepsAndTheTypesOfTheFirstCall) {
  EXPECT_THAT(ErrorOf([] { Feedback({}); }),
              HasSubstr("RawRnn: maximum_iterations must be given and positive"));
  const BasicRNNCell cell(2);
  const auto with = [&](const Tensor& finished) {
    return [&cell, finished](const Tensor&, const Tensor&, const State&, const Tensors&) {
      return RawRnnNext{.elements_finished = finished,
                        .next_input = Zeros({3, 2}),
                        .next_cell_state = cell.ZeroState(3)};
    };
  };
  EXPECT_THAT(ErrorOf([&] { RawRnn(cell, with(Constant(true)), {.maximum_iterations = 4}); }),
              HasSubstr("must return elements_finished bool [N] and next_input [N, ...], got bool "
                        "[] and f32 [3,2]"));
  EXPECT_THAT(ErrorOf([&] {
                RawRnn(cell,
                       [&](const Tensor& time, const Tensor& output, const State&, const Tensors&) {
                         RawRnnNext next{
                             .elements_finished = GreaterEqual(time, Zeros({3}, DType::kInt32)),
                             .next_input = Zeros({3, 2}),
                             .next_cell_state = cell.ZeroState(3)};
                         if (output.valid()) next.next_loop_state = {time};
                         return next;
                       },
                       {.maximum_iterations = 4});
              }),
              HasSubstr("loop_fn returns 1 tensors of next_loop_state after 0 in its first call"));
}

}  // namespace
}  // namespace estimator
