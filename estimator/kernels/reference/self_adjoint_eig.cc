// SelfAdjointEigV2: by the solver of Eigen that TensorFlow takes, matrix by matrix. Eigen allocates
// its results in each run. The signs of the vectors are Eigen's; they depend on the type, so f32 is
// not computed in f64.
//
// The BUILD file compiles this with EST_MATRIX_TYPE float and again with double.
#include <Eigen/Eigenvalues>
#include <cstdint>

#include "estimator/kernels/kernel.h"
#include "estimator/kernels/reference/matrices.h"

namespace estimator {
namespace {

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

EST_REGISTER_MATRIX_KERNEL("SelfAdjointEigV2", MakeSelfAdjointEig, EST_MATRIX_TYPE);

}  // namespace
}  // namespace estimator
