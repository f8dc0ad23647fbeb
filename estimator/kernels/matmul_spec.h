// What a KernelSpec says about a matrix product, for the kernels of all tiers and the rules that
// choose them. The ops are MatMul, _FusedMatMul (fused_ops.h) and BatchMatMulV2.
#ifndef ESTIMATOR_KERNELS_MATMUL_SPEC_H_
#define ESTIMATOR_KERNELS_MATMUL_SPEC_H_

#include <cstdint>
#include <optional>
#include <string>

#include "estimator/array/tensor_spec.h"
#include "estimator/kernels/fused_ops.h"
#include "estimator/kernels/kernel.h"

namespace estimator {

// The sizes of c [m, n] = a * b. a is [m, k], or stored as [k, m] if transpose_a; b is [k, n], or
// stored as [n, k] if transpose_b. All are dense and row-major.
struct MatMulSizes {
  int64_t m = 0, n = 0, k = 0;
  bool transpose_a = false;  // the gradient of weights
  bool transpose_b = false;  // the gradient of the input
};

struct MatMulSpec {
  MatMulSizes sizes = {};
  // Matrices, or batches of them, whose leading axes broadcast.
  TensorSpec a = {}, b = {}, c = {};
  FusedOps fused = {};
  TensorSpec bias = {}, side = {};  // if `fused` has them
  std::string name = {};            // the node's name, used in messages
  ConvAlgorithm algorithm = ConvAlgorithm::kAuto;

  DType dtype() const { return a.dtype; }  // of the factors
  // Whether it is one product of matrices that have elements.
  bool IsOneProduct() const {
    return a.shape.rank() == 2 && b.shape.rank() == 2 && c.shape.rank() == 2 && sizes.m > 0 &&
           sizes.n > 0 && sizes.k > 0;
  }
};

// nullopt for other ops, and for operands or attributes that do not agree.
std::optional<MatMulSpec> MatMulSpecOf(const KernelSpec& spec);

// A factory of MatMulSpecs as one of KernelSpecs.
template <KernelPlan (*kMake)(const MatMulSpec&)>
KernelPlan FromMatMulSpec(const KernelSpec& spec) {
  const std::optional<MatMulSpec> product = MatMulSpecOf(spec);
  return product.has_value() ? kMake(*product) : nullptr;
}

}  // namespace estimator

#endif  // ESTIMATOR_KERNELS_MATMUL_SPEC_H_
