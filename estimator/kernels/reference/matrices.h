// Batches of matrices, as Eigen sees them. For the two files of linear algebra only: Eigen's
// headers compile slowly.
#ifndef ESTIMATOR_KERNELS_REFERENCE_MATRICES_H_
#define ESTIMATOR_KERNELS_REFERENCE_MATRICES_H_

// One thread, as in matmul.cc: the bits of a result must not depend on the number of threads.
#define EIGEN_DONT_PARALLELIZE
#include <Eigen/Core>
#include <cstdint>

#include "absl/status/status.h"
#include "estimator/base/status.h"
#include "estimator/kernels/kernel.h"

namespace estimator {

template <typename T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <typename T>
using InMatrix = Eigen::Map<const Matrix<T>>;
template <typename T>
using OutMatrix = Eigen::Map<Matrix<T>>;

// A tensor [..., rows, columns].
struct Matrices {
  int64_t count = 0;
  int64_t rows = 0;
  int64_t columns = 0;

  explicit Matrices(const Shape& shape) : rows(shape.dim(-2)), columns(shape.dim(-1)) {
    count = 1;
    for (int axis = 0; axis < shape.rank() - 2; ++axis) count *= shape.dim(axis);
  }
  // Matrix `i` of input or output `k`.
  template <typename T>
  InMatrix<T> In(const KernelArgs& args, int k, int64_t i) const {
    return {args.in<T>(k) + i * rows * columns, rows, columns};
  }
  template <typename T>
  OutMatrix<T> Out(const KernelArgs& args, int k, int64_t i) const {
    return {args.out<T>(k) + i * rows * columns, rows, columns};
  }
};

// Registers the kernel that make<T>(spec) returns, for T float and double. As in TensorFlow there
// is none for other types.
#define EST_REGISTER_FOR_FLOATS(op, make)                                                    \
  EST_REGISTER_KERNEL(op, KernelTier::kReference, [](const KernelSpec& spec) -> KernelPlan { \
    if (spec.inputs[0].dtype == DType::kFloat32) return make<float>(spec);                   \
    if (spec.inputs[0].dtype == DType::kFloat64) return make<double>(spec);                  \
    return nullptr;                                                                          \
  })

// INVALID_ARGUMENT with TensorFlow's message, and with the matrix if there are several.
inline absl::Status MatrixError(absl::string_view message, int64_t i, int64_t count) {
  if (count == 1) return InvalidArgument(message);
  return InvalidArgument(message, " It is matrix ", i, " of ", count, ".");
}

}  // namespace estimator

#endif  // ESTIMATOR_KERNELS_REFERENCE_MATRICES_H_
