// Qr, Svd and MatrixSolveLs: by the decompositions of Eigen that TensorFlow takes, matrix by
// matrix. Eigen allocates them in each run. The signs of the vectors are Eigen's.
//
// Matrices of f32 are decomposed as f64, and all by columns, as inside of BDCSVD: for one kind of
// matrix, Eigen's templates take the compiler as long as fifty other kernels.
#include <Eigen/Cholesky>
#include <Eigen/QR>
#include <Eigen/SVD>
#include <algorithm>
#include <cstdint>
#include <limits>

#include "estimator/kernels/kernel.h"
#include "estimator/kernels/reference/matrices.h"

namespace estimator {
namespace {

using Eigen::MatrixXd;

template <typename T>
KernelPlan MakeQr(const KernelSpec& spec) {
  const Matrices x(spec.inputs[0].shape), q(spec.outputs[0].shape), r(spec.outputs[1].shape);
  return MakeKernel([x, q, r](const KernelArgs& args) {
    for (int64_t i = 0; i < x.count; ++i) {
      // The reflections are applied to an identity of q's shape, so that only the columns that are
      // asked for are computed. Of an empty matrix, q is that identity.
      MatrixXd reflected = MatrixXd::Identity(q.rows, q.columns);
      if (x.rows > 0 && x.columns > 0) {
        const Eigen::HouseholderQR<MatrixXd> qr(x.In<T>(args, 0, i).template cast<double>());
        reflected.applyOnTheLeft(qr.householderQ());
        const MatrixXd upper = qr.matrixQR().topRows(r.rows).triangularView<Eigen::Upper>();
        r.Out<T>(args, 1, i) = upper.cast<T>();
      }
      q.Out<T>(args, 0, i) = reflected.cast<T>();
    }
  });
}

template <typename T>
constexpr T kNan = std::numeric_limits<T>::quiet_NaN();

// A matrix with NaN or infinite elements gives NaN, as in TensorFlow.
template <typename T>
KernelPlan MakeSvd(const KernelSpec& spec) {
  const Matrices x(spec.inputs[0].shape);
  const bool vectors = spec.attrs.b("compute_uv"), full = spec.attrs.b("full_matrices");
  const int64_t rank = std::min(x.rows, x.columns);
  const Matrices s(Shape{x.count, rank, 1});
  const Matrices u(vectors ? spec.outputs[1].shape : Shape{0, 0, 0}),
      v(vectors ? spec.outputs[2].shape : Shape{0, 0, 0});
  const unsigned options = !vectors ? 0u
                           : full   ? unsigned{Eigen::ComputeFullU} | unsigned{Eigen::ComputeFullV}
                                    : unsigned{Eigen::ComputeThinU} | unsigned{Eigen::ComputeThinV};
  return MakeKernel([=](const KernelArgs& args) {
    for (int64_t i = 0; i < x.count; ++i) {
      const InMatrix<T> matrix = x.In<T>(args, 0, i);
      if (matrix.size() == 0 || !matrix.allFinite()) {
        s.Out<T>(args, 0, i).setConstant(kNan<T>);
        for (int k = 1; vectors && k <= 2; ++k) {
          OutMatrix<T> out = (k == 1 ? u : v).template Out<T>(args, k, i);
          if (matrix.size() == 0) {
            out.setIdentity();
          } else {
            out.setConstant(kNan<T>);
          }
        }
        continue;
      }
      const Eigen::BDCSVD<MatrixXd> svd(matrix.template cast<double>(), options);
      s.Out<T>(args, 0, i) = svd.singularValues().cast<T>();
      if (!vectors) continue;
      u.Out<T>(args, 1, i) = svd.matrixU().cast<T>();
      v.Out<T>(args, 2, i) = svd.matrixV().cast<T>();
    }
  });
}

// X of least squares, by the normal equations.
absl::Status SolveNormal(const MatrixXd& a, const MatrixXd& b, double l2, MatrixXd& x) {
  const bool tall = a.rows() >= a.cols();
  // Of the two products of a with its transpose, only the smaller one can be invertible.
  const int64_t n = tall ? a.cols() : a.rows();
  MatrixXd gramian = MatrixXd::Identity(n, n) * l2;
  if (tall) {
    gramian.noalias() += a.transpose() * a;
  } else {
    gramian.noalias() += a * a.transpose();
  }
  const Eigen::LLT<MatrixXd> llt(gramian);
  if (llt.info() != Eigen::Success) {
    return InvalidArgument(
        "Input matrix was rank deficient or ill-conditioned. Try setting fast=false or provide a "
        "larger l2_regularizer > 0.");
  }
  if (tall) {
    x.noalias() = a.transpose() * b;
    llt.solveInPlace(x);
  } else {
    x.noalias() = a.transpose() * MatrixXd(llt.solve(b));
  }
  return absl::OkStatus();
}

template <typename T>
KernelPlan MakeSolveLs(const KernelSpec& spec) {
  const Matrices a(spec.inputs[0].shape), b(spec.inputs[1].shape), x(spec.outputs[0].shape);
  const bool fast = spec.attrs.b("fast");
  return MakeKernel([a, b, x, fast](const KernelArgs& args) -> absl::Status {
    for (int64_t i = 0; i < x.count; ++i) {
      OutMatrix<T> out = x.Out<T>(args, 0, i);
      if (out.size() == 0) continue;
      if (a.rows == 0) {
        out.setZero();
        continue;
      }
      const MatrixXd left = a.In<T>(args, 0, i).template cast<double>();
      const MatrixXd right = b.In<T>(args, 1, i).template cast<double>();
      MatrixXd solution;
      if (fast) {
        const absl::Status status = SolveNormal(left, right, *args.in<double>(2), solution);
        if (!status.ok()) return MatrixError(status.message(), i, a.count, args.step);
      } else {
        // It also takes matrices that lack rank, which the normal equations cannot.
        solution = Eigen::CompleteOrthogonalDecomposition<MatrixXd>(left).solve(right);
      }
      out = solution.cast<T>();
    }
    return absl::OkStatus();
  });
}

EST_REGISTER_MATRIX_KERNEL("MatrixSolveLs", MakeSolveLs, float);
EST_REGISTER_MATRIX_KERNEL("MatrixSolveLs", MakeSolveLs, double);
EST_REGISTER_MATRIX_KERNEL("Qr", MakeQr, float);
EST_REGISTER_MATRIX_KERNEL("Qr", MakeQr, double);
EST_REGISTER_MATRIX_KERNEL("Svd", MakeSvd, float);
EST_REGISTER_MATRIX_KERNEL("Svd", MakeSvd, double);

}  // namespace
}  // namespace estimator
