// Qr, Svd, SelfAdjointEigV2: by the decompositions of Eigen that TensorFlow takes, matrix by
// matrix. Eigen allocates the decompositions in each run. The signs of the vectors are Eigen's.
#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <Eigen/SVD>
#include <algorithm>
#include <cstdint>
#include <limits>

#include "estimator/kernels/kernel.h"
#include "estimator/kernels/reference/matrices.h"

namespace estimator {
namespace {

template <typename T>
KernelPlan MakeQr(const KernelSpec& spec) {
  const Matrices x(spec.inputs[0].shape), q(spec.outputs[0].shape), r(spec.outputs[1].shape);
  return MakeKernel([x, q, r](const KernelArgs& args) {
    for (int64_t i = 0; i < x.count; ++i) {
      OutMatrix<T> out_q = q.Out<T>(args, 0, i), out_r = r.Out<T>(args, 1, i);
      // The reflections are applied to an identity of q's shape, so that only the columns that are
      // asked for are computed. Of an empty matrix, q is that identity.
      out_q.setIdentity();
      if (x.rows == 0 || x.columns == 0) continue;
      const Eigen::HouseholderQR<Matrix<T>> qr(x.In<T>(args, 0, i));
      out_q.applyOnTheLeft(qr.householderQ());
      out_r = qr.matrixQR().topRows(r.rows).template triangularView<Eigen::Upper>();
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
      const Eigen::BDCSVD<Matrix<T>> svd(matrix, options);
      s.Out<T>(args, 0, i) = svd.singularValues();
      if (!vectors) continue;
      u.Out<T>(args, 1, i) = svd.matrixU();
      v.Out<T>(args, 2, i) = svd.matrixV();
    }
  });
}

// Reads the lower triangle of each matrix.
template <typename T>
KernelPlan MakeSelfAdjointEig(const KernelSpec& spec) {
  const Matrices x(spec.inputs[0].shape);
  const Matrices e(Shape{x.count, x.rows, 1});
  const bool vectors = spec.attrs.b("compute_v");
  return MakeKernel([x, e, vectors](const KernelArgs& args) {
    if (x.rows == 0) return absl::OkStatus();
    for (int64_t i = 0; i < x.count; ++i) {
      const InMatrix<T> matrix = x.In<T>(args, 0, i);
      const Eigen::SelfAdjointEigenSolver<Matrix<T>> eig(
          matrix, vectors ? Eigen::ComputeEigenvectors : Eigen::EigenvaluesOnly);
      if (!matrix.allFinite() || eig.info() != Eigen::Success) {
        return MatrixError(
            "Self-adjoint eigen decomposition was not successful. The input might not be valid.", i,
            x.count, args.step);
      }
      e.Out<T>(args, 0, i) = eig.eigenvalues();
      if (vectors) x.Out<T>(args, 1, i) = eig.eigenvectors();
    }
    return absl::OkStatus();
  });
}

EST_REGISTER_FOR_FLOATS("Qr", MakeQr);
EST_REGISTER_FOR_FLOATS("Svd", MakeSvd);
EST_REGISTER_FOR_FLOATS("SelfAdjointEigV2", MakeSelfAdjointEig);

}  // namespace
}  // namespace estimator
