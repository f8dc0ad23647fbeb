// Batches of matrices of f32 or f64. Eigen gets them one by one as f64 and by columns: for one kind
// of matrix, its templates take the compiler as long as fifty other kernels. Results of f32 are
// rounded once.
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

using Eigen::MatrixXd;

// A tensor [..., rows, columns] of f32 or f64.
struct Matrices {
  DType dtype;
  int64_t count = 1;
  int64_t rows;
  int64_t columns;

  explicit Matrices(const TensorSpec& spec);
  // Matrix `i` of input `k`.
  MatrixXd In(const KernelArgs& args, int k, int64_t i) const;
  // Sets matrix `i` of output `k`.
  void Out(const KernelArgs& args, int k, int64_t i,
           const Eigen::Ref<const MatrixXd>& matrix) const;
};

// A factory of kernels for matrices: null for dtypes but f32 and f64, as in TensorFlow.
template <KernelPlan (*kMake)(const KernelSpec& spec)>
KernelPlan OfMatrices(const KernelSpec& spec) {
  const DType dtype = spec.inputs[0].dtype;
  return dtype == DType::kFloat32 || dtype == DType::kFloat64 ? kMake(spec) : nullptr;
}

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
