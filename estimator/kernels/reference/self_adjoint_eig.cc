// SelfAdjointEigV2: by the solver of Eigen that TensorFlow takes, matrix by matrix. Eigen allocates
// its results in each run. The signs of the vectors are Eigen's; they depend on the type, so f32 is
// not computed in f64.
#include <Eigen/Eigenvalues>
#include <cstdint>

#include "estimator/kernels/kernel.h"
#include "estimator/kernels/reference/matrices.h"

namespace estimator {
namespace {

// Reads the lower triangle of each matrix.
template <typename T>
KernelPlan MakeSelfAdjointEig(const KernelSpec& spec) {
  const Matrices x(spec.inputs[0]), e({x.dtype, {x.count, x.rows, 1}});
  const bool vectors = spec.attrs.b("compute_v");
  return MakeKernel([x, e, vectors](const KernelArgs& args) {
    if (x.rows == 0) return absl::OkStatus();
    for (int64_t i = 0; i < x.count; ++i) {
      const MatrixXd matrix = x.In(args, 0, i);
      const Eigen::SelfAdjointEigenSolver<Eigen::MatrixX<T>> eig(
          matrix.cast<T>(), vectors ? Eigen::ComputeEigenvectors : Eigen::EigenvaluesOnly);
      if (!matrix.allFinite() || eig.info() != Eigen::Success) {
        return MatrixError(
            "Self-adjoint eigen decomposition was not successful. The input might not be valid.", i,
            x.count, args.step);
      }
      e.Out(args, 0, i, eig.eigenvalues().template cast<double>());
      if (vectors) x.Out(args, 1, i, eig.eigenvectors().template cast<double>());
    }
    return absl::OkStatus();
  });
}

KernelPlan MakeEig(const KernelSpec& spec) {
  return spec.inputs[0].dtype == DType::kFloat32 ? MakeSelfAdjointEig<float>(spec)
                                                 : MakeSelfAdjointEig<double>(spec);
}

EST_REGISTER_KERNEL("SelfAdjointEigV2", KernelTier::kReference, OfMatrices<MakeEig>);

}  // namespace
}  // namespace estimator
