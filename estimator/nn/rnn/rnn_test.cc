// Recurrent networks: names of variables and ops as TF 2.15 gives them, lengths, sharing, errors.
// The numbers are checked by tools/replay/cases, against TensorFlow's training runs.
#include "estimator/nn/rnn/rnn.h"

#include <optional>
#include <string>
#include <vector>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/nn/initializers.h"
#include "estimator/nn/layers/dense.h"
#include "estimator/nn/testing/step.h"
#include "estimator/ops/activations.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/manipulation.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/matmul.h"
#include "estimator/ops/reduction.h"
#include "estimator/ops/slicing.h"
#include "estimator/ops/testing/eval.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using rnn_cell::BasicLSTMCell;
using rnn_cell::BasicRNNCell;
using rnn_cell::DropoutWrapper;
using rnn_cell::GRUCell;
using rnn_cell::LSTMCell;
using rnn_cell::LSTMStateTuple;
using rnn_cell::MultiRNNCell;
using rnn_cell::ResidualWrapper;
using testing::ExpectError;
using testing::ExpectNear;
using testing::Stepper;
using testing::VariableNames;
using Names = std::vector<std::string>;

class Rnn : public GraphTest {
 protected:
  // f32 [2, 3, 4]: two sequences of three time steps.
  Tensor Sequences() {
    return Constant(testing::Scrambled({2, 3, 4}, -1, 1, DType::kFloat32), "sequences");
  }
  Array Eval(const Tensor& x) { return stepper_.Eval(x); }
  std::vector<double> Values(const Tensor& x) { return testing::Doubles(Eval(x)); }
  bool HasNode(const char* name) { return graph_.FindNode(name) != nullptr; }

  Stepper stepper_{graph_};
};

TEST_F(Rnn, CellsHaveTensorFlowsVariables) {
  const Tensor x = Sequences();
  DynamicRnn(BasicRNNCell(5), x, {.scope = "a"});
  DynamicRnn(GRUCell(5), x, {.scope = "b"});
  DynamicRnn(BasicLSTMCell(5), x);
  DynamicRnn(LSTMCell(5, {.use_peepholes = true, .num_proj = 3}), x, {.scope = "c"});
  EST_ASSERT_OK(graph_.status());
  EXPECT_EQ(
      VariableNames(graph_),
      (Names{"a/basic_rnn_cell/kernel", "a/basic_rnn_cell/bias", "b/gru_cell/gates/kernel",
             "b/gru_cell/gates/bias", "b/gru_cell/candidate/kernel", "b/gru_cell/candidate/bias",
             "rnn/basic_lstm_cell/kernel", "rnn/basic_lstm_cell/bias", "c/lstm_cell/kernel",
             "c/lstm_cell/bias", "c/lstm_cell/w_f_diag", "c/lstm_cell/w_i_diag",
             "c/lstm_cell/w_o_diag", "c/lstm_cell/projection/kernel"}));
  EXPECT_EQ(graph_.FindVariable("rnn/basic_lstm_cell/kernel")->shape(), (Shape{9, 20}));
  EXPECT_EQ(graph_.FindVariable("b/gru_cell/gates/kernel")->shape(), (Shape{9, 10}));
  EXPECT_EQ(graph_.FindVariable("c/lstm_cell/kernel")->shape(), (Shape{7, 20}));
  ExpectNear(Eval(*graph_.FindVariable("b/gru_cell/gates/bias")), std::vector<double>(10, 1));
}

TEST_F(Rnn, StackedAndBidirectionalCellsHaveTensorFlowsVariables) {
  const MultiRNNCell cells(
      {BasicLSTMCell(5), DropoutWrapper(GRUCell(3), {}), ResidualWrapper(BasicRNNCell(3))});
  const auto [outputs, state] = StaticRnn(cells, Unstack(Sequences(), 1));
  BidirectionalDynamicRnn(LSTMCell(2), LSTMCell(2), Sequences());
  EST_ASSERT_OK(graph_.status());
  EXPECT_EQ(
      VariableNames(graph_),
      (Names{"rnn/multi_rnn_cell/cell_0/basic_lstm_cell/kernel",
             "rnn/multi_rnn_cell/cell_0/basic_lstm_cell/bias",
             "rnn/multi_rnn_cell/cell_1/gru_cell/gates/kernel",
             "rnn/multi_rnn_cell/cell_1/gru_cell/gates/bias",
             "rnn/multi_rnn_cell/cell_1/gru_cell/candidate/kernel",
             "rnn/multi_rnn_cell/cell_1/gru_cell/candidate/bias",
             "rnn/multi_rnn_cell/cell_2/basic_rnn_cell/kernel",
             "rnn/multi_rnn_cell/cell_2/basic_rnn_cell/bias",
             "bidirectional_rnn/fw/lstm_cell/kernel", "bidirectional_rnn/fw/lstm_cell/bias",
             "bidirectional_rnn/bw/lstm_cell/kernel", "bidirectional_rnn/bw/lstm_cell/bias"}));
  EXPECT_TRUE(HasNode("rnn/rnn/multi_rnn_cell/cell_0/basic_lstm_cell/MatMul_2"));
  EXPECT_TRUE(HasNode("bidirectional_rnn/fw/fw/transpose_1"));
  EXPECT_EQ(outputs.size(), 3u);
  EXPECT_EQ(outputs[2].shape(), (Shape{2, 3}));
  EXPECT_EQ(state.size(), 3);
  EXPECT_EQ(state[0].c().shape(), (Shape{2, 5}));
  EXPECT_EQ(state[-1].tensor().shape(), (Shape{2, 3}));
}

// The names of TF 2.15 for the same calls.
TEST_F(Rnn, ASecondCellAtTheRootGetsANumberAndASecondCallOfTheFirstDoesNot) {
  const BasicLSTMCell first(5), second(5), named(5, {.name = "lstm"});
  const Tensor x = Unstack(Sequences(), 1)[0];
  const auto state = first.ZeroState(2);
  first(x, state);
  second(x, state);
  const BasicLSTMCell copy = first;
  copy(x, state);
  named(x, state);
  EST_ASSERT_OK(graph_.status());
  EXPECT_EQ(VariableNames(graph_),
            (Names{"basic_lstm_cell/kernel", "basic_lstm_cell/bias", "basic_lstm_cell_1/kernel",
                   "basic_lstm_cell_1/bias", "lstm/kernel", "lstm/bias"}));
  EXPECT_TRUE(HasNode("basic_lstm_cell/MatMul_1"));
}

TEST_F(Rnn, OneCellInTwoNetworksSharesItsWeights) {
  const GRUCell cell(4);
  {
    const VariableScope a("a");
    DynamicRnn(cell, Sequences());
  }
  {
    const VariableScope b("b");
    DynamicRnn(cell, Sequences());
  }
  EST_ASSERT_OK(graph_.status());
  EXPECT_EQ(graph_.variables().size(), 4u);
  EXPECT_EQ(graph_.variables()[0].name(), "a/rnn/gru_cell/gates/kernel");
}

TEST_F(Rnn, TwoCellsInOneScopeAreARepeatedNameAndShareUnderReuse) {
  DynamicRnn(GRUCell(4), Sequences());
  {
    const VariableScope shared(GetVariableScope(), {.reuse = Reuse::kTrue});
    DynamicRnn(GRUCell(4), Sequences());
  }
  EST_ASSERT_OK(graph_.status());
  EXPECT_EQ(graph_.variables().size(), 4u);
  DynamicRnn(GRUCell(4), Sequences());
  ExpectError(graph_, {"rnn/gru_cell/gates/kernel", "already exists"});
}

TEST_F(Rnn, ACellThatOutlivesItsGraphCreatesItsVariablesInTheNextOne) {
  const BasicRNNCell cell(4);
  for (int i = 0; i < 2; ++i) {
    Graph graph;
    const GraphScope scope(graph);
    DynamicRnn(cell, Zeros({2, 3, 4}));
    EST_ASSERT_OK(graph.status());
    EXPECT_EQ(VariableNames(graph),
              (Names{"rnn/basic_rnn_cell/kernel", "rnn/basic_rnn_cell/bias"}));
  }
}

TEST_F(Rnn, AfterItsLengthTheOutputIsZeroAndTheStateStays) {
  const LSTMCell cell(2);
  const Tensor x = Sequences();
  const DynamicRnnResult whole = DynamicRnn(cell, x);
  const DynamicRnnResult some = DynamicRnn(cell, x, {.sequence_length = Constant({0, 2})});
  EST_ASSERT_OK(graph_.status());
  const std::vector<double> all = Values(whole.outputs);
  std::vector<double> expected(12, 0);  // [2, 3, 2]
  for (int i = 6; i < 10; ++i) expected[i] = all[i];
  ExpectNear(Eval(some.outputs), expected);
  ExpectNear(Eval(some.state.h()), {0, 0, all[8], all[9]});
  const std::vector<double> c = Values(some.state.c());
  EXPECT_EQ(c[0], 0);
  EXPECT_NE(c[2], Values(whole.state.c())[2]);
}

TEST_F(Rnn, StaticAndDynamicTimeMajorAndBatchMajorAreTheSame) {
  const MultiRNNCell cell({GRUCell(3), LSTMCell(2)});
  const Tensor x = Sequences(), lengths = Constant(std::vector<int64_t>{3, 1});
  const DynamicRnnResult a = DynamicRnn(cell, x, {.sequence_length = lengths, .unroll = true});
  const DynamicRnnResult b =
      DynamicRnn(cell, Transpose(x, {1, 0, 2}),
                 {.sequence_length = lengths, .time_major = true, .unroll = true});
  const StaticRnnResult c = StaticRnn(cell, Unstack(x, 1), {.sequence_length = lengths});
  EST_ASSERT_OK(graph_.status());
  EXPECT_EQ(a.outputs.shape(), (Shape{2, 3, 2}));
  const std::vector<double> expected = Values(a.outputs);
  ExpectNear(Eval(Transpose(b.outputs, {1, 0, 2})), expected, 0);
  ExpectNear(Eval(Stack(c.outputs, 1)), expected, 0);
  ExpectNear(Eval(c.state[1].c()), Values(a.state[1].c()), 0);
}

TEST_F(Rnn, TheBackwardCellReadsEachSequenceFromItsEnd) {
  const GRUCell fw(3), bw(3);
  const Tensor x = Sequences(), lengths = Constant({3, 2});
  const auto [outputs, states] =
      BidirectionalDynamicRnn(fw, bw, x, {.sequence_length = lengths, .time_major = false});
  const Tensor second = Slice(x, {1, 0, 0}, {1, 2, 4});
  const Tensor reversed = DynamicRnn(bw, Reverse(second, {1})).outputs;
  const StaticBidirectionalRnnResult unrolled = StaticBidirectionalRnn(
      fw, bw, Unstack(x, 1), {.sequence_length = lengths, .scope = "static"});
  const auto whole = StaticBidirectionalRnn(fw, bw, Unstack(x, 1), {.scope = "whole"});
  EST_ASSERT_OK(graph_.status());
  ExpectNear(Eval(Slice(outputs[1], {1, 0, 0}, {1, 2, 3})), Values(Reverse(reversed, {1})));
  ExpectNear(Eval(Slice(outputs[1], {1, 2, 0}, {1, 1, 3})), {0, 0, 0});
  ExpectNear(Eval(Stack(unrolled.outputs, 1)), Values(Concat(outputs, 2)));
  ExpectNear(Eval(unrolled.state_bw), Values(states[1]));
  ExpectNear(Eval(Slice(whole.outputs[1], {0, 0}, {1, 6})),
             Values(Slice(Concat(outputs, 2), {0, 1, 0}, {1, 1, 6})));
}

TEST_F(Rnn, AnInitialStateReplacesZeros) {
  const BasicLSTMCell cell(2);
  const Tensor x = Sequences(), c = Ones({2, 2}), h = Zeros({2, 2});
  const auto result = DynamicRnn(
      cell, x, {.sequence_length = Constant({0, 3}), .initial_state = LSTMStateTuple{c, h}});
  EST_ASSERT_OK(graph_.status());
  const std::vector<double> last = Values(result.state.c());
  EXPECT_EQ(last[0], 1);
  EXPECT_NE(last[2], 1);
}

TEST_F(Rnn, GradientsAreThoseOfFiniteDifferences) {
  const Array x = testing::Scrambled({3, 3, 2}, -1, 1);
  const Array kernel = testing::Scrambled({4, 8}, -0.8, 0.8);
  const auto run = [&](const std::vector<Tensor>& in) {
    // The weights are an input of the function.
    class Cell : public rnn_cell::RNNCell {
     public:
      explicit Cell(Tensor kernel) : RNNCell("cell"), kernel_(kernel) {}
      int64_t output_size() const override { return 2; }
      rnn_cell::State ZeroState(int64_t n, DType dtype) const override {
        return LSTMStateTuple{Zeros({n, 2}, dtype), Zeros({n, 2}, dtype)};
      }

     protected:
      rnn_cell::CellOutput Call(const Tensor& x, const rnn_cell::State& state) const override {
        const auto gates = Split(MatMul(Concat({x, state.h()}, 1), kernel_), 4, {.axis = 1});
        const Tensor c = state.c() * Sigmoid(gates[0]) + Sigmoid(gates[1]) * Tanh(gates[2]);
        const Tensor h = Tanh(c) * Sigmoid(gates[3]);
        return {h, LSTMStateTuple{c, h}};
      }

     private:
      Tensor kernel_;
    };
    const auto [outputs, states] = BidirectionalDynamicRnn(
        Cell(in[1]), Cell(in[1]), in[0], {.sequence_length = Constant({0, 2, 3})});
    return Concat({ReduceSum(Concat(outputs, 2), {1}), states[0].c(), states[1].h()}, 1);
  };
  EST_EXPECT_OK(testing::CheckGradients(run, {x, kernel}));
}

TEST_F(Rnn, DropoutKeepsTheMemoryOfAnLstmAndDrawsAnewInEachTimeStep) {
  const BasicLSTMCell cell(50, {.activation = [](const Tensor& x) { return 0 * x + 1; }});
  const DropoutWrapper wrapped(cell, {.output_keep_prob = 0.5, .state_keep_prob = 0.5, .seed = 3});
  const auto [outputs, state] = DynamicRnn(wrapped, Zeros({1, 2, 1}));
  EST_ASSERT_OK(graph_.status());
  // The output is Sigmoid(o) = 0.5 at first: dropped, or 1.
  const std::vector<double> h = Values(outputs);
  int kept = 0, different = 0;
  for (int i = 0; i < 50; ++i) {
    kept += h[i] != 0;
    different += (h[i] != 0) != (h[50 + i] != 0);
  }
  EXPECT_GT(kept, 10);
  EXPECT_LT(kept, 40);
  EXPECT_GT(different, 10);
  int dropped = 0;
  for (const double x : Values(state.h())) dropped += x == 0;
  EXPECT_GT(dropped, 10);
  for (const double x : Values(state.c())) EXPECT_NE(x, 0);
}

TEST_F(Rnn, VariationalDropoutDropsTheSameInEachTimeStepWithAndWithoutSeed) {
  for (const std::optional<int64_t> seed : {std::optional<int64_t>(), std::optional<int64_t>(5)}) {
    const VariableScope scope(seed ? "seed" : "none");
    const DropoutWrapper cell(
        BasicRNNCell(40, {.activation = [](const Tensor& x) { return 0 * x + 1; }}),
        {.output_keep_prob = 0.5, .variational_recurrent = true, .seed = seed});
    const std::vector<double> h = Values(DynamicRnn(cell, Zeros({1, 2, 1})).outputs);
    EST_ASSERT_OK(graph_.status());
    int kept = 0;
    for (int i = 0; i < 40; ++i) {
      EXPECT_EQ(h[i], h[40 + i]);
      kept += h[i] == 2;
    }
    EXPECT_GT(kept, 8);
    EXPECT_LT(kept, 32);
  }
}

TEST_F(Rnn, ACellOfOnesOwnUsesLayersAndHasItsOwnScope) {
  class MyCell : public rnn_cell::RNNCell {
   public:
    MyCell() : RNNCell("my_cell") {}
    int64_t output_size() const override { return 2; }
    rnn_cell::State ZeroState(int64_t n, DType dtype) const override {
      return Zeros({n, 2}, dtype);
    }

   protected:
    rnn_cell::CellOutput Call(const Tensor& x, const rnn_cell::State& state) const override {
      const Tensor h = layers::Dense(Concat({x, state}, 1), {.units = 2});
      return {h, h};
    }
  };
  DynamicRnn(MyCell(), Sequences());
  EST_ASSERT_OK(graph_.status());
  EXPECT_EQ(VariableNames(graph_), (Names{"rnn/my_cell/dense/kernel", "rnn/my_cell/dense/bias"}));
}

TEST_F(Rnn, BfloatInputsHaveFloatWeights) {
  const auto result = DynamicRnn(BasicLSTMCell(3), Zeros({2, 3, 4}, DType::kBfloat16),
                                 {.sequence_length = Constant({1, 3})});
  EST_ASSERT_OK(graph_.status());
  EXPECT_EQ(result.outputs.dtype(), DType::kBfloat16);
  EXPECT_EQ(graph_.variables()[0].dtype(), DType::kFloat32);
}

class RnnErrors : public Rnn {};

TEST_F(RnnErrors, LengthsOfAnotherBatchAreRefused) {
  DynamicRnn(GRUCell(2), Sequences(), {.sequence_length = Constant({1, 2, 3})});
  ExpectError(graph_, {"'rnn/sequence_length:0' is i32 [3]", "must be [2]"});
}

TEST_F(RnnErrors, InputsWithoutATimeAxisAreRefused) {
  DynamicRnn(GRUCell(2), Zeros({2, 3}));
  ExpectError(graph_, {"rnn: ", "f32 [2,3], but must be [N, T, C]"});
}

TEST_F(RnnErrors, NoTimeStepsAreRefused) {
  DynamicRnn(GRUCell(2), Zeros({2, 0, 3}));
  ExpectError(graph_, {"no time steps"});
}

TEST_F(RnnErrors, AStateOfAnotherSizeOrKindIsRefused) {
  DynamicRnn(BasicLSTMCell(2), Sequences(),
             {.initial_state = LSTMStateTuple{Zeros({2, 3}), Zeros({2, 2})}});
  ExpectError(graph_, {"basic_lstm_cell: the state", "f32 [2,3], but must be f32 [2,2]"});
}

TEST_F(RnnErrors, TheStateOfAGruHasNoH) {
  const Tensor h = DynamicRnn(GRUCell(2), Sequences()).state.h();
  EXPECT_FALSE(h.valid());
  ExpectError(graph_, {"not an LSTM's, with c and h; it is f32 [2,2]"});
}

TEST_F(RnnErrors, AResidualOfAnotherSizeIsRefused) {
  DynamicRnn(ResidualWrapper(GRUCell(3)), Sequences());
  ExpectError(graph_, {"ResidualWrapper", "f32 [2,4]", "f32 [2,3]", "residual_fn"});
}

TEST_F(RnnErrors, AKeepProbabilityOfZeroIsRefused) {
  DynamicRnn(DropoutWrapper(GRUCell(3), {.input_keep_prob = 0}), Sequences());
  ExpectError(graph_, {"input_keep_prob must be in (0, 1], but it is 0"});
}

TEST_F(RnnErrors, AStackWithoutCellsIsRefused) {
  DynamicRnn(MultiRNNCell({}), Sequences());
  ExpectError(graph_, {"at least one cell"});
}

}  // namespace
}  // namespace estimator
