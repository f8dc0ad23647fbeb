#include "estimator/kernels/reference/matrices.h"

#include <cstdint>
#include <type_traits>

namespace estimator {

Matrices::Matrices(const TensorSpec& spec)
    : dtype(spec.dtype), rows(spec.shape.dim(-2)), columns(spec.shape.dim(-1)) {
  for (int axis = 0; axis < spec.shape.rank() - 2; ++axis) count *= spec.shape.dim(axis);
}

MatrixXd Matrices::In(const KernelArgs& args, int k, int64_t i) const {
  MatrixXd matrix(rows, columns);
  const auto load = [&](const auto* from) {
    from += i * rows * columns;
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < columns; ++c) matrix(r, c) = *from++;
  };
  dtype == DType::kFloat32 ? load(args.in<float>(k)) : load(args.in<double>(k));
  return matrix;
}

void Matrices::Out(const KernelArgs& args, int k, int64_t i,
                   const Eigen::Ref<const MatrixXd>& matrix) const {
  const auto store = [&](auto* to) {
    to += i * rows * columns;
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < columns; ++c)
        *to++ = static_cast<std::remove_reference_t<decltype(*to)>>(matrix(r, c));
    }
  };
  dtype == DType::kFloat32 ? store(args.out<float>(k)) : store(args.out<double>(k));
}

}  // namespace estimator
