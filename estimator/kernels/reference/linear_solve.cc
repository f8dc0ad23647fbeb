// Cholesky, MatrixInverse, MatrixSolve, MatrixTriangularSolve, MatrixDeterminant and
// LogMatrixDeterminant: by the decompositions of Eigen that TensorFlow takes, matrix by matrix.
// Eigen allocates the decompositions in each run.
//
// The BUILD file compiles this with EST_MATRIX_TYPE float and again with double: both at once take
// the compiler twice as long.
#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <cmath>
#include <cstdint>
#include <limits>

#include "estimator/base/status.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/reference/loops.h"
#include "estimator/kernels/reference/matrices.h"
#include "estimator/kernels/strided_rows.h"

namespace estimator {
namespace {

template <typename T>
using Lu = Eigen::PartialPivLU<Matrix<T>>;

template <typename T>
KernelPlan MakeCholesky(const KernelSpec& spec) {
  const Matrices x(spec.inputs[0].shape);
  return MakeKernel([x](const KernelArgs& args) {
    for (int64_t i = 0; i < x.count; ++i) {
      const Eigen::LLT<Matrix<T>> llt(x.In<T>(args, 0, i));
      if (llt.info() != Eigen::Success) {
        return MatrixError(
            "Cholesky decomposition was not successful. The input might not be valid: it must be "
            "symmetric and positive definite.",
            i, x.count, args.step);
      }
      x.Out<T>(args, 0, i) = llt.matrixL();
    }
    return absl::OkStatus();
  });
}

// A singular matrix has a pivot of zero.
template <typename T>
bool IsInvertible(const Lu<T>& lu) {
  return (lu.matrixLU().diagonal().array().abs() > T(0)).all();
}

template <typename T>
KernelPlan MakeInverse(const KernelSpec& spec) {
  const Matrices x(spec.inputs[0].shape);
  const bool adjoint = spec.attrs.b("adjoint");
  return MakeKernel([x, adjoint](const KernelArgs& args) {
    if (x.rows == 0) return absl::OkStatus();
    for (int64_t i = 0; i < x.count; ++i) {
      Lu<T> lu;
      if (adjoint) {
        lu.compute(x.In<T>(args, 0, i).transpose());
      } else {
        lu.compute(x.In<T>(args, 0, i));
      }
      if (!IsInvertible<T>(lu))
        return MatrixError("Input is not invertible.", i, x.count, args.step);
      x.Out<T>(args, 0, i).noalias() = lu.inverse();
    }
    return absl::OkStatus();
  });
}

template <typename T>
KernelPlan MakeSolve(const KernelSpec& spec) {
  const Matrices a(spec.inputs[0].shape), b(spec.inputs[1].shape);
  const bool adjoint = spec.attrs.b("adjoint");
  return MakeKernel([a, b, adjoint](const KernelArgs& args) {
    if (b.rows == 0 || b.columns == 0) return absl::OkStatus();
    for (int64_t i = 0; i < a.count; ++i) {
      const Lu<T> lu(a.In<T>(args, 0, i));
      if (!IsInvertible<T>(lu))
        return MatrixError("Input matrix is not invertible.", i, a.count, args.step);
      if (adjoint) {
        b.Out<T>(args, 0, i) = lu.transpose().solve(b.In<T>(args, 1, i));
      } else {
        b.Out<T>(args, 0, i) = lu.solve(b.In<T>(args, 1, i));
      }
    }
    return absl::OkStatus();
  });
}

// A zero on the diagonal divides: the result is infinite or NaN, as in TensorFlow.
template <typename T>
KernelPlan MakeTriangularSolve(const KernelSpec& spec) {
  const Matrices a(spec.inputs[0].shape), b(spec.inputs[1].shape), out(spec.outputs[0].shape);
  const bool lower = spec.attrs.b("lower"), adjoint = spec.attrs.b("adjoint");
  const Shape batch = BatchOf(spec.outputs[0].shape);
  const StridedRows<2> rows(batch, {BroadcastStrides(BatchOf(spec.inputs[0].shape), batch),
                                    BroadcastStrides(BatchOf(spec.inputs[1].shape), batch)});
  if (!rows.ok()) return nullptr;
  return MakeKernel([=](const KernelArgs& args) {
    if (b.rows == 0 || b.columns == 0) return;
    rows.ForEachElementInOrder([&](int64_t i, const auto& at) {
      const InMatrix<T> matrix = a.In<T>(args, 0, at[0]);
      OutMatrix<T> x = out.Out<T>(args, 0, i);
      // Eigen solves in place, and a b that is broadcast is needed again.
      x = b.In<T>(args, 1, at[1]);
      if (lower && adjoint) {
        matrix.template triangularView<Eigen::Lower>().transpose().solveInPlace(x);
      } else if (lower) {
        matrix.template triangularView<Eigen::Lower>().solveInPlace(x);
      } else if (adjoint) {
        matrix.template triangularView<Eigen::Upper>().transpose().solveInPlace(x);
      } else {
        matrix.template triangularView<Eigen::Upper>().solveInPlace(x);
      }
    });
  });
}

template <typename T>
KernelPlan MakeDeterminant(const KernelSpec& spec) {
  const Matrices x(spec.inputs[0].shape);
  return MakeKernel([x](const KernelArgs& args) {
    for (int64_t i = 0; i < x.count; ++i)
      args.out<T>(0)[i] = x.rows == 0 ? T(1) : Lu<T>(x.In<T>(args, 0, i)).determinant();
  });
}

// The sign of a singular matrix is 0, and the logarithm -infinity.
template <typename T>
KernelPlan MakeLogDeterminant(const KernelSpec& spec) {
  const Matrices x(spec.inputs[0].shape);
  return MakeKernel([x](const KernelArgs& args) {
    for (int64_t i = 0; i < x.count; ++i) {
      T sign = 1, log_abs = 0;
      if (x.rows > 0) {
        const Lu<T> lu(x.In<T>(args, 0, i));
        const auto pivots = lu.matrixLU().diagonal();
        sign = static_cast<T>(lu.permutationP().determinant());
        for (int64_t k = 0; k < x.rows; ++k) {
          const T pivot = pivots(k);
          sign *= static_cast<T>((pivot > 0) - (pivot < 0));
          // The product of many pivots overflows where its logarithm is an ordinary number.
          log_abs += std::log(std::abs(pivot));
        }
      }
      if (sign == 0) log_abs = std::isnan(log_abs) ? log_abs : -std::numeric_limits<T>::infinity();
      args.out<T>(0)[i] = sign;
      args.out<T>(1)[i] = log_abs;
    }
  });
}

EST_REGISTER_MATRIX_KERNEL("Cholesky", MakeCholesky, EST_MATRIX_TYPE);
EST_REGISTER_MATRIX_KERNEL("MatrixInverse", MakeInverse, EST_MATRIX_TYPE);
EST_REGISTER_MATRIX_KERNEL("MatrixSolve", MakeSolve, EST_MATRIX_TYPE);
EST_REGISTER_MATRIX_KERNEL("MatrixTriangularSolve", MakeTriangularSolve, EST_MATRIX_TYPE);
EST_REGISTER_MATRIX_KERNEL("MatrixDeterminant", MakeDeterminant, EST_MATRIX_TYPE);
EST_REGISTER_MATRIX_KERNEL("LogMatrixDeterminant", MakeLogDeterminant, EST_MATRIX_TYPE);

}  // namespace
}  // namespace estimator
