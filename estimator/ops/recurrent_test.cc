#include "estimator/ops/recurrent.h"

#include <cmath>
#include <vector>

#include "estimator/graph/gradients.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/testing/eval.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using testing::CheckGradients;
using ::testing::DoubleNear;
using testing::Doubles;
using testing::ErrorOf;
using ::testing::HasSubstr;
using ::testing::Pointwise;
using testing::Scrambled;
using Inputs = std::vector<Tensor>;

double SigmoidOf(double x) { return 1 / (1 + std::exp(-x)); }

class BlockLSTMTest : public GraphTest {};
class BlockGRUTest : public GraphTest {};

// Three time steps, two examples, one input, two units.
const std::vector<Array>& LstmOperands() {
  static const auto& operands = *new std::vector<Array>{
      Scrambled({3, 2, 1}, -1, 1), Scrambled({2, 2}, -1, 1), Scrambled({2, 2}, -0.5, 0.5),
      Scrambled({3, 8}, -1, 1), Scrambled({8}, -0.5, 1)};
  return operands;
}
const std::vector<Array>& GruOperands() {
  static const auto& operands = *new std::vector<Array>{
      Scrambled({3, 2, 1}, -1, 1), Scrambled({2, 2}, -1, 1), Scrambled({3, 4}, -1, 1),
      Scrambled({3, 2}, -1, 1),    Scrambled({4}, -0.5, 1),  Scrambled({2}, -0.5, 1)};
  return operands;
}

Inputs Constants(const std::vector<Array>& arrays) {
  Inputs inputs;
  for (const Array& array : arrays) inputs.push_back(Constant(array));
  return inputs;
}

TEST_F(BlockLSTMTest, FollowsTheFormulasOfTheCell) {
  // One unit and one input: x = 2, c = 0.5, h = -1. The columns of w are i, ci, f and o.
  const auto [cs, h] = BlockLSTM(
      Constant({1, 1, 1}, {2.0}), Constant({1, 1}, {0.5}), Constant({1, 1}, {-1.0}),
      Constant({2, 4}, {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8}), Constant({0.0, 0.1, 0.2, 0.3}),
      /*forget_bias=*/2);
  const double i = SigmoidOf(0.2 - 0.5), ci = std::tanh(0.4 - 0.6 + 0.1);
  const double f = SigmoidOf(0.6 - 0.7 + 0.2 + 2), o = SigmoidOf(0.8 - 0.8 + 0.3);
  EXPECT_THAT(Doubles(cs), Pointwise(DoubleNear(1e-6), {f * 0.5 + i * ci}));
  EXPECT_THAT(Doubles(h), Pointwise(DoubleNear(1e-6), {o * std::tanh(f * 0.5 + i * ci)}));
}

TEST_F(BlockGRUTest, FollowsTheFormulasOfTheCell) {
  const Tensor h = BlockGRU(Constant({1, 1, 1}, {2.0}), Constant({1, 1}, {-1.0}),
                            Constant({2, 2}, {0.1, 0.2, 0.3, 0.4}), Constant({2, 1}, {0.5, 0.6}),
                            Constant({0.1, -0.2}), Constant({0.3}));
  const double r = SigmoidOf(0.2 - 0.3 + 0.1), u = SigmoidOf(0.4 - 0.4 - 0.2);
  const double c = std::tanh(1.0 - 0.6 * r + 0.3);
  EXPECT_THAT(Doubles(h), Pointwise(DoubleNear(1e-6), {-u + (1 - u) * c}));
}

TEST(BlockLSTM, HasTheGradientsOfFiniteDifferences) {
  const auto both = [](const Inputs& in) {
    const auto [cs, h] = BlockLSTM(in[0], in[1], in[2], in[3], in[4], 0.5f);
    return cs * 0.7 + h;
  };
  EXPECT_EQ(CheckGradients(both, LstmOperands()), absl::OkStatus());
  // Without a gradient of the memory.
  const auto output = [](const Inputs& in) {
    return BlockLSTM(in[0], in[1], in[2], in[3], in[4]).h;
  };
  EXPECT_EQ(CheckGradients(output, LstmOperands()), absl::OkStatus());
}

TEST(BlockGRU, HasTheGradientsOfFiniteDifferences) {
  const auto output = [](const Inputs& in) {
    return BlockGRU(in[0], in[1], in[2], in[3], in[4], in[5]);
  };
  EXPECT_EQ(CheckGradients(output, GruOperands()), absl::OkStatus());
}

// Compares the outputs of a node with those of its unrolled form.
void ExpectUnrolls(const Node& node) {
  Tensors outputs, inputs;
  for (int o = 0; o < node.num_outputs(); ++o) outputs.push_back(ResultOf(node, o));
  for (int i = 0; i < node.num_inputs(); ++i) inputs.push_back(node.input(i));
  const Tensors unrolled = UnrollRecurrent(node.op(), node.attrs(), inputs);
  ASSERT_EQ(unrolled.size(), outputs.size());
  for (size_t o = 0; o < outputs.size(); ++o) {
    EXPECT_EQ(unrolled[o].spec(), outputs[o].spec());
    EXPECT_THAT(Doubles(unrolled[o]), Pointwise(DoubleNear(1e-12), Doubles(outputs[o])))
        << node.op() << " output " << o;
  }
}

TEST_F(BlockLSTMTest, EqualsItsUnrolledForm) {
  const Inputs in = Constants(LstmOperands());
  const auto [cs, h] = BlockLSTM(in[0], in[1], in[2], in[3], in[4]);
  ExpectUnrolls(*h.node());
  ExpectUnrolls(*Gradients({h, cs}, in)[0].node());
}

TEST_F(BlockLSTMTest, IsZeroBeyondTheLengthInBothForms) {
  Inputs in = Constants(LstmOperands());
  const Tensor peephole = Zeros({2}, DType::kFloat64);
  in.insert(in.begin(), Constant(Array::Of<int64_t>({}, {2})));
  in.insert(in.begin() + 5, 3, peephole);
  const Tensors outputs = AddOpN(
      "BlockLSTM", 7, in, {{"forget_bias", 1.0f}, {"cell_clip", 0.0f}, {"use_peephole", false}});
  const std::vector<double> h = Doubles(outputs[6]);
  EXPECT_NE(h[7], 0);
  EXPECT_THAT(std::vector<double>(h.begin() + 8, h.end()), ::testing::Each(0));
  ExpectUnrolls(*outputs[6].node());
  ExpectUnrolls(*Gradients({outputs[6]}, {in[1]})[0].node());
}

TEST_F(BlockGRUTest, EqualsItsUnrolledForm) {
  const Inputs in = Constants(GruOperands());
  const Tensor h = BlockGRU(in[0], in[1], in[2], in[3], in[4], in[5]);
  ExpectUnrolls(*h.node());
  ExpectUnrolls(*Gradients({h}, in)[0].node());
}

TEST(BlockLSTM, RefusesWhatItDoesNotCompute) {
  const auto error = [](const Shape& w, const Attrs& attrs) {
    return ErrorOf([&] {
      const Tensor state = Zeros({2, 3}), peephole = Zeros({3});
      AddOpN("BlockLSTM", 7,
             {Constant(Array::Of<int64_t>({}, {4})), Zeros({4, 2, 5}), state, state, Zeros(w),
              peephole, peephole, peephole, Zeros({12})},
             attrs);
    });
  };
  const Attrs plain = {{"forget_bias", 1.0f}, {"cell_clip", -1.0f}, {"use_peephole", false}};
  EXPECT_EQ(error({8, 12}, plain), "");
  EXPECT_THAT(error({7, 12}, plain), HasSubstr("w is [7,12], expected [8,12]"));
  Attrs clipped = plain, peephole = plain;
  clipped.Set("cell_clip", 3.0f);
  peephole.Set("use_peephole", true);
  EXPECT_THAT(error({8, 12}, clipped), HasSubstr("cell_clip is 3"));
  EXPECT_THAT(error({8, 12}, peephole), HasSubstr("use_peephole is not supported"));
}

TEST(BlockGRU, RefusesAStateOfAnotherBatch) {
  EXPECT_THAT(ErrorOf([] {
                BlockGRU(Zeros({4, 2, 5}), Zeros({3, 3}), Zeros({8, 6}), Zeros({8, 3}), Zeros({6}),
                         Zeros({3}));
              }),
              HasSubstr("h_prev is [3,3], expected [2,3]"));
}

}  // namespace
}  // namespace estimator
