// Qr and Svd: by the decompositions of Eigen that TensorFlow takes, matrix by matrix. Eigen
// allocates them in each run. The signs of the vectors are Eigen's.
//
// Matrices of f32 are decomposed as f64: for one type, Eigen's templates take the compiler as long
// as fifty other kernels.
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
      Matrix<double> reflected = Matrix<double>::Identity(q.rows, q.columns);
      if (x.rows > 0 && x.columns > 0) {
        const Eigen::HouseholderQR<Matrix<double>> qr(x.In<T>(args, 0, i).template cast<double>());
        reflected.applyOnTheLeft(qr.householderQ());
        const Matrix<double> upper = qr.matrixQR().topRows(r.rows).triangularView<Eigen::Upper>();
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
      // Column-major, as inside of BDCSVD: with both orders there are twice as many templates.
      const Eigen::BDCSVD<MatrixXd> svd(matrix.template cast<double>(), options);
      s.Out<T>(args, 0, i) = svd.singularValues().cast<T>();
      if (!vectors) continue;
      u.Out<T>(args, 1, i) = svd.matrixU().cast<T>();
      v.Out<T>(args, 2, i) = svd.matrixV().cast<T>();
    }
  });
}

EST_REGISTER_MATRIX_KERNEL("Qr", MakeQr, float);
EST_REGISTER_MATRIX_KERNEL("Qr", MakeQr, double);
EST_REGISTER_MATRIX_KERNEL("Svd", MakeSvd, float);
EST_REGISTER_MATRIX_KERNEL("Svd", MakeSvd, double);

}  // namespace
}  // namespace estimator
