#include "estimator/ops/linear_solve.h"

#include <cstdint>
#include <vector>

#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/op_registry.h"
#include "estimator/ops/building/builder.h"
#include "estimator/ops/building/matrix_rules.h"
#include "estimator/ops/building/shape_rules.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/matmul.h"
#include "estimator/ops/matrix_gradients.h"
#include "estimator/ops/scan.h"
#include "estimator/ops/shape_ops.h"

namespace estimator {
namespace {

// [...] -> [..., 1, 1].
Tensor AsFactor(const Tensor& x) { return Reshape(x, MatrixShape(x.shape(), 1, 1)); }

OutputSpecs SquareRule(const ShapeContext& context) {
  EST_RETURN_IF_ERROR(CheckSquareMatrices(context.input(0), "input"));
  return SameAsInput(context);
}

// The gradient is symmetric: L^-T (L^T g with half a diagonal, lower triangle) L^-1.
Tensors CholeskyGradient(const Node& node, const Tensors& grads) {
  const Tensor l = ResultOf(node, 0);
  const Tensor middle = MatrixBandPart(HalveDiagonal(TMul(l, grads[0])), -1, 0);
  const auto solve = [&l](const Tensor& x) {
    return MatrixTriangularSolve(l, x, {.adjoint = true});
  };
  const Tensor grad = TransposeMatrix(solve(TransposeMatrix(solve(middle))));
  return {(grad + TransposeMatrix(grad)) * 0.5};
}

EST_REGISTER_OP("Cholesky", SquareRule, CholeskyGradient);

EST_REGISTER_OP("MatrixInverse", SquareRule, [](const Node& node, const Tensors& grads) -> Tensors {
  const Tensor y = ResultOf(node, 0);
  const bool adjoint = node.attrs().b("adjoint");
  const Tensor right = MatMul(grads[0], y, {.transpose_a = adjoint, .transpose_b = !adjoint});
  return {-MatMul(y, right, {.transpose_a = !adjoint})};
});

// The checks that all solvers share. `rhs` must have as many rows as `matrix`.
absl::Status CheckSystem(const ShapeContext& context) {
  const TensorSpec &matrix = context.input(0), &rhs = context.input(1);
  EST_RETURN_IF_ERROR(CheckMatrices(matrix, "matrix"));
  EST_RETURN_IF_ERROR(CheckMatrices(rhs, "rhs"));
  EST_RETURN_IF_ERROR(CheckSameDType(matrix, rhs));
  if (matrix.shape.dim(-2) == rhs.shape.dim(-2)) return absl::OkStatus();
  return InvalidArgument("matrix has ", matrix.shape.dim(-2), " rows and rhs has ",
                         rhs.shape.dim(-2), ", expected the same number");
}

absl::Status CheckSameBatch(const ShapeContext& context) {
  const Shape matrix = BatchAxes(context.input(0).shape), rhs = BatchAxes(context.input(1).shape);
  if (matrix == rhs) return absl::OkStatus();
  return InvalidArgument("the leading axes of matrix and rhs differ: ", matrix.ToString(), " and ",
                         rhs.ToString());
}

OutputSpecs SolveRule(const ShapeContext& context) {
  EST_RETURN_IF_ERROR(CheckSystem(context));
  EST_RETURN_IF_ERROR(CheckSquareMatrices(context.input(0), "matrix"));
  EST_RETURN_IF_ERROR(CheckSameBatch(context));
  return std::vector<TensorSpec>{context.input(1)};
}

// With x = A^-1 b: d(b) = A^-T g and d(A) = -d(b) x^T. With the transpose of A the factors of d(A)
// change places.
Tensor MatrixGradient(const Tensor& grad_b, const Tensor& x, bool adjoint) {
  return -(adjoint ? MulT(x, grad_b) : MulT(grad_b, x));
}

EST_REGISTER_OP("MatrixSolve", SolveRule, [](const Node& node, const Tensors& grads) -> Tensors {
  const bool adjoint = node.attrs().b("adjoint");
  const Tensor grad_b = MatrixSolve(node.input(0), grads[0], {.adjoint = !adjoint});
  return {MatrixGradient(grad_b, ResultOf(node, 0), adjoint), grad_b};
});

OutputSpecs TriangularSolveRule(const ShapeContext& context) {
  EST_RETURN_IF_ERROR(CheckSystem(context));
  EST_RETURN_IF_ERROR(CheckSquareMatrices(context.input(0), "matrix"));
  const Shape& rhs = context.input(1).shape;
  EST_ASSIGN_OR_RETURN(const Shape batch,
                       BroadcastShapes(BatchAxes(context.input(0).shape), BatchAxes(rhs)));
  return std::vector<TensorSpec>{
      {context.input(0).dtype, MatrixShape(batch, rhs.dim(-2), rhs.dim(-1))}};
}

Tensors TriangularSolveGradient(const Node& node, const Tensors& grads) {
  const Tensor &matrix = node.input(0), &rhs = node.input(1);
  const bool lower = node.attrs().b("lower"), adjoint = node.attrs().b("adjoint");
  const Tensor grad_b =
      MatrixTriangularSolve(matrix, grads[0], {.lower = lower, .adjoint = !adjoint});
  const Tensor grad_a = MatrixBandPart(MatrixGradient(grad_b, ResultOf(node, 0), adjoint),
                                       lower ? -1 : 0, lower ? 0 : -1);
  return {SumToShapeOf(grad_a, matrix), SumToShapeOf(grad_b, rhs)};
}

EST_REGISTER_OP("MatrixTriangularSolve", TriangularSolveRule, TriangularSolveGradient);

OutputSpecs SolveLsRule(const ShapeContext& context) {
  EST_RETURN_IF_ERROR(CheckSystem(context));
  EST_RETURN_IF_ERROR(CheckSameBatch(context));
  const TensorSpec &matrix = context.input(0), &rhs = context.input(1), &l2 = context.input(2);
  if (l2.dtype != DType::kFloat64 || l2.shape.rank() != 0) {
    return InvalidArgument("l2_regularizer must be a float64 scalar, got ", l2.ToString());
  }
  return std::vector<TensorSpec>{
      {matrix.dtype,
       MatrixShape(BatchAxes(matrix.shape), matrix.shape.dim(-1), rhs.shape.dim(-1))}};
}

// The Cholesky factor of A^T A + l2 I, or of A A^T + l2 I.
Tensor GramianCholesky(const Tensor& a, const Tensor& l2, bool tall) {
  const Tensor gramian = tall ? TMul(a, a) : MulT(a, a);
  const int64_t n = gramian.dim(-1);
  const Tensor diagonal = BroadcastTo(Cast(l2, a.dtype()), Shape{n});
  return Cholesky(gramian + MatrixDiag(diagonal));
}

Tensors SolveLsGradient(const Node& node, const Tensors& grads) {
  const Tensor &a = node.input(0), &b = node.input(1), &g = grads[0];
  const Tensor x = ResultOf(node, 0);
  if (!node.attrs().b("fast")) {
    const Tensor failed = a.graph()->Fail(
        Unimplemented(node.name(), ": MatrixSolveLs has a gradient only with fast = true"));
    return {failed, failed, Tensor()};
  }
  const bool tall = a.dim(-2) >= a.dim(-1);
  const Tensor chol = GramianCholesky(a, node.input(2), tall);
  if (tall) {
    const Tensor z = CholeskySolve(chol, g);
    const Tensor xzt = MulT(x, z);
    return {MulT(b, z) - MatMul(a, xzt + TransposeMatrix(xzt)), MatMul(a, z), Tensor()};
  }
  const Tensor grad_b = CholeskySolve(chol, MatMul(a, g));
  const Tensor solved = CholeskySolve(chol, b);
  const Tensor grad_a = MulT(solved, g - TMul(a, grad_b)) - MatMul(grad_b, TMul(solved, a));
  return {grad_a, grad_b, Tensor()};
}

EST_REGISTER_OP("MatrixSolveLs", SolveLsRule, SolveLsGradient);

// One number of each matrix in each result.
template <int kNumResults>
OutputSpecs DeterminantRule(const ShapeContext& context) {
  const TensorSpec& x = context.input(0);
  EST_RETURN_IF_ERROR(CheckSquareMatrices(x, "input"));
  return std::vector<TensorSpec>(kNumResults, {x.dtype, BatchAxes(x.shape)});
}
EST_REGISTER_OP("MatrixDeterminant", DeterminantRule<1>,
                [](const Node& node, const Tensors& grads) -> Tensors {
                  return {AsFactor(grads[0] * ResultOf(node, 0)) *
                          MatrixInverse(node.input(0), {.adjoint = true})};
                });
EST_REGISTER_OP("LogMatrixDeterminant", DeterminantRule<2>,
                [](const Node& node, const Tensors& grads) -> Tensors {
                  if (!grads[1].valid()) return {Tensor()};  // the sign has no gradient
                  return {AsFactor(grads[1]) * MatrixInverse(node.input(0), {.adjoint = true})};
                });

}  // namespace

Tensor Cholesky(const Tensor& x, StringArg name) { return AddOp("Cholesky", {x}, {}, name); }

Tensor CholeskySolve(const Tensor& cholesky, const Tensor& rhs, StringArg name) {
  const NameScope scope(name, GraphFor({cholesky, rhs}));
  const Tensor y = MatrixTriangularSolve(cholesky, rhs);
  return MatrixTriangularSolve(cholesky, y, {.adjoint = true});
}

Tensor MatrixInverse(const Tensor& x, const MatrixInverseOptions& options) {
  return AddOp("MatrixInverse", {x}, {{"adjoint", options.adjoint}}, options.name);
}

Tensor MatrixSolve(const Tensor& matrix, const Tensor& rhs, const MatrixSolveOptions& options) {
  return AddOp("MatrixSolve", {matrix, rhs}, {{"adjoint", options.adjoint}}, options.name);
}

Tensor MatrixTriangularSolve(const Tensor& matrix, const Tensor& rhs,
                             const MatrixTriangularSolveOptions& options) {
  return AddOp("MatrixTriangularSolve", {matrix, rhs},
               {{"lower", options.lower}, {"adjoint", options.adjoint}}, options.name);
}

Tensor MatrixSolveLs(const Tensor& matrix, const Tensor& rhs, const MatrixSolveLsOptions& options) {
  return OpBuilder("MatrixSolveLs", options.name)
      .Input(matrix)
      .Input(rhs)
      .Const("l2_regularizer", Array::Scalar(options.l2_regularizer))
      .Attr("fast", options.fast)
      .Build();
}

Tensor MatrixDeterminant(const Tensor& x, StringArg name) {
  return AddOp("MatrixDeterminant", {x}, {}, name);
}

LogMatrixDeterminantResult LogMatrixDeterminant(const Tensor& x, StringArg name) {
  const Tensors outputs = OpBuilder("LogMatrixDeterminant", name).Input(x).BuildN(2);
  return {outputs[0], outputs[1]};
}

}  // namespace estimator
