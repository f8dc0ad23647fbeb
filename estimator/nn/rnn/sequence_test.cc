// DynamicRnn by one op for all time steps equals the unrolled network, forward and backward.
#include <optional>
#include <string>
#include <vector>

#include "estimator/array/compare.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/gradients.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/nn/rnn/rnn.h"
#include "estimator/nn/testing/step.h"
#include "estimator/ops/activations.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/reduction.h"
#include "estimator/ops/testing/eval.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using rnn_cell::BasicLSTMCell;
using rnn_cell::BasicRNNCell;
using rnn_cell::Cell;
using rnn_cell::DropoutWrapper;
using rnn_cell::GRUCell;
using rnn_cell::LSTMCell;
using rnn_cell::LSTMStateTuple;
using rnn_cell::MultiRNNCell;
using rnn_cell::State;
using testing::Scrambled;

// The same sums in another order.
constexpr Tolerance kRounding{.relative = 1e-5, .absolute = 1e-5};

bool HasOp(const Graph& graph, const char* op) {
  for (const auto& node : graph.nodes()) {
    if (node->op() == op) return true;
  }
  return false;
}

// f32 [5, 4, 3]: five sequences of four time steps.
Tensor Sequences() { return Constant(Scrambled({5, 4, 3}, -1, 1, DType::kFloat32), "sequences"); }
// Of no time step, of some, of all, and more than there are.
Tensor Lengths() { return Constant({0, 2, 4, 3, 9}); }

// The outputs, the last state, and the gradients of a weighted sum of both.
std::vector<Tensor> Everything(const DynamicRnnResult& result, std::vector<Tensor> xs) {
  std::vector<Tensor> all = {result.outputs}, sums;
  for (const Tensor& part : result.state.Flatten()) all.push_back(part);
  for (const Tensor& tensor : all) {
    const Tensor weights = Constant(Scrambled(tensor.shape(), -1, 2, DType::kFloat32));
    sums.push_back(ReduceSum(tensor * weights));
  }
  for (const Variable& variable : result.outputs.graph()->TrainableVariables())
    xs.push_back(variable.read());
  for (const Tensor& gradient : Gradients(sums, xs)) all.push_back(gradient);
  return all;
}

// Compares the two forms of a network in one graph, with the same variables.
void ExpectSame(const Cell& cell, DynamicRnnOptions options, const char* op) {
  const Tensor x = Sequences();
  std::vector<Tensor> xs = {x};
  if (options.initial_state) {
    for (const Tensor& part : options.initial_state->Flatten()) xs.push_back(part);
  }
  options.unroll = true;
  const std::vector<Tensor> unrolled = Everything(DynamicRnn(cell, x, options), xs);
  Graph& graph = *x.graph();
  EXPECT_FALSE(HasOp(graph, op));
  const size_t num_variables = graph.variables().size();
  options.unroll = false;
  const std::vector<Tensor> together = Everything(DynamicRnn(cell, x, options), xs);
  EST_ASSERT_OK(graph.status());
  EXPECT_TRUE(HasOp(graph, op));
  EXPECT_EQ(graph.variables().size(), num_variables);
  ASSERT_EQ(together.size(), unrolled.size());
  std::vector<Tensor> fetches = unrolled;
  fetches.insert(fetches.end(), together.begin(), together.end());
  for (const KernelTier tier : {KernelTier::kReference, KernelTier::kNative}) {
    const auto values = testing::EvalAll(fetches, {}, {}, tier);
    EST_ASSERT_OK(values);
    for (size_t i = 0; i < unrolled.size(); ++i) {
      EXPECT_EQ(Compare((*values)[unrolled.size() + i], (*values)[i], kRounding).report, "") << i;
    }
  }
}

Tensor Part(int64_t units, double low) {
  return Constant(Scrambled({5, units}, low, low + 1, DType::kFloat32));
}

using RnnSequence = GraphTest;

TEST_F(RnnSequence, OfAnLstmEqualsTheUnrolledOne) {
  ExpectSame(LSTMCell(3, {.forget_bias = 0.5}), {}, "BlockLSTM");
}

TEST_F(RnnSequence, OfABasicLstmWithLengthsEqualsTheUnrolledOne) {
  ExpectSame(BasicLSTMCell(7), {.sequence_length = Lengths()}, "BlockLSTM");
}

TEST_F(RnnSequence, OfAnLstmWithLengthsAndAFirstStateEqualsTheUnrolledOne) {
  ExpectSame(LSTMCell(2),
             {.sequence_length = Lengths(),
              .initial_state = State(LSTMStateTuple{Part(2, -0.3), Part(2, -0.8)})},
             "BlockLSTM");
}

TEST_F(RnnSequence, OfAGruWithLengthsAndAFirstStateEqualsTheUnrolledOne) {
  ExpectSame(GRUCell(5), {.sequence_length = Lengths(), .initial_state = State(Part(5, -0.3))},
             "_BlockGRU");
}

TEST_F(RnnSequence, OfAStackInTimeMajorOrderEqualsTheUnrolledOne) {
  // The batch is 4 and there are five time steps.
  ExpectSame(MultiRNNCell({GRUCell(5), LSTMCell(4)}),
             {.sequence_length = Constant({0, 5, 2, 1}), .time_major = true}, "BlockLSTM");
  EXPECT_TRUE(HasOp(graph_, "_BlockGRU"));
}

// Cells without an op are one loop.
TEST_F(RnnSequence, OfALoopEqualsTheUnrolledOne) { ExpectSame(BasicRNNCell(3), {}, "While"); }

TEST_F(RnnSequence, OfALoopWithLengthsAndAFirstStateEqualsTheUnrolledOne) {
  ExpectSame(LSTMCell(2, {.use_peepholes = true}),
             {.sequence_length = Lengths(),
              .initial_state = State(LSTMStateTuple{Part(2, -0.3), Part(2, -0.8)})},
             "While");
}

TEST_F(RnnSequence, OfALoopInTimeMajorOrderEqualsTheUnrolledOne) {
  ExpectSame(MultiRNNCell({BasicRNNCell(5), LSTMCell(4)}),
             {.sequence_length = Constant({0, 5, 2, 1}), .time_major = true}, "While");
}

// A loop is chosen where the unrolled graph would be large.
TEST_F(RnnSequence, ManyTimeStepsOfACellWithoutAnOpAreALoop) {
  const auto uses_loop = [&](int64_t num_steps) {
    Graph graph;
    const GraphScope scope(graph);
    DynamicRnn(BasicRNNCell(2), Zeros({1, num_steps, 2}));
    EXPECT_EQ(graph.status().ToString(), "OK");
    return HasOp(graph, "While");
  };
  EXPECT_FALSE(uses_loop(128));
  EXPECT_TRUE(uses_loop(129));
}

TEST_F(RnnSequence, HasTheVariablesOfTheUnrolledNetwork) {
  DynamicRnn(MultiRNNCell({LSTMCell(2), GRUCell(3)}), Sequences());
  EXPECT_EQ(testing::VariableNames(graph_),
            (std::vector<std::string>{
                "rnn/multi_rnn_cell/cell_0/lstm_cell/kernel",
                "rnn/multi_rnn_cell/cell_0/lstm_cell/bias",
                "rnn/multi_rnn_cell/cell_1/gru_cell/gates/kernel",
                "rnn/multi_rnn_cell/cell_1/gru_cell/gates/bias",
                "rnn/multi_rnn_cell/cell_1/gru_cell/candidate/kernel",
                "rnn/multi_rnn_cell/cell_1/gru_cell/candidate/bias",
            }));
}

TEST_F(RnnSequence, IsUsedInBothDirections) {
  const auto [outputs, states] = BidirectionalDynamicRnn(GRUCell(2), LSTMCell(3), Sequences());
  EXPECT_EQ(outputs[0].node()->op(), "Transpose");
  EXPECT_TRUE(HasOp(graph_, "_BlockGRU"));
  EXPECT_TRUE(HasOp(graph_, "BlockLSTM"));
}

TEST_F(RnnSequence, IsNotUsedForCellsThatItDoesNotCompute) {
  const Tensor x = Sequences();
  DynamicRnn(LSTMCell(2, {.use_peepholes = true}), x, {.scope = "a"});
  DynamicRnn(LSTMCell(2, {.cell_clip = 1}), x, {.scope = "b"});
  DynamicRnn(LSTMCell(2, {.num_proj = 3}), x, {.scope = "c"});
  DynamicRnn(BasicLSTMCell(2, {.activation = Relu}), x, {.scope = "d"});
  DynamicRnn(GRUCell(2, {.activation = Relu}), x, {.scope = "e"});
  DynamicRnn(MultiRNNCell({GRUCell(2), DropoutWrapper(GRUCell(2), {.input_keep_prob = 0.5})}), x,
             {.scope = "f"});
  DynamicRnn(GRUCell(2), Cast(x, DType::kBfloat16), {.scope = "g"});
  EST_ASSERT_OK(graph_.status());
  EXPECT_FALSE(HasOp(graph_, "BlockLSTM"));
  EXPECT_FALSE(HasOp(graph_, "_BlockGRU"));
}

TEST_F(RnnSequence, RefusesAStateOfAnotherSize) {
  DynamicRnn(GRUCell(3), Sequences(), {.initial_state = State(Zeros({5, 2}))});
  EXPECT_THAT(graph_.status(), ErrorHas("gru_cell: the state"));
}

}  // namespace
}  // namespace estimator
