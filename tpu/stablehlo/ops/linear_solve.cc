// Cholesky, MatrixTriangularSolve, MatrixSolveLs, MatrixSolve, MatrixInverse, MatrixDeterminant,
// LogMatrixDeterminant.
//
// StableHLO has no LU decomposition: the last four eliminate column by column, with the row of the
// largest pivot (Gauss-Jordan), in a loop over the columns. The device cannot report a matrix that
// is singular or not positive definite: its results are infinite or NaN, where the CPU's kernels
// fail.
#include <limits>

#include "absl/strings/str_cat.h"
#include "tpu/stablehlo/op_lowering.h"
#include "tpu/stablehlo/ops/support.h"

namespace estimator::tpu::stablehlo {
namespace {

// bool [rows, columns] of the matrices of x: whether row and column compare as `direction` says.
Value Triangle(Writer& w, const Value& x, const char* direction) {
  const Type matrix(DType::kInt32, Shape{x.dim(-2), x.dim(-1)});
  return w.Compare(direction, w.Iota(matrix, 0), w.Iota(matrix, 1));
}

// The lower factor of the matrix; only its lower triangle is read.
Value CholeskyOf(Writer& w, const Value& x) {
  const Value factor = w.Op("cholesky", {x}, x.type, "lower = true");
  // What StableHLO leaves above the diagonal is not defined.
  return w.Select(Triangle(w, x, "GE"), factor, w.Scalar(x.dtype(), 0));
}

Value SolveTriangular(Writer& w, const Value& a, const Value& b, bool lower, bool transpose) {
  return w.Op("triangular_solve", {a, b}, b.type,
              absl::StrCat("left_side = true, lower = ", lower ? "true" : "false",
                           ", transpose_a = #stablehlo<transpose ",
                           transpose ? "TRANSPOSE" : "NO_TRANSPOSE", ">, unit_diagonal = false"));
}

EST_LOWERING(Cholesky) { return Values{CholeskyOf(w, args.input(0))}; }

EST_LOWERING(MatrixTriangularSolve) {
  const Shape& out = args.output(0).shape;
  return Values{SolveTriangular(w, WithBatch(w, args.input(0), out),
                                WithBatch(w, args.input(1), out), args.spec.attrs.b("lower"),
                                args.spec.attrs.b("adjoint"))};
}

// Least squares by the normal equations: (A'A + l2 I) X = A'B, or for a wide matrix
// X = A' (AA' + l2 I)^-1 B.
EST_LOWERING(MatrixSolveLs) {
  if (!args.spec.attrs.b("fast")) {
    return NotLowerable(
        "with fast = false it needs a complete orthogonal decomposition, which StableHLO lacks; "
        "set fast = true");
  }
  const Value &a = args.input(0), &b = args.input(1);
  if (IsEmpty(a) || IsEmpty(b)) return Values{w.Fill(args.output(0), 0)};
  const bool tall = a.dim(-2) >= a.dim(-1);
  const Value gramian = MatrixProduct(w, a, a, tall, !tall, a.dtype());
  const Value l2 = w.Convert(args.input(2), a.dtype());
  const Value regularized =
      w.Add(gramian, w.Select(Triangle(w, gramian, "EQ"), l2, w.Scalar(a.dtype(), 0)));
  const Value factor = CholeskyOf(w, regularized);
  const auto solve = [&](const Value& y) {
    return SolveTriangular(w, factor, SolveTriangular(w, factor, y, true, false), true, true);
  };
  if (tall) return Values{solve(MatrixProduct(w, a, b, true, false, a.dtype()))};
  return Values{MatrixProduct(w, a, solve(b), true, false, a.dtype())};
}

// What Gauss-Jordan makes of [A | B].
struct Eliminated {
  Value matrices;  // [batch, N, N + M]: a diagonal D with the pivots, then D * A^-1 * B
  Value pivots;    // [batch, N]
  Value sign;      // [batch]: of the permutation of the rows
};

//   x: [batch, N, N + M].
Eliminated Eliminate(Writer& w, const Value& x) {
  const int64_t batch = x.dim(0), n = x.dim(1), columns = x.dim(2);
  const DType dtype = x.dtype();
  const Type index(DType::kInt32, Shape{}), row_numbers(DType::kInt32, Shape{batch, n});
  const Values init = {w.FillInt(index, 0), x, w.Fill({dtype, Shape{batch, n}}, 1),
                       w.Fill({dtype, Shape{batch}}, 1)};
  const auto condition = [&](const Values& s) {
    return w.Compare("LT", s[0], w.FillInt(index, n));
  };
  const auto body = [&](const Values& s) {
    const Value &k = s[0], &m = s[1];
    const Value zero = w.FillInt(index, 0), number = w.Scalar(dtype, 0);
    const Value rows = w.Iota(row_numbers, 1);
    const auto along_columns = [&](const Value& of_row) {  // [batch, N] to [batch, N, columns]
      return w.BroadcastInDim(of_row, m.shape(), {0, 1});
    };
    const auto column = [&](const Value& of) {
      return w.Reshape(w.DynamicSlice(of, {zero, zero, k}, {batch, n, 1}), Shape{batch, n});
    };
    // The row from k on with the largest element of the column; of equal ones the first. A NaN
    // counts as 0, so that there always is one.
    const Value candidates = w.Unary("abs", column(m));
    const Value finite = w.Select(w.Compare("EQ", candidates, candidates), candidates, number);
    const Value open = w.Select(w.Compare("GE", rows, k), finite, w.Scalar(dtype, -1));
    const Value best = w.BroadcastInDim(w.Reduce("maximum", open, {1}), open.shape(), {0});
    const Value chosen =
        w.Reduce("minimum", w.Select(w.Compare("EQ", open, best), rows, w.FillInt(index, n)), {1});
    const Value is_chosen = w.Compare("EQ", rows, w.BroadcastInDim(chosen, rows.shape(), {0}));
    const Value is_k = w.Compare("EQ", rows, k);
    // Swaps rows k and `chosen`.
    const Value row_k = w.DynamicSlice(m, {zero, k, zero}, {batch, 1, columns});
    const Value pivot_row =
        w.Reduce("add", w.Select(along_columns(is_chosen), m, number), {1});  // [batch, columns]
    const Value spread_pivot_row = w.BroadcastInDim(pivot_row, m.shape(), {0, 2});
    Value swapped = w.Select(along_columns(is_chosen), row_k, m);
    swapped = w.Select(along_columns(is_k), spread_pivot_row, swapped);
    // Subtracts its multiples from all other rows.
    const Value pivot = w.DynamicSlice(pivot_row, {zero, k}, {batch, 1});
    const Value factors = w.Select(is_k, number, w.Div(column(swapped), pivot));
    const Value next = w.Sub(swapped, w.Mul(along_columns(factors), spread_pivot_row));
    const Value sign = w.Select(w.Compare("EQ", chosen, k), s[3], w.Unary("negate", s[3]));
    return Values{w.Add(k, w.FillInt(index, 1)), next, w.DynamicUpdateSlice(s[2], pivot, {zero, k}),
                  sign};
  };
  const Values result = w.While(init, condition, body);
  return {result[1], result[2], result[3]};
}

// Batches of matrices as [batch, rows, columns].
Value Flat(Writer& w, const Value& x) {
  return w.Reshape(x, Shape{SizeOfAxes(x.shape(), 0, x.rank() - 2), x.dim(-2), x.dim(-1)});
}
Value Transposed(Writer& w, const Value& x) { return w.Transpose(x, {0, 2, 1}); }

// A^-1 * B for [batch, N, N] and [batch, N, M].
Value Solve(Writer& w, const Value& a, const Value& b) {
  const int64_t n = a.dim(-1);
  const Eliminated e = Eliminate(w, w.Concatenate({a, b}, 2));
  const Value scaled = SliceAxis(w, e.matrices, 2, n, b.dim(-1));
  return w.Div(scaled, w.BroadcastInDim(e.pivots, scaled.shape(), {0, 1}));
}

Value Adjoint(Writer& w, const LoweringArgs& args) {
  const Value a = Flat(w, args.input(0));
  return args.spec.attrs.b("adjoint") ? Transposed(w, a) : a;
}

EST_LOWERING(MatrixSolve) {
  const Value x = Solve(w, Adjoint(w, args), Flat(w, args.input(1)));
  return Values{w.Reshape(x, args.output(0).shape)};
}

EST_LOWERING(MatrixInverse) {
  const Value a = Adjoint(w, args);
  const Value identity = w.BroadcastTo(w.Convert(Triangle(w, a, "EQ"), a.dtype()), a.shape());
  return Values{w.Reshape(Solve(w, a, identity), args.output(0).shape)};
}

EST_LOWERING(MatrixDeterminant) {
  if (IsEmpty(args.input(0))) return Values{w.Fill(args.output(0), 1)};
  const Eliminated e = Eliminate(w, Flat(w, args.input(0)));
  const Value product = w.Mul(w.Reduce("multiply", e.pivots, {1}), e.sign);
  return Values{w.Reshape(product, args.output(0).shape)};
}

// The sign of a singular matrix is 0, and the logarithm -infinity.
EST_LOWERING(LogMatrixDeterminant) {
  const TensorSpec& spec = args.output(0);
  if (IsEmpty(args.input(0))) return Values{w.Fill(spec, 1), w.Fill(spec, 0)};
  const Eliminated e = Eliminate(w, Flat(w, args.input(0)));
  // After a pivot of 0 the others are NaN.
  const Value is_zero = w.Compare("EQ", e.pivots, w.Scalar(spec.dtype, 0));
  const Value singular = w.Reduce("or", is_zero, {1});
  const Value sign = w.Mul(w.Reduce("multiply", w.Unary("sign", e.pivots), {1}), e.sign);
  // The product of the pivots may overflow where the sum of their logarithms does not.
  const Value sum = w.Reduce("add", w.Unary("log", w.Unary("abs", e.pivots)), {1});
  const Value minus_infinity = w.Scalar(spec.dtype, -std::numeric_limits<double>::infinity());
  return Values{w.Reshape(w.Select(singular, w.Scalar(spec.dtype, 0), sign), spec.shape),
                w.Reshape(w.Select(singular, minus_infinity, sum), args.output(1).shape)};
}

}  // namespace
}  // namespace estimator::tpu::stablehlo
