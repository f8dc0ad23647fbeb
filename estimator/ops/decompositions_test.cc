#include "estimator/ops/decompositions.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/matmul.h"
#include "estimator/ops/scan.h"
#include "estimator/ops/shape_ops.h"
#include "estimator/ops/slicing.h"
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
using ::testing::Each;
using testing::ErrorOf;
using testing::Eval;
using ::testing::HasSubstr;
using ::testing::IsNan;
using ::testing::Pointwise;
using testing::Scrambled;
using Inputs = std::vector<Tensor>;

using DecompositionsTest = GraphTest;

Tensor Random(const Shape& shape) { return Constant(Scrambled(shape, -1, 1)); }
Tensor MulT(const Tensor& a, const Tensor& b) { return MatMul(a, b, {.transpose_b = true}); }
Tensor TMul(const Tensor& a, const Tensor& b) { return MatMul(a, b, {.transpose_a = true}); }

void ExpectSame(const Tensor& actual, const Tensor& expected) {
  EXPECT_EQ(actual.shape(), expected.shape());
  EXPECT_THAT(Doubles(actual), Pointwise(DoubleNear(1e-10), Doubles(expected)));
}

// The columns of x are orthonormal.
void ExpectOrthonormal(const Tensor& x) {
  const Tensor product = TMul(x, x);
  const Tensor ones = OnesLike(MatrixDiagPart(product));
  ExpectSame(product, MatrixDiag(ones));
}

TEST_F(DecompositionsTest, QrIsAnOrthonormalTimesATriangularMatrix) {
  for (const Shape& shape : {Shape{2, 4, 3}, Shape{3, 3}, Shape{2, 5}, Shape{5, 1}}) {
    for (const bool full : {false, true}) {
      const Tensor x = Random(shape);
      const QrResult y = Qr(x, {.full_matrices = full});
      ExpectSame(MatMul(y.q, y.r), x);
      ExpectOrthonormal(y.q);
      ExpectSame(MatrixBandPart(y.r, 0, -1), y.r);
      EXPECT_EQ(y.q.dim(-1), full ? x.dim(-2) : std::min(x.dim(-2), x.dim(-1)));
    }
  }
}

TEST_F(DecompositionsTest, SvdIsTheProductOfItsFactors) {
  for (const Shape& shape : {Shape{2, 4, 3}, Shape{3, 3}, Shape{2, 5}, Shape{20, 18}}) {
    const Tensor x = Random(shape);
    const SvdResult y = Svd(x);
    ExpectSame(MulT(MatMul(y.u, MatrixDiag(y.s)), y.v), x);
    ExpectOrthonormal(y.u);
    ExpectOrthonormal(y.v);
    ExpectSame(Svd(x, {.compute_uv = false}).s, y.s);
    const SvdResult full = Svd(x, {.full_matrices = true});
    ExpectSame(full.s, y.s);
    ExpectOrthonormal(full.u);
    ExpectOrthonormal(full.v);
    EXPECT_EQ(full.u.dim(-1), x.dim(-2));
    EXPECT_EQ(full.v.dim(-1), x.dim(-1));
  }
}

TEST_F(DecompositionsTest, SingularValuesAreInDescendingOrder) {
  EXPECT_THAT(Doubles(Svd(Floats({2, 2}, {3, 0, 0, -4})).s),
              Pointwise(DoubleNear(1e-5), {4.0, 3.0}));
}

TEST_F(DecompositionsTest, EigenvaluesAreInAscendingOrder) {
  const Tensor x = Floats({2, 2}, {2, 99, 1, 2});  // the upper triangle is not read
  EXPECT_THAT(Doubles(SelfAdjointEig(x).e), Pointwise(DoubleNear(1e-5), {1.0, 3.0}));
  EXPECT_THAT(Doubles(SelfAdjointEigvals(x)), Pointwise(DoubleNear(1e-5), {1.0, 3.0}));
  const Tensor r = Random({2, 4, 4}), symmetric = MulT(r, r);
  const SelfAdjointEigResult y = SelfAdjointEig(symmetric);
  ExpectSame(MulT(MatMul(y.v, MatrixDiag(y.e)), y.v), symmetric);
  ExpectOrthonormal(y.v);
}

TEST_F(DecompositionsTest, MatricesWithoutElementsHaveIdentitiesAsFactors) {
  const SvdResult svd = Svd(Zeros({3, 0}), {.full_matrices = true});
  EXPECT_THAT(Doubles(svd.u), Pointwise(DoubleNear(0), {1., 0., 0., 0., 1., 0., 0., 0., 1.}));
  EXPECT_EQ(svd.s.shape(), Shape{0});
  const QrResult qr = Qr(Zeros({2, 0}), {.full_matrices = true});
  EXPECT_THAT(Doubles(qr.q), Pointwise(DoubleNear(0), {1., 0., 0., 1.}));
}

TEST_F(DecompositionsTest, NanIsNanOrAnErrorAsInTensorFlow) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor x = Constant(Array::Of<float>({2, 2}, {1, nan, nan, 1}));
  EXPECT_THAT(Doubles(Svd(x).s), Each(IsNan()));
  EXPECT_THAT(Doubles(Svd(x).u), Each(IsNan()));
  EXPECT_THAT(Eval(SelfAdjointEig(x).e).status().ToString(),
              HasSubstr("Self-adjoint eigen decomposition was not successful."));
}

TEST_F(DecompositionsTest, WrongShapesAreRefused) {
  EXPECT_THAT(ErrorOf([] { Qr(Zeros({2})); }), HasSubstr("input has rank 1, expected 2 or more"));
  EXPECT_THAT(ErrorOf([] {
                Svd(Constant(Array::Of<int32_t>({2, 2}, {1, 2, 3, 4})));
              }),
              HasSubstr("input is int32, expected float32 or float64"));
  EXPECT_THAT(ErrorOf([] {
                SelfAdjointEig(Zeros({2, 3}));
              }),
              HasSubstr("expected square matrices"));
}

// All factors of a result as one vector.
Tensor Flat(const Inputs& tensors) {
  Tensor sum;
  for (const Tensor& x : tensors) {
    const Tensor weights = Constant(Scrambled(x.shape(), -1, 1));
    const Tensor weighted = MatMul(Reshape(x, {1, x.shape().num_elements()}),
                                   Reshape(weights, {x.shape().num_elements(), 1}));
    sum = sum.valid() ? sum + weighted : weighted;
  }
  return sum;
}

TEST(Decompositions, GradientsMatchFiniteDifferences) {
  for (const Shape& shape : {Shape{2, 3, 3}, Shape{4, 3}, Shape{2, 3, 5}, Shape{3, 4}}) {
    const Array x = Scrambled(shape, -1, 1);
    const auto check = [&](const char* what, const testing::TensorFn& fn) {
      EXPECT_EQ(CheckGradients(fn, {x}, 1e-5).ToString(), "OK") << what << shape.ToString();
    };
    check("Qr", [](const Inputs& in) {
      const QrResult y = Qr(in[0]);
      return Flat({y.q, y.r});
    });
    check("r of Qr", [](const Inputs& in) { return Qr(in[0]).r; });
    check("Svd", [](const Inputs& in) {
      const SvdResult y = Svd(in[0]);
      return Flat({y.s, y.u, y.v});
    });
    check("u of Svd", [](const Inputs& in) { return Svd(in[0]).u; });
    check("s of Svd", [](const Inputs& in) { return Svd(in[0]).s; });
    check("full s of Svd", [](const Inputs& in) { return Svd(in[0], {.full_matrices = true}).s; });
    check("Svd without vectors",
          [](const Inputs& in) { return Svd(in[0], {.compute_uv = false}).s; });
  }
  const Array x = Scrambled({2, 3, 3}, -1, 1);
  const auto check = [&](const testing::TensorFn& fn) {
    EXPECT_EQ(CheckGradients(fn, {x}, 1e-5).ToString(), "OK");
  };
  check([](const Inputs& in) {
    const SelfAdjointEigResult y = SelfAdjointEig(in[0]);
    return Flat({y.e, y.v});
  });
  check([](const Inputs& in) { return SelfAdjointEig(in[0]).v; });
  check([](const Inputs& in) { return SelfAdjointEigvals(in[0]); });
}

TEST(Decompositions, GradientsThatTensorFlowRefusesAreErrors) {
  const Array x = Scrambled({5, 3}, -1, 1);
  EXPECT_THAT(
      CheckGradients([](const Inputs& in) { return Qr(in[0], {.full_matrices = true}).q; }, {x})
          .ToString(),
      HasSubstr("with full_matrices if there are more rows than columns"));
  EXPECT_THAT(
      CheckGradients([](const Inputs& in) { return Svd(in[0], {.full_matrices = true}).u; }, {x})
          .ToString(),
      HasSubstr("if rows and columns differ by more than 1"));
}

}  // namespace
}  // namespace estimator
