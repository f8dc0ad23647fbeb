#include "estimator/ops/linear_solve.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/matmul.h"
#include "estimator/ops/testing/eval.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

Tensor Floats(const Shape& shape, std::initializer_list<float> values) {
  return Constant(shape, values);
}

using testing::CheckGradients;
using ::testing::DoubleNear;
using testing::Doubles;
using ::testing::ElementsAre;
using testing::ErrorOf;
using testing::Eval;
using ::testing::HasSubstr;
using ::testing::Pointwise;
using testing::Scrambled;
using Inputs = std::vector<Tensor>;

using LinearSolveTest = GraphTest;

// Two symmetric positive definite matrices.
Tensor PositiveDefinite(const Tensor& x) {
  return MatMul(x, x, {.transpose_b = true}) +
         Constant(Array::Of<double>({3, 3}, {3, 0, 0, 0, 3, 0, 0, 0, 3}));
}

TEST_F(LinearSolveTest, CholeskyReadsTheLowerTriangle) {
  const Tensor x = Floats({2, 2}, {4, 99, 2, 5});
  EXPECT_THAT(Doubles(Cholesky(x)), ElementsAre(2, 0, 1, 2));
}

TEST_F(LinearSolveTest, CholeskySolveSolvesTheSystemOfTheFactoredMatrix) {
  const Tensor l = Floats({2, 2}, {2, 0, 1, 2});  // of [[4, 2], [2, 5]]
  EXPECT_THAT(Doubles(CholeskySolve(l, Floats({2, 1}, {8, 12}))), ElementsAre(1, 2));
}

TEST_F(LinearSolveTest, InverseSolutionAndDeterminantAreThoseByHand) {
  const Tensor a = Floats({2, 2}, {1, 2, 3, 4}), b = Floats({2, 1}, {5, 11});
  EXPECT_THAT(Doubles(MatrixInverse(a)), Pointwise(DoubleNear(1e-5), {-2.0, 1.0, 1.5, -0.5}));
  EXPECT_THAT(Doubles(MatrixInverse(a, {.adjoint = true})),
              Pointwise(DoubleNear(1e-5), {-2.0, 1.5, 1.0, -0.5}));
  EXPECT_THAT(Doubles(MatrixSolve(a, b)), Pointwise(DoubleNear(1e-5), {1.0, 2.0}));
  EXPECT_THAT(Doubles(MatrixSolve(a, b, {.adjoint = true})),
              Pointwise(DoubleNear(1e-5), {6.5, -0.5}));
  EXPECT_THAT(Doubles(MatrixDeterminant(a)), Pointwise(DoubleNear(1e-5), {-2.0}));
  const LogMatrixDeterminantResult log = LogMatrixDeterminant(a);
  EXPECT_THAT(Doubles(log.sign), ElementsAre(-1));
  EXPECT_THAT(Doubles(log.log_abs_determinant), Pointwise(DoubleNear(1e-5), {std::log(2.0)}));
}

TEST_F(LinearSolveTest, Float32IsComputedInFloat64AndRoundedOnce) {
  const Tensor x = Constant(Scrambled({8, 8}, -1, 1, DType::kFloat32));
  const Tensor inverse = MatrixInverse(Cast(x, DType::kFloat64));
  EXPECT_EQ(Doubles(MatrixInverse(x)), Doubles(Cast(inverse, DType::kFloat32)));
}

TEST_F(LinearSolveTest, TriangularSolveReadsOneTriangleAndBroadcasts) {
  const Tensor a = Floats({2, 2}, {2, 7, 1, 4}), b = Floats({2, 2, 1}, {2, 9, 4, 6});
  EXPECT_THAT(Doubles(MatrixTriangularSolve(a, b)), ElementsAre(1, 2, 2, 1));
  EXPECT_THAT(Doubles(MatrixTriangularSolve(a, Floats({2, 1}, {16, 8}), {.lower = false})),
              ElementsAre(1, 2));
  EXPECT_THAT(Doubles(MatrixTriangularSolve(a, Floats({2, 1}, {4, 8}), {.adjoint = true})),
              ElementsAre(1, 2));
  EXPECT_THAT(
      Doubles(MatrixTriangularSolve(a, Floats({2, 1}, {2, 15}), {.lower = false, .adjoint = true})),
      ElementsAre(1, 2));
}

TEST_F(LinearSolveTest, LeastSquaresFitsALineAndTakesTheSmallestSolution) {
  // The points (0, 1), (1, 3), (2, 5) are on the line 1 + 2 t.
  const Tensor a = Floats({3, 2}, {1, 0, 1, 1, 1, 2}), b = Floats({3, 1}, {1, 3, 5});
  for (const bool fast : {true, false}) {
    EXPECT_THAT(Doubles(MatrixSolveLs(a, b, {.fast = fast})),
                Pointwise(DoubleNear(1e-4), {1.0, 2.0}));
    EXPECT_THAT(
        Doubles(MatrixSolveLs(Floats({1, 2}, {3, 4}), Floats({1, 1}, {25}), {.fast = fast})),
        Pointwise(DoubleNear(1e-4), {3.0, 4.0}));
  }
  EXPECT_THAT(
      Doubles(MatrixSolveLs(Floats({1, 1}, {2}), Floats({1, 1}, {6}), {.l2_regularizer = 2})),
      Pointwise(DoubleNear(1e-5), {2.0}));
}

// The error of a step, for a graph that builds.
std::string StepError(const Tensor& fetch) { return Eval(fetch).status().ToString(); }

TEST_F(LinearSolveTest, SingularMatricesFailTheStepWithTensorFlowsMessage) {
  const Tensor zero = Zeros({2, 2}), one = Floats({2, 2, 2}, {1, 0, 0, 1, 1, 1, 1, 1});
  EXPECT_THAT(StepError(MatrixInverse(zero)), HasSubstr("Input is not invertible."));
  EXPECT_THAT(StepError(MatrixInverse(one)), HasSubstr("It is matrix 1 of 2."));
  EXPECT_THAT(StepError(MatrixSolve(zero, Zeros({2, 1}))),
              HasSubstr("Input matrix is not invertible."));
  EXPECT_THAT(StepError(MatrixSolveLs(zero, Zeros({2, 1}))),
              HasSubstr("Input matrix was rank deficient or ill-conditioned."));
  EXPECT_THAT(StepError(Cholesky(Floats({2, 2}, {1, 2, 2, 1}))),
              HasSubstr("Cholesky decomposition was not successful."));
}

TEST_F(LinearSolveTest, SingularMatricesHaveADeterminantOfZero) {
  const LogMatrixDeterminantResult log = LogMatrixDeterminant(Zeros({2, 2}));
  EXPECT_THAT(Doubles(MatrixDeterminant(Zeros({2, 2}))), ElementsAre(0));
  EXPECT_THAT(Doubles(log.sign), ElementsAre(0));
  EXPECT_THAT(Doubles(log.log_abs_determinant),
              ElementsAre(-std::numeric_limits<double>::infinity()));
}

TEST_F(LinearSolveTest, WrongShapesAndTypesAreRefused) {
  EXPECT_THAT(ErrorOf([] {
                Cholesky(Zeros({2, 3}));
              }),
              HasSubstr("input is [2,3], expected square matrices [..., M, M]"));
  EXPECT_THAT(ErrorOf([] { MatrixInverse(Zeros({2})); }),
              HasSubstr("input has rank 1, expected 2 or more"));
  EXPECT_THAT(ErrorOf([] {
                MatrixDeterminant(Cast(Zeros({2, 2}), DType::kBfloat16));
              }),
              HasSubstr("expected float32 or float64"));
  EXPECT_THAT(ErrorOf([] {
                MatrixSolve(Zeros({2, 2}), Zeros({3, 1}));
              }),
              HasSubstr("matrix has 2 rows and rhs has 3"));
  EXPECT_THAT(ErrorOf([] {
                MatrixSolve(Zeros({4, 2, 2}), Zeros({2, 1}));
              }),
              HasSubstr("leading axes of matrix and rhs differ: [4] and []"));
}

struct GradientCase {
  std::string name;
  testing::TensorFn fn;
  std::vector<Array> inputs;
};

std::vector<GradientCase> GradientCases() {
  const Array square = Scrambled({2, 3, 3}, -1, 1), rhs = Scrambled({2, 3, 2}, -2, 2);
  const Array tall = Scrambled({2, 4, 3}, -1, 1), tall_rhs = Scrambled({2, 4, 2}, -2, 2);
  const Array wide = Scrambled({2, 2, 3}, -1, 1), wide_rhs = Scrambled({2, 2, 2}, -2, 2);
  const auto tensor = [](const Inputs& in) { return PositiveDefinite(in[0]); };
  // Not symmetric: a transposed gradient would show.
  const auto general = [](const Inputs& in) {
    return in[0] + Constant(Array::Of<double>({3, 3}, {4, 0, 0, 0, 4, 0, 0, 0, 4}));
  };
  std::vector<GradientCase> cases = {
      {"Cholesky", [=](const Inputs& in) { return Cholesky(tensor(in)); }, {square}},
      {"CholeskySolve",
       [=](const Inputs& in) { return CholeskySolve(Cholesky(tensor(in)), in[1]); },
       {square, rhs}},
      {"MatrixDeterminant",
       [=](const Inputs& in) { return MatrixDeterminant(general(in)); },
       {square}},
      {"LogMatrixDeterminant",
       [=](const Inputs& in) { return LogMatrixDeterminant(general(in)).log_abs_determinant; },
       {square}},
      {"MatrixSolveLs",
       [](const Inputs& in) { return MatrixSolveLs(in[0], in[1], {.l2_regularizer = 0.5}); },
       {tall, tall_rhs}},
      {"MatrixSolveLsWide",
       [](const Inputs& in) { return MatrixSolveLs(in[0], in[1], {.l2_regularizer = 0.5}); },
       {wide, wide_rhs}},
  };
  for (const bool adjoint : {false, true}) {
    cases.push_back(
        {"MatrixInverse",
         [=](const Inputs& in) { return MatrixInverse(general(in), {.adjoint = adjoint}); },
         {square}});
    cases.push_back(
        {"MatrixSolve",
         [=](const Inputs& in) { return MatrixSolve(general(in), in[1], {.adjoint = adjoint}); },
         {square, rhs}});
    for (const bool lower : {false, true}) {
      cases.push_back({"MatrixTriangularSolve",
                       [=](const Inputs& in) {
                         return MatrixTriangularSolve(tensor(in), in[1],
                                                      {.lower = lower, .adjoint = adjoint});
                       },
                       {square, Scrambled({3, 2}, -2, 2)}});
    }
  }
  return cases;
}

TEST(LinearSolve, GradientsMatchFiniteDifferences) {
  for (const GradientCase& c : GradientCases())
    EXPECT_EQ(CheckGradients(c.fn, c.inputs).ToString(), "OK") << c.name;
}

TEST(LinearSolve, LeastSquaresWithoutFullRankHasNoGradient) {
  const auto fn = [](const Inputs& in) { return MatrixSolveLs(in[0], in[1], {.fast = false}); };
  EXPECT_THAT(CheckGradients(fn, {Scrambled({3, 2}, -1, 1), Scrambled({3, 1}, -1, 1)}).ToString(),
              HasSubstr("MatrixSolveLs has a gradient only with fast = true"));
}

}  // namespace
}  // namespace estimator
