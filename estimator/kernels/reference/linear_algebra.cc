// Linear algebra: by the decompositions of Eigen that TensorFlow takes, matrix by matrix. Eigen
// allocates them in each run. The signs of the vectors of Qr and Svd are Eigen's.
//
// All ops are in one file, because they share templates, which take the compiler longer than the
// kernels.
#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <Eigen/QR>
#include <Eigen/SVD>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "estimator/base/status.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/reference/matrices.h"
#include "estimator/kernels/strided_rows.h"

namespace estimator {
namespace {

using Lu = Eigen::PartialPivLU<MatrixXd>;

KernelPlan MakeCholesky(const KernelSpec& spec) {
  const Matrices x(spec.inputs[0]);
  return MakeKernel([x](const KernelArgs& args) {
    for (int64_t i = 0; i < x.count; ++i) {
      const Eigen::LLT<MatrixXd> llt(x.In(args, 0, i));
      if (llt.info() != Eigen::Success) {
        return MatrixError(
            "Cholesky decomposition was not successful. The input might not be valid: it must be "
            "symmetric and positive definite.",
            i, x.count, args.step);
      }
      x.Out(args, 0, i, MatrixXd(llt.matrixL()));
    }
    return absl::OkStatus();
  });
}

// Matrix `i` of input 0, transposed if the op says so.
MatrixXd Operand(const Matrices& matrices, const KernelArgs& args, int64_t i, bool adjoint) {
  MatrixXd matrix = matrices.In(args, 0, i);
  if (adjoint) matrix.transposeInPlace();
  return matrix;
}

// A singular matrix has a pivot of zero.
bool IsInvertible(const Lu& lu) { return (lu.matrixLU().diagonal().array().abs() > 0).all(); }

KernelPlan MakeInverse(const KernelSpec& spec) {
  const Matrices x(spec.inputs[0]);
  const bool adjoint = spec.attrs.b("adjoint");
  return MakeKernel([x, adjoint](const KernelArgs& args) {
    if (x.rows == 0) return absl::OkStatus();
    for (int64_t i = 0; i < x.count; ++i) {
      const Lu lu(Operand(x, args, i, adjoint));
      if (!IsInvertible(lu)) return MatrixError("Input is not invertible.", i, x.count, args.step);
      x.Out(args, 0, i, lu.solve(MatrixXd::Identity(x.rows, x.rows).eval()));
    }
    return absl::OkStatus();
  });
}

KernelPlan MakeSolve(const KernelSpec& spec) {
  const Matrices a(spec.inputs[0]), b(spec.inputs[1]);
  const bool adjoint = spec.attrs.b("adjoint");
  return MakeKernel([a, b, adjoint](const KernelArgs& args) {
    if (b.rows == 0 || b.columns == 0) return absl::OkStatus();
    for (int64_t i = 0; i < a.count; ++i) {
      const Lu lu(Operand(a, args, i, adjoint));
      if (!IsInvertible(lu))
        return MatrixError("Input matrix is not invertible.", i, a.count, args.step);
      b.Out(args, 0, i, lu.solve(b.In(args, 1, i)));
    }
    return absl::OkStatus();
  });
}

// A zero on the diagonal divides: the result is infinite or NaN, as in TensorFlow.
KernelPlan MakeTriangularSolve(const KernelSpec& spec) {
  const Matrices a(spec.inputs[0]), b(spec.inputs[1]), out(spec.outputs[0]);
  const bool lower = spec.attrs.b("lower"), adjoint = spec.attrs.b("adjoint");
  const Shape batch = BatchOf(spec.outputs[0].shape);
  const StridedRows<2> rows(batch, {BroadcastStrides(BatchOf(spec.inputs[0].shape), batch),
                                    BroadcastStrides(BatchOf(spec.inputs[1].shape), batch)});
  if (!rows.ok()) return nullptr;
  return MakeKernel([=](const KernelArgs& args) {
    if (b.rows == 0 || b.columns == 0) return;
    rows.ForEachElementInOrder([&](int64_t i, const auto& at) {
      const MatrixXd matrix = Operand(a, args, at[0], adjoint);
      MatrixXd x = b.In(args, 1, at[1]);
      if (lower != adjoint)
        matrix.triangularView<Eigen::Lower>().solveInPlace(x);
      else
        matrix.triangularView<Eigen::Upper>().solveInPlace(x);
      out.Out(args, 0, i, x);
    });
  });
}

// One number for each matrix.
Matrices Scalars(const Matrices& x) { return Matrices({x.dtype, {x.count, 1, 1}}); }

KernelPlan MakeDeterminant(const KernelSpec& spec) {
  const Matrices x(spec.inputs[0]), out = Scalars(x);
  return MakeKernel([x, out](const KernelArgs& args) {
    for (int64_t i = 0; i < x.count; ++i) {
      const double determinant = x.rows == 0 ? 1 : Lu(x.In(args, 0, i)).determinant();
      out.Out(args, 0, i, MatrixXd::Constant(1, 1, determinant));
    }
  });
}

// The sign of a singular matrix is 0, and the logarithm -infinity.
KernelPlan MakeLogDeterminant(const KernelSpec& spec) {
  const Matrices x(spec.inputs[0]), out = Scalars(x);
  return MakeKernel([x, out](const KernelArgs& args) {
    for (int64_t i = 0; i < x.count; ++i) {
      double sign = 1, log_abs = 0;
      if (x.rows > 0) {
        const Lu lu(x.In(args, 0, i));
        sign = static_cast<double>(lu.permutationP().determinant());
        for (int64_t k = 0; k < x.rows; ++k) {
          const double pivot = lu.matrixLU()(k, k);
          sign *= (pivot > 0) - (pivot < 0);
          // The product of many pivots overflows where its logarithm is an ordinary number.
          log_abs += std::log(std::abs(pivot));
        }
      }
      if (sign == 0 && !std::isnan(log_abs)) log_abs = -std::numeric_limits<double>::infinity();
      out.Out(args, 0, i, MatrixXd::Constant(1, 1, sign));
      out.Out(args, 1, i, MatrixXd::Constant(1, 1, log_abs));
    }
  });
}

KernelPlan MakeQr(const KernelSpec& spec) {
  const Matrices x(spec.inputs[0]), q(spec.outputs[0]), r(spec.outputs[1]);
  return MakeKernel([x, q, r](const KernelArgs& args) {
    for (int64_t i = 0; i < x.count; ++i) {
      // The reflections are applied to an identity of q's shape, so that only the columns that are
      // asked for are computed. Of an empty matrix, q is that identity.
      MatrixXd reflected = MatrixXd::Identity(q.rows, q.columns);
      if (x.rows > 0 && x.columns > 0) {
        const Eigen::HouseholderQR<MatrixXd> qr(x.In(args, 0, i));
        reflected.applyOnTheLeft(qr.householderQ());
        const MatrixXd upper = qr.matrixQR().topRows(r.rows).triangularView<Eigen::Upper>();
        r.Out(args, 1, i, upper);
      }
      q.Out(args, 0, i, reflected);
    }
  });
}

// A matrix with NaN or infinite elements gives NaN, as in TensorFlow.
KernelPlan MakeSvd(const KernelSpec& spec) {
  const Matrices x(spec.inputs[0]);
  const bool vectors = spec.attrs.b("compute_uv"), full = spec.attrs.b("full_matrices");
  const int64_t rank = std::min(x.rows, x.columns);
  const Matrices s({x.dtype, {x.count, rank, 1}});
  const Matrices u(vectors ? spec.outputs[1] : TensorSpec{x.dtype, {0, 0, 0}}),
      v(vectors ? spec.outputs[2] : TensorSpec{x.dtype, {0, 0, 0}});
  const unsigned options = !vectors ? 0u
                           : full   ? unsigned{Eigen::ComputeFullU} | unsigned{Eigen::ComputeFullV}
                                    : unsigned{Eigen::ComputeThinU} | unsigned{Eigen::ComputeThinV};
  return MakeKernel([=](const KernelArgs& args) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (int64_t i = 0; i < x.count; ++i) {
      const MatrixXd matrix = x.In(args, 0, i);
      if (matrix.size() == 0 || !matrix.allFinite()) {
        s.Out(args, 0, i, MatrixXd::Constant(rank, 1, nan));
        for (int k = 1; vectors && k <= 2; ++k) {
          const Matrices& out = k == 1 ? u : v;
          MatrixXd value = MatrixXd::Identity(out.rows, out.columns);
          if (matrix.size() > 0) value.setConstant(nan);
          out.Out(args, k, i, value);
        }
        continue;
      }
      const Eigen::BDCSVD<MatrixXd> svd(matrix, options);
      s.Out(args, 0, i, svd.singularValues());
      if (!vectors) continue;
      u.Out(args, 1, i, svd.matrixU());
      v.Out(args, 2, i, svd.matrixV());
    }
  });
}

// X of least squares, by the normal equations.
absl::Status SolveNormal(const MatrixXd& a, const MatrixXd& b, double l2, MatrixXd& x) {
  const bool tall = a.rows() >= a.cols();
  // Of the two products of a with its transpose, only the smaller one can be invertible.
  const MatrixXd wide = tall ? MatrixXd(a.transpose()) : a;
  MatrixXd gramian = MatrixXd::Identity(wide.rows(), wide.rows()) * l2;
  gramian.noalias() += wide * wide.transpose();
  const Eigen::LLT<MatrixXd> llt(gramian);
  if (llt.info() != Eigen::Success) {
    return InvalidArgument(
        "Input matrix was rank deficient or ill-conditioned. Try setting fast=false or provide a "
        "larger l2_regularizer > 0.");
  }
  if (tall) {
    x.noalias() = wide * b;
    llt.solveInPlace(x);
  } else {
    MatrixXd y = b;
    llt.solveInPlace(y);
    x.noalias() = wide.transpose() * y;
  }
  return absl::OkStatus();
}

KernelPlan MakeSolveLs(const KernelSpec& spec) {
  const Matrices a(spec.inputs[0]), b(spec.inputs[1]), x(spec.outputs[0]);
  const bool fast = spec.attrs.b("fast");
  return MakeKernel([a, b, x, fast](const KernelArgs& args) -> absl::Status {
    for (int64_t i = 0; i < x.count; ++i) {
      MatrixXd solution = MatrixXd::Zero(x.rows, x.columns);
      if (solution.size() > 0 && a.rows > 0) {
        const MatrixXd left = a.In(args, 0, i), right = b.In(args, 1, i);
        if (fast) {
          const absl::Status status = SolveNormal(left, right, *args.in<double>(2), solution);
          if (!status.ok()) return MatrixError(status.message(), i, a.count, args.step);
        } else {
          // It also takes matrices that lack rank, which the normal equations cannot.
          solution = Eigen::CompleteOrthogonalDecomposition<MatrixXd>(left).solve(right);
        }
      }
      x.Out(args, 0, i, solution);
    }
    return absl::OkStatus();
  });
}

EST_REGISTER_KERNEL("Cholesky", KernelTier::kReference, OfMatrices<MakeCholesky>);
EST_REGISTER_KERNEL("MatrixInverse", KernelTier::kReference, OfMatrices<MakeInverse>);
EST_REGISTER_KERNEL("MatrixSolve", KernelTier::kReference, OfMatrices<MakeSolve>);
EST_REGISTER_KERNEL("MatrixTriangularSolve", KernelTier::kReference,
                    OfMatrices<MakeTriangularSolve>);
EST_REGISTER_KERNEL("MatrixDeterminant", KernelTier::kReference, OfMatrices<MakeDeterminant>);
EST_REGISTER_KERNEL("LogMatrixDeterminant", KernelTier::kReference, OfMatrices<MakeLogDeterminant>);

EST_REGISTER_KERNEL("MatrixSolveLs", KernelTier::kReference, OfMatrices<MakeSolveLs>);
EST_REGISTER_KERNEL("Qr", KernelTier::kReference, OfMatrices<MakeQr>);
EST_REGISTER_KERNEL("Svd", KernelTier::kReference, OfMatrices<MakeSvd>);

}  // namespace
}  // namespace estimator
