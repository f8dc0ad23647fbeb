// Lowerings compute what the reference kernels compute, where TensorFlow has no goldens for a case:
// recurrent ops, and a few edges of others.
#include "estimator/ops/recurrent.h"

#include <string>
#include <vector>

#include "estimator/array/compare.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/gradients.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/conv.h"
#include "estimator/ops/linear_solve.h"
#include "estimator/ops/testing/eval.h"
#include "gtest/gtest.h"
#include "tpu/stablehlo/ops/testing/golden_lowering.h"
#include "tpu/stablehlo/testing/interpreter.h"

namespace estimator::tpu::stablehlo {
namespace {

// The same sums in another order.
constexpr Tolerance kRounding{.relative = 1e-5, .absolute = 1e-5};

using RecurrentLowering = GraphTest;

Tensor Numbers(const Shape& shape) {
  return Constant(estimator::testing::Scrambled(shape, -1, 1, DType::kFloat32));
}

void ExpectNumbersOfTheKernel(const Node& node) {
  KernelSpec spec{
      .op = node.op(), .name = node.name(), .attrs = node.attrs(), .outputs = node.outputs()};
  std::vector<Tensor> operands;
  for (int i = 0; i < node.num_inputs(); ++i) {
    operands.push_back(node.input(i));
    spec.inputs.push_back(node.input(i).spec());
  }
  const auto inputs = estimator::testing::EvalAll(operands);
  EST_ASSERT_OK(inputs);
  spec.constants.resize(inputs->size());
  Writer w;
  const std::vector<Type> types = testing::Types(spec.inputs);
  const Values arguments = w.BeginFunction("main", types, std::vector<std::string>(types.size()),
                                           testing::Types(spec.outputs));
  const LoweringResult lowered = testing::Lower(w, spec, arguments);
  EST_ASSERT_OK(lowered);
  w.EndFunction(*lowered);
  const auto results = testing::Interpret(w.Module("op", ""), {*inputs});
  EST_ASSERT_OK(results);
  const auto expected = RunReferenceKernel(spec, *inputs);
  EST_ASSERT_OK(expected);
  for (size_t o = 0; o < expected->size(); ++o) {
    EXPECT_EQ(Compare((*results)[0][o], (*expected)[o], kRounding).report, "")
        << node.op() << " output " << o;
  }
}

TEST_F(RecurrentLowering, OfAnLstmEqualsTheKernel) {
  const Tensor x = Numbers({3, 2, 4});
  const Tensor h =
      BlockLSTM(x, Numbers({2, 5}), Numbers({2, 5}), Numbers({9, 20}), Numbers({20})).h;
  ExpectNumbersOfTheKernel(*h.node());
  ExpectNumbersOfTheKernel(*Gradients({h}, {x})[0].node());
}

TEST_F(RecurrentLowering, OfAGruEqualsTheKernel) {
  const Tensor x = Numbers({3, 2, 4});
  const Tensor h =
      BlockGRU(x, Numbers({2, 5}), Numbers({9, 10}), Numbers({9, 5}), Numbers({10}), Numbers({5}));
  ExpectNumbersOfTheKernel(*h.node());
  ExpectNumbersOfTheKernel(*Gradients({h}, {x})[0].node());
}

using EdgeLowering = GraphTest;

TEST_F(EdgeLowering, OfASolveSwapsRows) {
  // The largest element of the first column is in row 1, then that of the second in row 2.
  const Tensor matrix = Constant(Shape{3, 3}, {0.f, 1.f, 2.f, 4.f, 1.f, 1.f, 2.f, 3.f, 1.f});
  ExpectNumbersOfTheKernel(*MatrixSolve(matrix, Numbers({3, 2})).node());
  ExpectNumbersOfTheKernel(*MatrixInverse(matrix).node());
}

TEST_F(EdgeLowering, OfAConvolutionWithoutOutputsHasAGradientOfZeros) {
  const Tensor gradient =
      Conv2DBackpropInput({2, 4, 4, 3}, Zeros({1, 1, 3, 0}), Zeros({2, 4, 4, 0}));
  ExpectNumbersOfTheKernel(*gradient.node());
}

}  // namespace
}  // namespace estimator::tpu::stablehlo
