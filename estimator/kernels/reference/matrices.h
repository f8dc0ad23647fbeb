// Batches of matrices, as Eigen sees them. For the files of linear algebra only: Eigen's headers
// compile slowly.
#ifndef ESTIMATOR_KERNELS_REFERENCE_MATRICES_H_
#define ESTIMATOR_KERNELS_REFERENCE_MATRICES_H_

// One thread, as in matmul.cc: the bits of a result must not depend on the number of threads.
#define EIGEN_DONT_PARALLELIZE
#include <Eigen/Core>
#include <cstdint>

#include "absl/status/status.h"
#include "estimator/base/status.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/position.h"

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

// Registers what make<type>(spec) returns for matrices of that type: float or double, as in
// TensorFlow there is no kernel for other types.
#define EST_REGISTER_MATRIX_KERNEL(op, make, type) \
  EST_CALL_BEFORE_MAIN(__COUNTER__, RegisterMatrixKernel, op, kDTypeOf<type>, make<type>)
bool RegisterMatrixKernel(const char* op, DType dtype, KernelFactory factory);

// INVALID_ARGUMENT with TensorFlow's message, and with the matrix if there are several.
//   i, count: of the matrices of the step's replica.
inline absl::Status MatrixError(absl::string_view message, int64_t i, int64_t count,
                                const StepContext& step) {
  if (count == 1) return InvalidArgument(message);
  return InvalidArgument(message, " It is ", PositionText("matrix ", i, count, step), " of ",
                         count * step.num_replicas, ".");
}

}  // namespace estimator

#endif  // ESTIMATOR_KERNELS_REFERENCE_MATRICES_H_
