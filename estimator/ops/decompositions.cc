#include "estimator/ops/decompositions.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/op_registry.h"
#include "estimator/ops/building/builder.h"
#include "estimator/ops/building/matrix_rules.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/linear_solve.h"
#include "estimator/ops/manipulation.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/matmul.h"
#include "estimator/ops/matrix_gradients.h"
#include "estimator/ops/scan.h"
#include "estimator/ops/shape_ops.h"
#include "estimator/ops/slicing.h"

namespace estimator {
namespace {

// Columns [begin, end) of every matrix.
Tensor Columns(const Tensor& x, int64_t begin, int64_t end) {
  if (begin == 0 && end == x.dim(-1)) return x;
  std::vector<int64_t> starts(static_cast<size_t>(x.rank()), 0), sizes = x.shape().dims();
  starts.back() = begin;
  sizes.back() = end - begin;
  return Slice(x, starts, sizes);
}

// x / (x^2 + 1e-20): 1 / x, but 0 for 0, as in TensorFlow's gradients.
Tensor SafeReciprocal(const Tensor& x) { return x * Reciprocal(x * x + 1e-20); }

// [..., i, j] = 1 / (x[..., j] - x[..., i]), and 0 on the diagonal.
Tensor InverseDifferences(const Tensor& x) {
  return SafeReciprocal(ExpandDims(x, -2) - ExpandDims(x, -1));
}

Tensors NoGradient(const Node& node, absl::string_view why) {
  return {
      node.input(0).graph()->Fail(Unimplemented(node.name(), ": ", node.op(), " has no gradient ",
                                                why, ", got ", node.input(0).spec().ToString()))};
}

OutputSpecs QrRule(const ShapeContext& context) {
  const TensorSpec& x = context.input(0);
  EST_RETURN_IF_ERROR(CheckMatrices(x, "input"));
  const int64_t rows = x.shape.dim(-2), columns = x.shape.dim(-1);
  const int64_t inner = context.attrs.b("full_matrices") ? rows : std::min(rows, columns);
  const Shape batch = BatchAxes(x.shape);
  return std::vector<TensorSpec>{{x.dtype, MatrixShape(batch, rows, inner)},
                                 {x.dtype, MatrixShape(batch, inner, columns)}};
}

// X R^-T for an upper triangular R.
Tensor DivideByTransposed(const Tensor& x, const Tensor& r) {
  return TransposeMatrix(MatrixTriangularSolve(r, TransposeMatrix(x), {.lower = false}));
}

// For matrices with at least as many rows as columns.
// Source: TF 2.15 linalg_grad.py, after Roberts and Roberts, arXiv:2009.10071.
Tensor TallQrGradient(const Tensor& q, const Tensor& r, const Tensor& dq, const Tensor& dr) {
  const Tensor qdq = TMul(q, dq), rdr = MulT(r, dr);
  const Tensor lower =
      MatrixBandPart(qdq - TransposeMatrix(qdq) + rdr - TransposeMatrix(rdr), -1, 0);
  return MatMul(q, dr + DivideByTransposed(lower, r)) + DivideByTransposed(dq - MatMul(q, qdq), r);
}

Tensors QrGradient(const Node& node, const Tensors& grads) {
  const Tensor &x = node.input(0), q = ResultOf(node, 0), r = ResultOf(node, 1);
  const Tensor dq = grads[0].valid() ? grads[0] : ZerosLike(q);
  const Tensor dr = grads[1].valid() ? grads[1] : ZerosLike(r);
  const int64_t rows = x.dim(-2), columns = x.dim(-1);
  if (rows > columns && q.dim(-1) == rows)
    return NoGradient(node, "with full_matrices if there are more rows than columns");
  if (rows >= columns) return {TallQrGradient(q, r, dq, dr)};
  // x = [left, right] with r = [u, v]: left = q u is square, and right = q v.
  const Tensor right = Columns(x, rows, columns), dv = Columns(dr, rows, columns);
  const Tensor d_left =
      TallQrGradient(q, Columns(r, 0, rows), dq + MulT(right, dv), Columns(dr, 0, rows));
  return {Concat({d_left, MatMul(q, dv)}, -1)};
}

EST_REGISTER_OP("Qr", QrRule, QrGradient);

OutputSpecs SvdRule(const ShapeContext& context) {
  const TensorSpec& x = context.input(0);
  EST_RETURN_IF_ERROR(CheckMatrices(x, "input"));
  const int64_t rows = x.shape.dim(-2), columns = x.shape.dim(-1);
  const int64_t rank = std::min(rows, columns);
  const Shape batch = BatchAxes(x.shape);
  Shape values = batch;
  values.push_back(rank);
  if (!context.attrs.b("compute_uv"))
    return std::vector<TensorSpec>{{x.dtype, values}, {x.dtype, {0}}, {x.dtype, {0}}};
  const bool full = context.attrs.b("full_matrices");
  return std::vector<TensorSpec>{{x.dtype, values},
                                 {x.dtype, MatrixShape(batch, rows, full ? rows : rank)},
                                 {x.dtype, MatrixShape(batch, columns, full ? columns : rank)}};
}

struct Svd3 {
  Tensor s, u, v;  // or their gradients
};

// The gradient of u and v for matrices with at most as many rows (m) as columns (n). du or dv may
// be invalid.
// Source: TF 2.15 linalg_grad.py, after Townsend, Differentiating the Singular Value Decomposition.
Tensor WideSvdGradient(const Svd3& y, const Svd3& d, bool full) {
  const int64_t m = y.u.dim(-2), n = y.v.dim(-2);
  const Tensor s_matrix = MatrixDiag(y.s), f = InverseDifferences(Square(y.s));
  const Tensor v1 = Columns(y.v, 0, m);
  Tensor middle = d.s.valid() ? MatrixDiag(d.s) : ZerosLike(s_matrix);
  if (d.u.valid()) {
    const Tensor f_u = f * TMul(y.u, d.u);
    middle += MatMul(f_u + TransposeMatrix(f_u), s_matrix);
  }
  const Tensor dv1 = d.v.valid() ? Columns(d.v, 0, m) : Tensor();
  if (d.v.valid()) {
    const Tensor f_v = f * TMul(v1, dv1);
    middle += MatMul(s_matrix, f_v + TransposeMatrix(f_v));
  }
  const Tensor grad = MatMul(y.u, MulT(middle, v1));
  if (m == n || !d.v.valid()) return grad;
  const Tensor dv1_t = TransposeMatrix(dv1);
  Tensor outside = dv1_t - MulT(MatMul(dv1_t, v1), v1);
  if (full) outside -= MulT(TMul(v1, Columns(d.v, m, n)), Columns(y.v, m, n));
  return grad + MatMul(MatMul(y.u, MatrixDiag(SafeReciprocal(y.s))), outside);
}

Tensors SvdGradient(const Node& node, const Tensors& grads) {
  const Tensor& x = node.input(0);
  const int64_t m = x.dim(-2), n = x.dim(-1), rank = std::min(m, n);
  const bool full = node.attrs().b("full_matrices");
  Svd3 y{ResultOf(node, 0), ResultOf(node, 1), ResultOf(node, 2)};
  Svd3 d{grads[0], grads[1], grads[2]};
  if (!node.attrs().b("compute_uv") || (!d.u.valid() && !d.v.valid())) {
    if (!d.s.valid()) return {Tensor()};
    if (!node.attrs().b("compute_uv")) {
      const SvdResult whole = Svd(x);
      y = {whole.s, whole.u, whole.v};
    }
    return {MulT(Columns(y.u, 0, rank) * ExpandDims(d.s, -2), Columns(y.v, 0, rank))};
  }
  if (full && std::abs(m - n) > 1)
    return NoGradient(node, "with full_matrices if rows and columns differ by more than 1");
  if (m <= n) return {WideSvdGradient(y, d, full)};
  // The transpose of x has u and v exchanged.
  std::swap(y.u, y.v);
  std::swap(d.u, d.v);
  return {TransposeMatrix(WideSvdGradient(y, d, full))};
}

EST_REGISTER_OP("Svd", SvdRule, SvdGradient);

OutputSpecs SelfAdjointEigRule(const ShapeContext& context) {
  const TensorSpec& x = context.input(0);
  EST_RETURN_IF_ERROR(CheckSquareMatrices(x, "input"));
  Shape values = BatchAxes(x.shape);
  values.push_back(x.shape.dim(-1));
  return std::vector<TensorSpec>{{x.dtype, values},
                                 {x.dtype, context.attrs.b("compute_v") ? x.shape : Shape{0}}};
}

// The gradient of the lower triangle, which is all that the op reads.
Tensors SelfAdjointEigGradient(const Node& node, const Tensors& grads) {
  const bool compute_v = node.attrs().b("compute_v");
  if (!grads[0].valid() && !(compute_v && grads[1].valid())) return {Tensor()};
  SelfAdjointEigResult y{ResultOf(node, 0), ResultOf(node, 1)};
  if (!compute_v) y = SelfAdjointEig(node.input(0));
  Tensor middle = grads[0].valid() ? MatrixDiag(grads[0]) : ZerosLike(y.v);
  if (compute_v && grads[1].valid()) middle += InverseDifferences(y.e) * TMul(y.v, grads[1]);
  const Tensor grad = MatMul(y.v, MulT(middle, y.v));
  return {HalveDiagonal(MatrixBandPart(grad + TransposeMatrix(grad), -1, 0))};
}

EST_REGISTER_OP("SelfAdjointEigV2", SelfAdjointEigRule, SelfAdjointEigGradient);

SelfAdjointEigResult Eig(const Tensor& x, bool compute_v, StringArg name) {
  const Tensors outputs =
      OpBuilder("SelfAdjointEigV2", name).Input(x).Attr("compute_v", compute_v).BuildN(2);
  return {outputs[0], outputs[1]};
}

}  // namespace

QrResult Qr(const Tensor& x, const QrOptions& options) {
  const Tensors outputs =
      OpBuilder("Qr", options.name).Input(x).Attr("full_matrices", options.full_matrices).BuildN(2);
  return {outputs[0], outputs[1]};
}

SvdResult Svd(const Tensor& x, const SvdOptions& options) {
  const Tensors outputs = OpBuilder("Svd", options.name)
                              .Input(x)
                              .Attr("compute_uv", options.compute_uv)
                              .Attr("full_matrices", options.full_matrices)
                              .BuildN(3);
  return {outputs[0], outputs[1], outputs[2]};
}

SelfAdjointEigResult SelfAdjointEig(const Tensor& x, StringArg name) { return Eig(x, true, name); }

Tensor SelfAdjointEigvals(const Tensor& x, StringArg name) { return Eig(x, false, name).e; }

}  // namespace estimator
